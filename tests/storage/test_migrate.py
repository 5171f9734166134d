"""Migrations: forward only, each whole, and none that was edited afterwards."""

import hashlib

import pytest

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import migrate
from codeflow_memory.storage.engine import APPLICATION_ID, MigrationError
from codeflow_memory.storage.migrate import Migration


@pytest.fixture
def fresh(bare):
    return bare()


def refused(engine, *, check=True):
    with pytest.raises(StoreUnusableError) as told:
        migrate.prepare(engine, check=check)
    engine.close()
    assert str(told.value).startswith(f"{engine.name}: ")
    return str(told.value)


def refused_untouched(engine):
    before = engine.path.read_bytes()
    told = refused(engine)
    assert engine.path.read_bytes() == before
    return told


def test_a_fresh_database_gets_every_migration_and_no_second_time(fresh):
    applied = migrate.migrate(fresh)

    assert applied == [file.name for file in migrate.migration_files()]
    assert fresh.versions() == (APPLICATION_ID, len(applied))
    assert migrate.migrate(fresh) == []
    migrate.prepare(fresh, check=True)


def test_what_was_applied_is_recorded_with_its_hash(fresh):
    migrate.migrate(fresh)

    with fresh.read() as tx:
        rows = tx.rows("SELECT version, name, sha256 FROM schema_migrations ORDER BY version")

    assert rows == [
        (number, file.name, hashlib.sha256(file.read_bytes()).hexdigest())
        for number, file in enumerate(migrate.migration_files(), start=1)
    ]


@pytest.mark.files
def test_every_table_of_a_fresh_file_is_strict(fresh):
    migrate.migrate(fresh)

    with fresh.read() as tx:
        loose = tx.rows(
            "SELECT name FROM pragma_table_list WHERE strict = 0 AND name NOT GLOB 'sqlite_*'"
        )

    assert loose == []


@pytest.mark.files
@pytest.mark.parametrize("head", [b"", b"not a database at all", bytes(4096)])
def test_a_file_that_is_no_database_of_ours_is_refused_untouched(fresh, head):
    fresh.path.write_bytes(head)

    assert "belongs to another application" in refused_untouched(fresh)


def test_a_database_without_our_tables_is_refused(fresh):
    assert "belongs to another application" in refused(fresh)


def test_a_newer_schema_is_refused(fresh):
    migrate.migrate(fresh)
    newer = [Migration(migrate.newest_version() + 1, "9999_newer.sql", "SELECT 1;")]
    fresh.script(newer[0].text, user_version=newer[0].number, record=migrate.recorder(newer))
    fresh.close()

    assert "newer than" in refused(fresh)


@pytest.mark.files
def test_a_damaged_file_is_refused(fresh):
    migrate.migrate(fresh)
    fresh.close()
    whole = bytearray(fresh.path.read_bytes())
    whole[8192:12_288] = b"\xff" * 4096
    fresh.path.write_bytes(whole)

    assert "damaged" in refused_untouched(fresh)


def test_a_migration_that_was_edited_afterwards_is_refused(fresh):
    migrate.migrate(fresh)
    with fresh.write() as tx:
        tx.execute("UPDATE schema_migrations SET sha256 = :other", {"other": "0" * 64})

    with pytest.raises(StoreUnusableError, match="edited after it was applied"):
        migrate.migrate(fresh)


def test_of_migrations_of_which_one_fails_none_is_applied(fresh, monkeypatch, tmp_path):
    good, bad = tmp_path / "0001_good.sql", tmp_path / "0002_bad.sql"
    good.write_text("CREATE TABLE good (n INTEGER PRIMARY KEY) STRICT;")
    bad.write_text(
        "CREATE TABLE half (n INTEGER PRIMARY KEY) STRICT; CREATE TABLE good (n INTEGER);"
    )
    monkeypatch.setattr(migrate, "migration_files", lambda: [good, bad])

    with pytest.raises(MigrationError, match="already exists"):
        migrate.migrate(fresh)

    assert fresh.versions() == (0, 0)
    bad.write_text("CREATE TABLE half (n INTEGER PRIMARY KEY) STRICT;")
    assert migrate.migrate(fresh) == ["0001_good.sql", "0002_bad.sql"]
