"""Copies: a database as it was before a migration, kept until the next start that succeeds.

A copy is made by the engine itself, in a file that nobody else can read, and has its name only once
it is whole, durable and proven to hold the same. It can hold what was deleted since.
"""

import os
import re
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path

import apsw

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import fingerprint
from codeflow_memory.storage.engine import Engine
from codeflow_memory.storage.home import DATABASE, Home, sync_folder
from codeflow_memory.storage.sqlite import SQLiteEngine, translated

_NAME = re.compile(r"memory\.schema-[0-9]{1,9}\.sqlite")


def make(engine: SQLiteEngine, version: int) -> Path:
    """Copy a database of schema *version* beside itself, and return where to.

    The home is held alone. A copy of the same schema is replaced: the database may have changed
    since a start that ended before its migration.

    Raises:
        StorageFullError: There is no room for it.
        StoreUnusableError: The copy does not hold what the database does, or is not sound.
    """
    # The home sweeps away what begins like this.
    temporary = engine.path.with_name(f".{DATABASE}.copy-{os.getpid()}")
    temporary.unlink(missing_ok=True)
    copy = SQLiteEngine(temporary, vfs=engine.vfs)
    copy.create()
    try:
        _fill(engine, copy)
        _compare(engine, copy)
        copy.close()
        _sync(temporary)
        return _placed(temporary, engine.path.with_name(f"memory.schema-{version}.sqlite"))
    finally:
        copy.close()
        temporary.unlink(missing_ok=True)


def kept(home: Home) -> dict[str, list[Path]]:
    """List the copies in a home, by tenant."""
    found = {
        slug: sorted(p for p in home.database(slug).parent.iterdir() if _NAME.fullmatch(p.name))
        for slug in home.tenants()
    }
    return {slug: paths for slug, paths in found.items() if paths}


def remove(paths: Iterable[Path]) -> None:
    """Remove copies that are needed no more."""
    for path in paths:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)


def _fill(engine: SQLiteEngine, copy: SQLiteEngine) -> None:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    with translated(engine.name), ExitStack() as opened:
        source, target = (
            opened.enter_context(closing(apsw.Connection(str(path), flags=flags, vfs=engine.vfs)))
            for path in (engine.path, copy.path)
        )
        running = target.backup("main", source, "main")
        # Not "with running": its end reports an error that was raised already as a SystemError
        # (measured with apsw 3.54.1).
        opened.callback(running.close, True)  # noqa: FBT003 - "force" is apsw's only parameter
        running.step()
        running.finish()


def _compare(engine: Engine, copy: Engine) -> None:
    with engine.read() as tx, copy.read() as copied:
        sound = copied.value("PRAGMA integrity_check(1)") == "ok"
        same = fingerprint.of_database(tx) == fingerprint.of_database(copied)
    if not (sound and same and engine.versions() == copy.versions()):
        raise StoreUnusableError(engine.name, "a copy of it before a migration is not the same")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _placed(temporary: Path, place: Path) -> Path:
    temporary.replace(place)
    sync_folder(place.parent)
    return place
