"""Which locks of a home a process holds while it uses the home's databases."""

import pytest

from codeflow_memory.cli import checks, stores, up
from codeflow_memory.cli.context import Context
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import migrate
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.sqlite import SQLiteEngine


@pytest.fixture
def context(home):
    return Context({"CODEFLOW_HOME": str(home)})


@pytest.fixture
def made(context, home):
    """A home that some process made and left."""
    with stores.opened(context, "test", making=True):
        pass
    return Home(home)


@pytest.fixture
def older(made, tmp_path, monkeypatch):
    """A home that was made before the newest migration came."""
    newest = tmp_path / "9999_newest.sql"
    newest.write_text("CREATE TABLE newest (n INTEGER PRIMARY KEY) STRICT;")
    files = [*migrate.migration_files(), newest]
    monkeypatch.setattr(migrate, "migration_files", lambda: files)
    return made


def version(home):
    return SQLiteEngine(home.database("local")).header()[1]


USERS = {
    "command": lambda context: stores.opened(context, "test"),
    "server": up.started,
}


@pytest.mark.parametrize("user", USERS)
def test_who_uses_a_home_keeps_importers_and_migrations_out(context, made, user):
    with USERS[user](context):
        with pytest.raises(StoreUnusableError, match="in use"), made.exclusive():
            pass
        with made.shared():
            pass

    with made.exclusive():
        pass


@pytest.mark.parametrize("user", USERS)
def test_who_holds_a_home_alone_keeps_others_out(context, made, user):
    with made.exclusive(), pytest.raises(StoreUnusableError), USERS[user](context):
        pass


def test_a_doctor_looks_into_no_database_of_a_home_that_is_held_alone(made):
    with made.exclusive():
        assert [check.name for check in checks.databases(made, every=True, token=None)] == [
            "databases"
        ]

    assert "database local" in {
        check.name for check in checks.databases(made, every=True, token=None)
    }


def test_a_server_owns_its_home_while_it_serves(context, made):
    refused = pytest.raises(StoreUnusableError, match="another server")
    with up.started(context), refused, made.serving():
        pass

    with made.serving():
        pass


def test_a_migration_holds_the_home_alone(context, older):
    before = version(older)
    with older.shared():
        with pytest.raises(StoreUnusableError, match="in use"), up.started(context):
            pass
        assert version(older) == before

    with up.started(context):
        assert version(older) == before + 1 == migrate.newest_version()


def test_what_makers_left_is_swept_while_nobody_is_at_work(context, made):
    left = made.path / ".memory.sqlite.ab"
    left.touch()
    with made.shared(), up.started(context):
        assert left.exists()

    with up.started(context):
        assert not left.exists()
