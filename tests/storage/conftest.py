"""One migrated database with the rows that others refer to, on each engine."""

import re
from itertools import count

import apsw
import psycopg
import pytest

from codeflow_memory.domain.memory import Collection, Content, Kind, Memory, Status
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Fact
from codeflow_memory.storage import (
    databases,
    memories,
    migrate,
    principals,
    projects,
    repositories,
    revisions,
    scopes,
    tenants,
)
from codeflow_memory.storage.engine import BUSY_TIMEOUT_MS
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.repositories import Repository
from codeflow_memory.storage.revisions import Step
from codeflow_memory.storage.schemas import Schemas
from codeflow_memory.storage.sqlite import SQLiteEngine
from codeflow_memory.storage.tenants import Instance

_NUMBERS = count(1)


def repository(repository_id: str, identified_by: Fact = Fact.KEY) -> Repository:
    """A repository as registered, by ``prn_1``."""
    return Repository(
        repository_id=repository_id,
        name=repository_id,
        identified_by=identified_by,
        revision=1,
        required_approvals=1,
        codeowners=False,
        allow_own_approval=False,
        capture=False,
        merged_into=None,
        created_by="prn_1",
        created_at=1,
    )


@pytest.fixture(scope="module")
def shared_databases(tmp_path_factory, new_server):
    """Where the module's tests have their tenants, each one of its own."""
    home = Home(tmp_path_factory.mktemp("storage") / "home", new_server())
    home.make()
    made = databases.of(home)
    yield made
    made.close()


def fill(tx) -> None:
    tenants.insert(tx, Instance("instance", "local", 1, "check"))
    principals.insert(tx, Principal("prn_1", "owner", "user", None, 1, None))
    for name in ("rep_1", "rep_2", "rep_3"):
        repositories.insert(tx, repository(name))


@pytest.fixture(scope="module")
def database(cluster):
    """The name of a PostgreSQL database of the module's own."""
    name = cluster.make()
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def module_schemas(cluster, database):
    """The tenants ``ash`` and ``birch`` of that database."""
    made = Schemas(cluster.url(database))
    for slug in ("ash", "birch"):
        made.create(slug, fill)
    yield made
    made.close()


@pytest.fixture
def engine(shared_databases):
    """The engine of a tenant of this test's own."""
    slug = f"tenant-{next(_NUMBERS)}"
    shared_databases.create(slug, fill)
    made = shared_databases.engine(slug)
    yield made
    made.close()


@pytest.fixture
def bare(engine_name, shared_databases, tmp_path, monkeypatch):
    """Make the engine of a database that has no table yet."""
    made = []

    def make(*, busy_timeout_ms: int = BUSY_TIMEOUT_MS):
        slug = f"bare-{next(_NUMBERS)}"
        if engine_name == "sqlite":
            engine = SQLiteEngine(tmp_path / f"{slug}.sqlite", busy_timeout_ms=busy_timeout_ms)
            engine.create()
        else:
            with monkeypatch.context() as patch:
                patch.setattr(migrate, "all_migrations", list)
                shared_databases.create(slug, lambda tx: tx.execute("DROP TABLE schema_migrations"))
            engine = shared_databases.engine(slug)
            engine._busy_timeout_ms = busy_timeout_ms
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


@pytest.fixture(scope="session")
def constraint_error():
    """What either engine raises when a row breaks a constraint; only an `attempt` survives it."""
    return apsw.ConstraintError, psycopg.IntegrityError


@pytest.fixture
def tx(engine):
    """A write transaction."""
    with engine.write() as opened:
        yield opened


@pytest.fixture
def plan(engine, engine_name):
    """Tell how the engine would run a statement: one line a step, in SQLite's words."""

    def explain(sql: str, parameters: dict[str, object]) -> str:
        with engine.read() as opened:
            if engine_name == "sqlite":
                rows = opened.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)
                return "\n".join(str(row[3]) for row in rows)
            for name in ("seqscan", "hashjoin", "mergejoin", "bitmapscan"):
                opened.execute(f"SET LOCAL enable_{name} = off")
            ((found,),) = opened.rows(f"EXPLAIN (FORMAT JSON) {sql}", parameters)
        return "\n".join(steps_of(found[0]["Plan"]))

    return explain


def steps_of(node) -> list[str]:
    """List the steps of a plan of PostgreSQL, which may not scan what it can search."""
    table, index = node.get("Alias"), node.get("Index Name")
    steps = []
    if index:
        compared = re.findall(r"(\w+) ([=<>])", node.get("Index Cond", ""))
        covering = "COVERING " if node["Node Type"] == "Index Only Scan" else ""
        keys = " AND ".join(f"{name}{sign}?" for name, sign in compared)
        steps = [f"{'SEARCH' if keys else 'SCAN'} {table} USING {covering}INDEX {index} ({keys})"]
    elif node["Node Type"] == "Seq Scan":
        steps = [f"SCAN {table}"]
    elif node["Node Type"].endswith("Sort"):
        steps = ["USE TEMP B-TREE"]
    return steps + [step for child in node.get("Plans", []) for step in steps_of(child)]


@pytest.fixture
def goes_by(plan, engine_name):
    """Tell whether a statement is run by *words* of SQLite's plan.

    PostgreSQL chooses among indexes by what the tables hold, and they are all but empty here: of it
    is asked that each is searched by some of its columns.
    """

    def told(statement, words: str) -> bool:
        steps = plan(*statement)
        if engine_name == "sqlite":
            return words in steps
        return "SEARCH " in steps and "SCAN " not in steps

    return told


class Asked:
    """Stands where a transaction does and keeps what it is asked."""

    def __init__(self):
        self.statements = []

    def rows(self, sql, parameters=None):
        self.statements.append((sql, parameters or {}))
        return []

    def each(self, sql, parameters):
        return [self.rows(sql, given) for given in parameters]

    def row(self, sql, parameters=None):
        self.statements.append((sql, parameters or {}))

    value = row

    def execute(self, sql, parameters=None):
        self.statements.append((sql, parameters or {}))
        return 1


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
def scope(tx):
    """The project's own scope of one project of ``rep_1``."""
    projects.insert(tx, Project("rep_1", "prj_1", "core", "core", None, 1))
    return scopes.ensure(tx, "rep_1", "prj_1", "project")


@pytest.fixture
def keep(tx, scope):
    """Write a memory with its first revision and counters; return it."""

    def written(memory_id: str, status: Status = Status.PROPOSED, **fields: object) -> Memory:
        content = Content(**{"kind": Kind.FACT, "title": "Title", "body": "Body"} | fields)
        memory = Memory(
            memory_id=memory_id,
            revision=1,
            repository_id=scope.repository_id,
            project_id=scope.project_id,
            scope_id=scope.scope_id,
            collection=Collection.PROJECT,
            owner="prn_1",
            team_id=None,
            run_id=None,
            status=status,
            content=content,
            content_sha256=content.sha256(),
            author="prn_1",
            origin="user",
            trust=8_500,
            created_at=10,
            updated_at=10,
        )
        memories.insert(tx, memory, editor="prn_1", text_hash="hash")
        revisions.insert(tx, memory, Step("create", "prn_1", "op_1", None))
        return memory

    return written
