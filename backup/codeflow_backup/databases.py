"""A tenant's database under the hand of a backup: held against writers, read, described.

Pages are read through SQLite's own file layer. A plain open and close of a database's path would
drop the locks that this process holds on it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import apsw

from codeflow_backup import checks, fingerprint, schema
from codeflow_backup.errors import (
    BackupError,
    HomeInUseError,
    NoRoomError,
    UnusableError,
)
from codeflow_backup.home import Home, Place
from codeflow_backup.manifest import Database

BUSY_MS: Final = 10_000
"""How long a writer is waited for that holds the lock; a change takes milliseconds."""

BLOCK_BYTES: Final = 1 << 18

_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_WRITE_AHEAD = 2
_EPOCH_SHIFT = 32


def epoch_of(generation: int) -> int:
    """Return how often a store had been restored when it was of *generation*."""
    return generation >> _EPOCH_SHIFT


@dataclass(frozen=True, slots=True)
class Identity:
    """Which store a database is, and how far its changes have come.

    Args:
        tenant: Its slug.
        instance_id: Never another store's.
        restore_epoch: How often it was restored.
        audit_count: How many changes the audit has.
        audit_head: The hash of the last one.
    """

    tenant: str
    instance_id: str
    restore_epoch: int
    audit_count: int
    audit_head: str

    @property
    def generation(self) -> int:
        """Return a number that grows with every change, and with every restore above all."""
        return self.restore_epoch << _EPOCH_SHIFT | self.audit_count


class Held:
    """A database on which no change can begin.

    Args:
        home: Where it lies.
        place: Which it is.
        connection: Has an open ``BEGIN IMMEDIATE``.
    """

    def __init__(self, home: Home, place: Place, connection: apsw.Connection) -> None:
        self.place = place
        self.connection = connection
        self._location = str(home.path.resolve() / place.name)

    def describe(self) -> Database:
        """Check the database and return what it holds.

        Raises:
            UnusableError: It is damaged, another tenant's, or its schema is not known.
        """
        with translated(self.place.name):
            check_schema(self.connection, self.place.name)
            checks.check_integrity(self.connection, self.place.name)
            found = describe(self.connection, self.place.name)
        if found.tenant != self.place.tenant:
            raise UnusableError(f"{self.place.name} belongs to another tenant; move it aside")
        return found

    def pages(self) -> Iterator[bytes]:
        """Yield the file from its first byte to its last."""
        with translated(self.place.name):
            flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
            file = apsw.VFSFile("", self._location, flags)
            try:
                size, at = file.xFileSize(), 0
                while at < size:
                    block = file.xRead(min(BLOCK_BYTES, size - at), at)
                    yield block
                    at += len(block)
            finally:
                file.xClose()

    def digest(self) -> tuple[int, str]:
        """Return the file's size and SHA-256."""
        whole, size = hashlib.sha256(), 0
        for block in self.pages():
            whole.update(block)
            size += len(block)
        return size, whole.hexdigest()


@contextmanager
def held(home: Home, place: Place) -> Iterator[Held]:
    """Hold a database: readers read on, writers wait, an interrupted change is rolled back.

    Raises:
        UnusableError: It is damaged, of another program, or other journals lie beside it.
        HomeInUseError: A writer does not let go of it.
    """
    home.refuse_sidecars(place.name)
    connection = opened(home, place, busy_ms=BUSY_MS)
    try:
        with translated(place.name):
            connection.execute("BEGIN IMMEDIATE")
            # Asked once nobody can write: until then a running server's own may come and go.
            if home.has_journal(place.name):
                raise UnusableError(f"{place.name}-journal remains and cannot be rolled back")
        home.refuse_sidecars(place.name)
        yield Held(home, place, connection)
    finally:
        connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter


def opened(home: Home, place: Place, *, busy_ms: int) -> apsw.Connection:
    """Open a database of a home to read and write; the first read rolls back what was interrupted.

    Raises:
        UnusableError: It is no regular file, or not of this product.
    """
    if not home.is_regular(place.name):
        raise UnusableError(f"{place.name} is no regular file; move it aside")
    location = str(home.path.resolve() / place.name)
    _check_header(home, place.name, location)
    with translated(place.name):
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(location, flags=flags)
        try:
            connection.set_busy_timeout(busy_ms)
            harden(connection)
            _check_ours(connection, place.name)
        except BaseException:
            connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter
            raise
    return connection


