"""One migrated database file with the rows that others refer to."""

import pytest

from codeflow_memory.domain.registration import Fact
from codeflow_memory.storage import migrate, principals, repositories, tenants
from codeflow_memory.storage.engine import Engine
from codeflow_memory.storage.principals import Principal
from codeflow_memory.storage.repositories import Repository
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
    made = Engine(tmp_path / "memory.sqlite")
    made.create()
    migrate.migrate(made)
    with made.write() as tx:
        tenants.insert(tx, Instance("instance", "local", 1))
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
