"""A newer program: the home is migrated beside a copy, which the start after it removes."""

import pytest

from codeflow_memory.cli import checks, stores
from codeflow_memory.cli.checks import State
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.up import started
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import copies, migrate
from codeflow_memory.storage.home import Home

GOOD = "CREATE TABLE good (n INTEGER PRIMARY KEY) STRICT;"
BAD = "CREATE TABLE good (n INTEGER PRIMARY KEY) STRICT; nonsense"


@pytest.fixture
def place(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def context(place):
    return Context({"CODEFLOW_HOME": str(place.path)})


@pytest.fixture
def newer(monkeypatch, tmp_path):
    """Let the program have one more migration."""

    def give(text=GOOD):
        path = tmp_path / "9001_canned.sql"
        path.write_text(text)
        files = [f for f in migrate.migration_files() if f.name != path.name]
        monkeypatch.setattr(migrate, "migration_files", lambda: [*files, path])

    return give


def start(context):
    with started(context) as begun:
        return {slug: begun.opened.tenants.get(slug).engine.versions() for slug in ("local",)}


def kept(place):
    return {slug: [p.name for p in paths] for slug, paths in copies.kept(place).items()}


def test_a_copy_stands_until_the_next_start_that_succeeds(context, place, newer):
    version = migrate.newest_version()
    start(context)
    with stores.opened(context, "test") as home:
        home.tenants.create("birch")
    newer()

    start(context)
    copy = f"memory.schema-{version}.sqlite"
    assert kept(place) == {"local": [copy], "birch": [copy]}

    start(context)
    assert kept(place) == {}


def test_a_copy_stays_while_its_database_does_not_open(context, place, newer):
    start(context)
    with stores.opened(context, "test") as home:
        home.tenants.create("birch")
    newer()
    start(context)
    damaged = place.database("birch")
    damaged.write_bytes(damaged.read_bytes()[:5_000])

    start(context)

    assert list(kept(place)) == ["birch"]


def test_a_start_whose_migration_fails_serves_nothing_and_changes_nothing(context, place, newer):
    start(context)
    before = place.database("local").read_bytes()
    newer(BAD)

    with pytest.raises(StoreUnusableError, match="is as it was"):
        start(context)

    assert place.database("local").read_bytes() == before
    newer(GOOD)
    assert start(context)["local"][1] == migrate.newest_version()


def test_a_command_migrates_nothing(context, place, newer):
    start(context)
    newer()

    with stores.opened(context, "test") as home, pytest.raises(StoreUnusableError, match="older"):
        home.tenants.get("local")

    assert kept(place) == {}


def test_doctor_names_what_may_hold_deleted_text(context, place, newer):
    start(context)
    assert list(checks.earlier(place)) == []
    newer()
    start(context)
    (place.path / "undo-20260101T000000Z").mkdir(mode=0o700)

    found = list(checks.earlier(place))

    assert [check.state for check in found] == [State.WARNING] * 2
    assert "undo-20260101T000000Z" in found[0].detail
    assert "memory.schema-" in found[1].detail
    assert all("deleted" in check.detail and check.fix for check in found)
