"""Who may use a shared database: one key, one schema, one migration at a time."""

import pytest

from codeflow_memory.domain.errors import InvalidRequestError, StoreUnusableError
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import migrate
from codeflow_memory.storage.home import Home

GOOD = "CREATE TABLE good (n INTEGER PRIMARY KEY) STRICT;"


@pytest.fixture
def newer(monkeypatch, tmp_path):
    """Be a program with one more migration, or the older one again."""
    own = migrate.migration_files()
    path = tmp_path / "9001_canned.sql"
    path.write_text(GOOD)

    def be(*, newer: bool) -> None:
        monkeypatch.setattr(migrate, "migration_files", lambda: [*own, path] if newer else own)

    return be


def answer(store):
    with store.engine.read() as tx:
        return tx.value("SELECT tenant FROM store")


def test_a_home_with_another_key_is_refused_and_ends_no_token(world, new_home):
    """It came by a slip; to end what all others have takes a command."""
    text = world.token("ann", "contributor").text
    other = Tenants(new_home(key=b"k" * 32), now=world.clock)

    with pytest.raises(StoreUnusableError, match="copy the file `key` of the home that made it"):
        other.get("local")

    other.close()
    assert world.sign_in(text).person


def test_a_home_without_a_key_makes_none_where_tenants_are(world, new_home):
    assert world.store
    home = new_home(key=None)
    other = Tenants(home, now=world.clock)

    for use in (lambda: other.get("local"), lambda: other.create("birch")):
        with pytest.raises(StoreUnusableError, match="copy the file `key` of the home"):
            use()

    other.close()
    assert not (home.path / "key").exists()


def test_the_key_is_changed_by_a_command_while_nobody_uses_the_database(world, new_home):
    instance = world.store.keys.instance_id
    home = new_home(key=b"k" * 32)
    with pytest.raises(StoreUnusableError, match="in use; stop its other servers first"):
        Tenants(home, now=world.clock, rekeying=True).get("local")
    world.tenants.close()

    rekeyed = Tenants(home, now=world.clock, rekeying=True)
    assert rekeyed.get("local").keys.instance_id == instance
    rekeyed.close()

    with pytest.raises(StoreUnusableError, match="another home key"):
        world.tenants.get("local")


def test_nobody_migrates_what_a_server_uses(world, new_home, newer):
    assert world.store
    newer(newer=True)
    other = Tenants(new_home(), now=world.clock, migrating=True)

    with pytest.raises(StoreUnusableError, match="in use; stop its other servers first"):
        other.get("local")

    newer(newer=False)
    assert answer(world.store) == "local"


def test_nobody_uses_what_is_being_migrated(world, new_home, newer):
    assert world.store
    world.tenants.close()
    newer(newer=True)
    other = Tenants(new_home(), now=world.clock, migrating=True)
    assert other.get("local")

    with pytest.raises(StoreUnusableError, match="a migration holds it"):
        world.tenants.get("local")

    other.close()
    assert answer(world.store) == "local"


def test_an_older_program_does_not_go_on_over_a_newer_schema(
    world, new_home, newer, cluster, database
):
    """Its connections died, as in a restart, and with them what kept others from migrating."""
    store = world.store
    assert answer(store) == "local"
    cut(cluster, database)
    newer(newer=True)
    migrating = Tenants(new_home(), now=world.clock, migrating=True)
    assert migrating.get("local")
    migrating.close()
    newer(newer=False)

    with pytest.raises(StoreUnusableError, match="is newer than"):
        answer(store)
    with pytest.raises(StoreUnusableError, match="is newer than"), store.engine.write():
        pass


def test_connections_that_died_while_nobody_used_them_are_nobody_s_trouble(
    world, cluster, database
):
    nested(world.store, 8)
    cut(cluster, database)

    assert answer(world.store) == "local"
    world.project()


def nested(store, depth):
    """Use so many connections at once."""
    if depth:
        with store.engine.read():
            nested(store, depth - 1)


def cut(cluster, database):
    """End every connection to *database*, as a restart of the server does."""
    cluster.sql(
        f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"  # noqa: S608 - a name of ours
        f" WHERE datname = '{database}' AND usename = 'codeflow'"
    )


def test_no_home_is_made_the_owner_of_a_database_by_its_name(tmp_path):
    with pytest.raises(InvalidRequestError, match="is no postgresql://user@host/name"):
        Tenants(Home(tmp_path, "postgresql://[::"), now=lambda: 1)
