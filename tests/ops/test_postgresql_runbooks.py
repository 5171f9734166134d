"""What the runbooks of PostgreSQL say is run, word for word, on a server of the tests' own."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ..postgresql import Cluster, program
from .test_runbooks import OF_POSTGRESQL, ROOT, commands

RUNBOOKS = ROOT / "ops" / "runbooks"
NAME = "codeflow_memory"
SECRET = "marzipan-und-pfefferminz"  # noqa: S105 - a word to look for
_SQL = re.compile(r"^( *)```sql\n\1-- (.*?)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, list[str]]]:
    """Return where each block of SQL of a page is run, and its statements."""
    text = (RUNBOOKS / page).read_text("utf-8")
    return [
        (where, [part.strip() for part in block.split(";") if part.strip()])
        for _, where, block in _SQL.findall(text)
    ]


def run(cluster, block) -> None:
    where, statements = block
    for statement in statements:
        cluster.sql(statement, where.removeprefix("in "))


@pytest.fixture(scope="module")
def cluster():
    """A server of its own: elsewhere the roles of tenants are another login's."""
    started = Cluster()
    started.start()
    yield started
    started.remove()


@pytest.fixture
def made(cluster, tmp_path):
    """A database as the runbook makes it, with the tenant ``birch``; and how to remove that."""
    *making, removal = blocks("postgresql.md")
    for block in making:
        run(cluster, block)
    home = Home(tmp_path / "home", cluster.url(NAME, NAME))
    home.make()
    tenants = Tenants(home, now=lambda: 1)
    tenants.create("birch")
    yield tenants, removal
    tenants.close()
    cluster.drop(NAME)
    cluster.sql(f"DROP ROLE IF EXISTS cfm_birch, {NAME}")


def test_who_follows_it_has_a_database_in_which_tenants_can_be_made_and_removed(cluster, made):
    tenants, removal = made
    assert tenants.slugs() == ["birch"]

    run(cluster, removal)

    assert tenants.slugs() == []
    assert cluster.sql("SELECT 1 FROM pg_roles WHERE rolname = 'cfm_birch'") == []


@pytest.mark.usefixtures("made")
def test_who_follows_it_has_a_login_that_may_no_more_than_it_needs(cluster):
    (facts,) = cluster.sql(
        "SELECT rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
        "  FROM pg_roles WHERE rolname = 'codeflow_memory'"
    )
    (public,) = cluster.sql(
        "SELECT has_database_privilege('public', 'codeflow_memory', 'CONNECT'),"
        " has_schema_privilege('public', 'public', 'USAGE')",
        NAME,
    )

    assert facts == (False, False, True, False, False, False)
    assert public == (False, False)


@pytest.mark.usefixtures("made")
def test_each_statement_of_its_upkeep_runs_and_deleted_bytes_leave_the_tables(cluster):
    cluster.sql(f"CREATE TABLE cfm_birch.words AS SELECT '{SECRET}' AS word", NAME)
    for statement in (
        "INSERT INTO cfm_birch.words SELECT word FROM cfm_birch.words, generate_series(1, 50)",
        "INSERT INTO cfm_birch.words VALUES ('what stays')",
        "DELETE FROM cfm_birch.words WHERE word <> 'what stays'",
    ):
        cluster.sql(statement, NAME)
    ((number,),) = cluster.sql("SELECT oid FROM pg_database WHERE datname = 'codeflow_memory'")
    folder = cluster.data / "base" / str(number)
    # Control: what the server does by itself is not enough.
    for statement in ("VACUUM (ANALYZE)", "CHECKPOINT"):
        cluster.sql(statement, NAME)
    assert holding(folder) != []

    for block in blocks("postgresql-upkeep.md"):
        run(cluster, block)

    assert holding(folder) == []


def holding(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.is_file() and SECRET.encode() in p.read_bytes()]


@pytest.mark.usefixtures("made")
def test_the_copy_of_a_cluster_is_made_and_verified_as_it_says(cluster, tmp_path):
    named = [c for c in commands(RUNBOOKS / "postgresql-upkeep.md") if c[0] in OF_POSTGRESQL]
    folder = tmp_path / "copy"
    environment = os.environ | {"PGHOST": str(cluster.folder), "PGUSER": "postgres"}
    for words in named:
        done = subprocess.run(  # noqa: S603 - the runbook's own words
            [program(words[0]), *(w.replace("FOLDER", str(folder)) for w in words[1:])],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    assert {words[0] for words in named} == OF_POSTGRESQL
    assert (folder / "backup_manifest").is_file()


def test_what_was_not_run_is_said_to_be():
    assert {where for where, _ in blocks("citus.md")} == {"not run: in codeflow_memory"}
    assert "**Not run here.**" in (RUNBOOKS / "citus.md").read_text("utf-8")