def _check_ours(connection: apsw.Connection, name: str) -> None:
    if connection.execute("PRAGMA journal_mode").fetchone() != ("delete",):
        raise UnusableError(f"{name} is in another journal mode than DELETE")
    if connection.execute("PRAGMA application_id").fetchone() != (schema.APPLICATION_ID,):
        raise UnusableError(f"{name} belongs to another application; move it aside")


def harden(connection: apsw.Connection) -> None:
    """Let nothing that stands in the file act: no trigger, view or function of its schema."""
    for switch, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    ):
        connection.config(switch, value)
    for _ in connection.execute(_PRAGMAS):
        continue


_PRAGMAS = """
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
PRAGMA synchronous = EXTRA;
PRAGMA cache_size = -4096;
"""


def describe(connection: apsw.Connection, name: str) -> Database:
    """Return what the database that *name* stands for holds.

    Raises:
        UnusableError: Its schema is not known, or it was never filled.
    """
    version, ddl = check_schema(connection, name)
    tables = fingerprint.of_tables(connection)
    identity = identify(connection, name)
    return Database(
        tenant=identity.tenant,
        instance_id=identity.instance_id,
        generation=identity.generation,
        schema_version=version,
        ddl_sha256=ddl,
        tables=tables,
        fingerprint=fingerprint.combined(tables),
        audit_count=identity.audit_count,
        audit_head=identity.audit_head,
    )


def check_schema(connection: apsw.Connection, name: str) -> tuple[int, str]:
    """Return the number and the digest of a database's schema.

    Raises:
        UnusableError: This program does not know it.
    """
    version = int(str(connection.pragma("user_version")))
    ddl = schema.digest(connection)
    schema.check(name, version, ddl)
    return version, ddl


def identify(connection: apsw.Connection, name: str) -> Identity:
    """Return which store a database is.

    Raises:
        UnusableError: It does not say.
    """
    row = connection.execute(
        """
        SELECT tenant, instance_id, restore_epoch, audit_count, audit_head
          FROM store
         WHERE singleton = 1
        """
    ).fetchone()
    if row is None:
        raise UnusableError(f"{name} was never filled")
    tenant, instance_id, epoch, count, head = row
    return Identity(str(tenant), str(instance_id), int(str(epoch)), int(str(count)), str(head))


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn SQLite's errors into the backup's; *name* is the file's, below its home."""
    try:
        yield
    except BackupError:
        raise
    except apsw.BusyError:
        raise HomeInUseError(f"{name} is in use; try again, or stop what works on it") from None
    except apsw.FullError:
        raise NoRoomError(f"the disk has no room to roll back a change of {name}") from None
    except (apsw.CorruptError, apsw.NotADBError):
        raise UnusableError(f"{name} is damaged") from None
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError):
        raise UnusableError(f"{name} cannot be read or written; check owner, mode, disk") from None
    except apsw.Error as error:
        raise UnusableError(f"{name} cannot be used: {type(error).__name__}") from None


def _check_header(home: Home, name: str, location: str) -> None:
    """Refuse a file of another program before SQLite may change it by opening it."""
    with translated(name):
        file = apsw.VFSFile("", location, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            head = file.xRead(_HEADER_BYTES, 0) if file.xFileSize() >= _HEADER_BYTES else b""
        finally:
            file.xClose()
    # A power loss can tear the first page; SQLite puts it back from the journal.
    if home.has_journal(name):
        return
    if not head.startswith(_MAGIC):
        raise UnusableError(f"{name} is no SQLite database, or damaged")
    if int.from_bytes(head[68:72], "big") != schema.APPLICATION_ID:
        raise UnusableError(f"{name} belongs to another application; move it aside")
    if _WRITE_AHEAD in head[18:20]:
        raise UnusableError(f"{name} was put into WAL mode by another program")
