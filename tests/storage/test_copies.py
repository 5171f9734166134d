"""Copies of before a migration: the same, private, proven, and gone when they are not needed."""

import pytest

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import copier, copies, fingerprint, migrate
from codeflow_memory.storage.databases import Files
from codeflow_memory.storage.home import DATABASE, Home
from codeflow_memory.storage.sqlite import SQLiteEngine

pytestmark = pytest.mark.files

GOOD = "CREATE TABLE good (n INTEGER PRIMARY KEY) STRICT;"
BAD = "CREATE TABLE half (n INTEGER PRIMARY KEY) STRICT; CREATE TABLE good (n);"


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "home")
    made.make()
    return made


@pytest.fixture
def old(home):
    """A database of the newest schema, to which a canned migration makes an older one."""
    engine = SQLiteEngine(home.database("local"))
    engine.create()
    migrate.migrate(engine)
    with engine.write() as tx:
        tx.execute(
            "INSERT INTO principals (principal_id, name, kind, created_at)"
            " VALUES ('prn_1', 'ann', 'user', 1)"
        )
    yield engine
    engine.close()


@pytest.fixture
def upgrade(home, old):
    """Bring the database to the newest schema, beside a copy."""

    def run():
        return migrate.upgrade(old, lambda at: copies.make(Files(home), "local", old, at))

    return run


@pytest.fixture
def canned(monkeypatch, tmp_path):
    """Give the program more migrations than it has."""

    def give(*texts):
        files = migrate.migration_files()
        for number, text in enumerate(texts, start=1):
            path = tmp_path / f"900{number}_canned.sql"
            path.write_text(text)
            files.append(path)
        monkeypatch.setattr(migrate, "migration_files", lambda: files)

    return give


def fingerprint_of(engine):
    with engine.read() as tx:
        return fingerprint.of_database(tx)


def names(home):
    return sorted(p.name for p in home.path.iterdir())


@pytest.mark.parametrize("texts", [(BAD + "nonsense",), (GOOD, BAD)])
def test_a_migration_that_fails_leaves_the_old_file_and_says_so(home, old, canned, texts, upgrade):
    version, before = migrate.newest_version(), fingerprint_of(old)
    canned(*texts)

    with pytest.raises(StoreUnusableError, match=rf"schema {version} to .* is as it was"):
        upgrade()

    assert (fingerprint_of(old), old.versions()[1]) == (before, version)
    assert names(home) == sorted([DATABASE, f"memory.schema-{version}.sqlite"])


def test_a_copy_that_is_not_the_same_stops_the_migration(home, old, canned, monkeypatch, upgrade):
    before = fingerprint_of(old)
    canned(GOOD)
    monkeypatch.setattr(copier, "_without", lambda row, _: tuple(77 if v == 1 else v for v in row))

    with pytest.raises(StoreUnusableError, match="not the same"):
        upgrade()

    assert fingerprint_of(old) == before
    assert names(home) == [DATABASE]


def test_the_copy_is_the_old_file_and_nobody_elses(home, old, canned, upgrade):
    version, before = migrate.newest_version(), fingerprint_of(old)
    canned(GOOD)

    assert upgrade() == ["9001_canned.sql"]

    ((copy,),) = copies.kept(home).values()
    kept = SQLiteEngine(copy)
    assert (fingerprint_of(kept), kept.versions()[1]) == (before, version)
    kept.close()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert names(home) == sorted([DATABASE, copy.name])


def test_what_needs_no_migration_needs_no_copy(home, upgrade):
    assert upgrade() == []
    assert names(home) == [DATABASE]


def test_a_copy_of_a_start_that_was_cut_off_is_made_anew(home, old, canned, upgrade):
    copies.make(Files(home), "local", old, migrate.newest_version())
    with old.write() as tx:
        tx.execute("UPDATE principals SET name = 'anna'")
    before = fingerprint_of(old)
    canned(GOOD)

    upgrade()

    ((copy,),) = copies.kept(home).values()
    kept = SQLiteEngine(copy)
    assert fingerprint_of(kept) == before
    kept.close()


def test_what_is_called_otherwise_is_no_copy(home, old):
    for name in ("memory.schema-x.sqlite", "memory.schema-1.sqlite.txt", "memory.audit"):
        (home.path / name).write_bytes(b"")

    assert copies.kept(home) == {}
    assert old.versions()[1] == migrate.newest_version()
