"""What a home does for itself: a schema that is brought up beside a copy, and a checkpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import checkpoints
from codeflow_memory.storage import copies, migrate
from codeflow_memory.storage.databases import Files
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.sqlite import SQLiteEngine

from .drill import DATABASE, Step, Workload
from .product import keep_a_note
from .stores import opened_store, prepare, step_of

CANNED = {
    "9001_more.sql": "CREATE TABLE more (n INTEGER PRIMARY KEY, t TEXT NOT NULL) STRICT;"
    " INSERT INTO more (n, t) SELECT sequence, hash FROM audit;",
    "9002_indexed.sql": "CREATE INDEX more_by_text ON more (t);"
    " ALTER TABLE more ADD COLUMN u TEXT;",
}
"""Migrations that no release has."""


@contextmanager
def canned_migrations(files: dict[str, str] = CANNED) -> Iterator[None]:
    """Let the program have *files* after its own migrations."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in files]
        for path in paths:
            path.write_text(files[path.name])
        own = migrate.migration_files()
        with mock.patch.object(migrate, "migration_files", return_value=[*own, *paths]):
            yield


def _upgrade(home: Path, vfs: str | None) -> None:
    with canned_migrations(), Home(home).exclusive():
        # As `up` does: what a killed start left goes with the next one.
        Home(home).sweep()
        engine = SQLiteEngine(home / DATABASE, vfs=vfs)
        try:
            files = Files(Home(home), vfs)
            migrate.upgrade(engine, lambda old: copies.make(files, LOCAL, engine, old))
        finally:
            engine.close()


def _old_or_new(home: Path) -> None:
    """A copy, where one stands under its name, is the whole database of before."""
    for paths in copies.kept(Home(home)).values():
        for path in paths:
            engine = SQLiteEngine(path)
            with engine.read() as tx:
                assert tx.value("PRAGMA integrity_check") == "ok"
                assert tx.value("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'more'") == 0
            engine.close()
    if _is_new(home):
        assert copies.kept(Home(home)), "the old state is gone before the new one is used"


def _is_new(home: Path) -> bool:
    engine = SQLiteEngine(home / DATABASE)
    try:
        with engine.read() as tx:
            found = tx.value("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'more'")
    finally:
        engine.close()
    return found == 1


UPGRADE = Workload(
    "an upgrade", prepare, (Step("upgrade", _upgrade),), images=150, standing=_old_or_new
)


def _sign(home: Path, vfs: str | None) -> None:
    with opened_store(home, vfs, 2) as store:
        checkpoints.write(store)


def _never_accused(home: Path) -> None:
    """Whatever was cut off, nobody is accused of it; a mark always has its line."""
    with opened_store(home, None, 3) as store:
        report = checkpoints.verify(store)
    assert report.sound, report


CHECKPOINT = Workload(
    "a checkpoint",
    prepare,
    # Of a crash between line and mark a retry makes no mark: nothing came since.
    (step_of(1, keep_a_note), Step("sign", _sign, rests=2)),
    images=150,
    standing=_never_accused,
)
