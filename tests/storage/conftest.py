"""One migrated database file with the rows that others refer to."""

import pytest

from codeflow_memory.domain.memory import Collection, Content, Kind, Memory, Status
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Fact
from codeflow_memory.storage import (
    memories,
    migrate,
    principals,
    projects,
    repositories,
    revisions,
    scopes,
    tenants,
)
from codeflow_memory.storage.repositories import Repository
from codeflow_memory.storage.revisions import Step
from codeflow_memory.storage.sqlite import SQLiteEngine
from codeflow_memory.storage.tenants import Instance


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


@pytest.fixture
def engine(tmp_path):
    made = SQLiteEngine(tmp_path / "memory.sqlite")
    made.create()
    migrate.migrate(made)
    with made.write() as tx:
        tenants.insert(tx, Instance("instance", "local", 1, "check"))
        principals.insert(tx, Principal("prn_1", "owner", "user", None, 1, None))
        for name in ("rep_1", "rep_2", "rep_3"):
            repositories.insert(tx, repository(name))
    yield made
    made.close()


@pytest.fixture
def tx(engine):
    """A write transaction."""
    with engine.write() as opened:
        yield opened


@pytest.fixture
def plan(engine):
    """Tell how the engine would run a statement: one line a step."""

    def explain(sql: str, parameters: dict[str, object]) -> str:
        with engine.read() as opened:
            rows = opened.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)
        return "\n".join(str(row[3]) for row in rows)

    return explain


class Asked:
    """Stands where a transaction does and keeps what it is asked."""

    def __init__(self):
        self.statements = []

    def rows(self, sql, parameters=None):
        self.statements.append((sql, parameters or {}))
        return []

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
