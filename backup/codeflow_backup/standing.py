"""What stands in a home that a restore would replace, and whether it may be replaced."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from codeflow_backup import databases
from codeflow_backup.databases import Identity
from codeflow_backup.errors import (
    DamagedError,
    OlderGenerationError,
    OtherInstanceError,
    StandsError,
    UnusableError,
)
from codeflow_backup.home import CHECKPOINTS, DATABASE, DOCUMENT, KEY, LOCAL, Home, Place, place_of
from codeflow_backup.manifest import Database, Manifest

_KEY_BYTES = 32
_SET = (DATABASE, f"{DATABASE}-*", f".{DATABASE}.*", "memory.schema-*")
"""Files of one database: itself, its journals, what an import or a migration left beside it."""

_DOCUMENT_SET = (DOCUMENT, f"{DOCUMENT}.*")
"""The older document, and its copies."""

_REPLACE = "--replace puts the backup in its place, and keeps what stood there in an undo folder"


@dataclass(frozen=True, slots=True)
class Store:
    """One tenant's files in the home.

    Args:
        place: Where its database is, or will be.
        files: Every file of it, as paths below the home.
        database: Whether the database is among them.
        identity: What the database is; ``None`` where that cannot be read.
    """

    place: Place
    files: tuple[str, ...]
    database: bool
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a home holds.

    Args:
        stores: Those that the backup has too.
        staying: Tenants that the backup does not have.
        key: The home key; ``None`` where there is no such file.
    """

    stores: tuple[Store, ...]
    staying: tuple[str, ...]
    key: bytes | None


def look(home: Home, found: Manifest) -> Standing:
    """Return what the home, which is held alone, has where the backup has something.

    Raises:
        HomeInUseError: A program that knows no lock of the home works on a database.
        UnusableError: A folder has the name of a file.
    """
    tenants = {file.database.tenant for file in found.files if file.database is not None}
    if any(file.name == DOCUMENT for file in found.files):
        tenants.add(LOCAL)
    stores = tuple(_store(home, tenant) for tenant in sorted(tenants))
    staying = tuple(tenant for tenant in home.tenants() if tenant not in tenants)
    return Standing(stores, staying, _key(home))


def refuse(standing: Standing, found: Manifest, key: bytes | None) -> None:
    """Refuse a restore that would replace something, and say what that is.

    Args:
        standing: What stands there.
        found: What the backup holds.
        key: The home key in the backup.

    Raises:
        StandsError, OtherInstanceError, OlderGenerationError: Naming the option that allows it.
    """
    backed_up = {file.database.tenant: file.database for file in found.files if file.database}
    if _is_other(standing, backed_up, key):
        raise OtherInstanceError(
            "the home holds another store than the one that was backed up, or one that cannot be"
            f" told: {_REPLACE}"
        )
    for store in standing.stores:
        _refuse_newer(store, backed_up.get(store.place.tenant))
    if any(store.files for store in standing.stores) or _replaces_key(standing, key):
        raise StandsError(f"the home holds a store already: {_REPLACE}")


def key_moves(standing: Standing, key: bytes | None) -> bool:
    """Tell whether the backup's home key comes in the place of the home's.

    Tenants that stay keep theirs: the restored ones are then brought under it by the server.
    """
    return key is not None and key != standing.key and not (standing.staying and standing.key)


def is_other(store: Store, said: Database | None) -> bool:
    """Tell whether a store is surely another than the one that was backed up."""
    identity = store.identity
    return identity is not None and said is not None and identity.instance_id != said.instance_id


def _replaces_key(standing: Standing, key: bytes | None) -> bool:
    return standing.key is not None and key_moves(standing, key)


def _is_other(standing: Standing, backed_up: dict[str, Database], key: bytes | None) -> bool:
    known = False
    for store in standing.stores:
        said = backed_up.get(store.place.tenant)
        if is_other(store, said):
            return True
        if store.identity is not None and said is not None:
            known = True
        elif store.database and (key is None or key != standing.key):
            # Neither side says whose it is, and the keys of the homes do not agree.
            return True
    differ = None not in {key, standing.key} and key != standing.key
    return differ and not known


def _refuse_newer(store: Store, said: Database | None) -> None:
    if not store.database:
        return
    name = store.place.name
    if said is None:
        raise OlderGenerationError(
            f"{name} stands in the home and is not in the backup, which is from before the first"
            f" start: {_REPLACE}"
        )
    identity = store.identity
    if identity is not None and identity.generation > said.generation:
        since = identity.audit_count - said.audit_count
        changes = f"{since} changes" if since > 0 else "a restore"
        raise OlderGenerationError(f"{name} has seen {changes} since the backup: {_REPLACE}")


def _store(home: Home, tenant: str) -> Store:
    place = place_of(tenant)
    files = tuple(_files(home, place))
    database = place.name in files
    return Store(place, files, database, _identity(home, place) if database else None)


def _files(home: Home, place: Place) -> Iterator[str]:
    patterns = _SET + (_DOCUMENT_SET if place.tenant == LOCAL else ())
    folder = home.path / place.folder
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        if path.is_dir() and not path.is_symlink():
            raise UnusableError(f"{path.name} in the home is a folder: move it aside")
        yield path.relative_to(home.path).as_posix()


def checkpoints(home: Home, store: Store) -> tuple[str, ...]:
    """Return the file of audit checkpoints that lies beside a store's database, if one does."""
    name = f"{store.place.folder}/{CHECKPOINTS}".removeprefix("/")
    return (name,) if os.path.lexists(home.path / name) else ()


def _identity(home: Home, place: Place) -> Identity | None:
    """Prove that nobody works on a database, and return what it is, if it can say so."""
    try:
        home.refuse_sidecars(place.name)
        connection = databases.opened(home, place, busy_ms=0)
    except (UnusableError, DamagedError):
        _probe(home, place)
        return None
    try:
        with databases.translated(place.name):
            connection.execute("BEGIN EXCLUSIVE")
            return databases.identify(connection, place.name)
    except (UnusableError, DamagedError):
        return None
    finally:
        connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter


def _probe(home: Home, place: Place) -> None:
    """Prove by SQLite's locks alone that nobody works on a file; nothing in it is looked at."""
    if not home.is_regular(place.name):
        return
    with databases.translated(place.name):
        flags = [apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB, 0]
        file = apsw.VFSFile("", str(home.path.resolve() / place.name), flags)
        try:
            for level in (
                apsw.SQLITE_LOCK_SHARED,
                apsw.SQLITE_LOCK_RESERVED,
                apsw.SQLITE_LOCK_EXCLUSIVE,
            ):
                file.xLock(level)
            file.xUnlock(apsw.SQLITE_LOCK_NONE)
        finally:
            file.xClose()


def _key(home: Home) -> bytes | None:
    if not home.is_regular(KEY):
        return None
    with (home.path / KEY).open("rb") as file:
        return file.read(_KEY_BYTES + 1)
