"""SQLite, the engine of a home's files: one database file a tenant."""

import random
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from codeflow_memory.domain import deadline
from codeflow_memory.domain.errors import (
    BusyError,
    CodeflowError,
    DeadlineExceededError,
    StorageFullError,
    StoreUnusableError,
)
from codeflow_memory.storage.engine import (
    APPLICATION_ID,
    BUSY_TIMEOUT_MS,
    Engine,
    MigrationError,
    Parameters,
    Row,
    Table,
    Transaction,
)

IDLE_SECONDS = 1.0
"""How long an unused connection is kept: opening one parses the whole schema (1.5 ms)."""

HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_RESERVED_BYTES = 8
_PROGRESS_STEPS = 2_000


class SQLiteTransaction(Transaction):
    """Statements on one connection."""

    __slots__ = ("_connection",)

    def __init__(self, connection: apsw.Connection, *, writes: bool) -> None:
        super().__init__(writes=writes)
        self._connection = connection

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows, in the statement's order."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except UnicodeDecodeError:
            raise apsw.CorruptError("a text is no UTF-8") from None

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        """Return the first row, or ``None`` when there is none."""
        try:
            return self._connection.execute(sql, parameters).fetchone()
        except UnicodeDecodeError:
            raise apsw.CorruptError("a text is no UTF-8") from None

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows as they are read: for more than belongs into memory at once."""
        yield from self._connection.execute(sql, parameters)

    def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run one writing statement and return how many rows it changed."""
        before = self._connection.total_changes()
        # Drained, because apsw stops a statement at its first row.
        for _ in self._connection.execute(sql, parameters):
            pass
        return self._connection.total_changes() - before

    def executemany(self, sql: str, parameters: Iterable[Parameters | Sequence[object]]) -> None:
        """Run one writing statement for each of *parameters*."""
        self._connection.executemany(sql, parameters)

    def tables(self) -> list[Table]:
        """List the tables, in byte order of their names; not SQLite's own."""
        names = [
            name
            for (name,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not name.startswith("sqlite_")
        ]
        return [self._table(name) for name in sorted(names, key=str.encode)]

    def is_alive(self) -> bool:
        """Tell whether the transaction still stands: a disk that fails ends the whole of it."""
        return self._connection.in_transaction

    def _table(self, name: str) -> Table:
        described = self.rows(
            "SELECT cid, name, pk FROM pragma_table_info(:name) ORDER BY cid", {"name": name}
        )
        places = sorted((place, column) for _, column, place in described if place)
        keys = tuple(column for _, column in places)
        references = self.rows(
            'SELECT "FROM", "TABLE" FROM pragma_foreign_key_list(:name) ORDER BY id, seq',
            {"name": name},
        )
        return Table(name, tuple(d[1] for d in described), keys, tuple(references))


class SQLiteEngine(Engine):
    """One tenant's database file.

    Args:
        path: The file; it must exist (`create` makes one).
        vfs: Name of an apsw VFS, for fault tests; ``None`` is the system's own.
        busy_timeout_ms: How long a writer waits for the lock before `BusyError`.
    """

    def __init__(
        self, path: Path, *, vfs: str | None = None, busy_timeout_ms: int = BUSY_TIMEOUT_MS
    ) -> None:
        super().__init__(_name(path))
        self.path = path
        self.vfs = vfs
        self._busy_timeout_ms = busy_timeout_ms
        self._idle: list[tuple[float, apsw.Connection]] = []
        self._lock = threading.Lock()
        self._reaper: threading.Timer | None = None

    def create(self) -> None:
        """Make an empty database file, mode 0600, without following links.

        Raises:
            StoreUnusableError: Something else stands under that name.
        """
        import os  # noqa: PLC0415 - only creation needs it

        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(self.path, flags, 0o600))
            os.chmod(self.path, 0o600)  # noqa: PTH101 - whatever the umask
        except FileExistsError:
            raise StoreUnusableError(self.name, "the file exists already") from None

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Run the block on one consistent snapshot."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            yield SQLiteTransaction(connection, writes=False)
            connection.execute("COMMIT")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run the block under ``BEGIN IMMEDIATE`` and commit at its end.

        An error skips the commit, and closing the connection rolls back.
        """
        with self._connection() as connection:
            # Not "with connection": apsw waits for the lock there without releasing the GIL, so
            # the thread that holds the lock cannot finish (measured with apsw 3.54.1).
            connection.execute("BEGIN IMMEDIATE")
            yield SQLiteTransaction(connection, writes=True)
            connection.execute("COMMIT")
            self.written = True

    def quick_check(self) -> str | None:
        """Return what is wrong with the file, or ``None`` when it is sound."""
        with self._connection() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
        text = str(found[0]) if found else "no answer"
        return None if text == "ok" else text

    def script(
        self,
        sql: str,
        *,
        user_version: int,
        record: Callable[[Transaction], object] | None = None,
    ) -> None:
        """Run migrations, then *record*, and raise ``user_version``, in one transaction."""
        try:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                for _ in connection.execute(sql):
                    pass
                if record is not None:
                    record(SQLiteTransaction(connection, writes=True))
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
                connection.execute(f"PRAGMA user_version = {user_version:d}")
                connection.execute("COMMIT")
        except apsw.Error as error:
            raise MigrationError(str(error)) from error

    def header(self) -> tuple[int, int]:
        """Return ``application_id`` and ``user_version`` as the file's first bytes say.

        Opening a database can change it (a foreign one may be in another journal mode), so whose it
        is must be known before. A file too short for a header has neither: 0 and 0.
        """
        with translated(self.name):
            self._check_regular()
            flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
            # Not a plain open: closing one would drop the locks of this process's connections.
            file = apsw.VFSFile(self.vfs or "", self._location(), flags)
            try:
                if file.xFileSize() < HEADER_BYTES:
                    return 0, 0
                head = file.xRead(HEADER_BYTES, 0)
            finally:
                file.xClose()
        if not head.startswith(_MAGIC):
            return 0, 0
        return int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")

    def has_journal(self) -> bool:
        """Tell whether a change is going on, or was interrupted: `header` may be torn then."""
        try:
            # Asked once: another process's commit takes the journal away at any moment.
            journal = self.path.with_name(f"{self.path.name}-journal").stat()
        except FileNotFoundError:
            return False
        return stat.S_ISREG(journal.st_mode) and journal.st_size > 0

    def versions(self) -> tuple[int, int]:
        """Return the file's ``application_id`` and ``user_version``."""
        with self._connection() as connection:
            application = connection.execute("PRAGMA application_id").fetchone()
            version = connection.execute("PRAGMA user_version").fetchone()
        return int(str((application or (0,))[0])), int(str((version or (0,))[0]))

    def size_bytes(self) -> int:
        """Return the size of the file."""
        return self.path.stat().st_size

    def close(self) -> None:
        """Close every idle connection; a stopped server leaves a closed database."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._reaper is not None:
                self._reaper.cancel()
                self._reaper = None
        for _, connection in idle:
            connection.close()

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        """Lend one connection for one operation; close it when the operation fails."""
        with translated(self.name):
            connection = self._take() or self._open()
            try:
                _watch(connection)
                yield connection
            except BaseException:
                connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter
                raise
            connection.set_progress_handler(None)
            self._give(connection)

    def _take(self) -> apsw.Connection | None:
        with self._lock:
            return self._idle.pop()[1] if self._idle else None

    def _give(self, connection: apsw.Connection) -> None:
        with self._lock:
            self._idle.append((time.monotonic(), connection))
            if self._reaper is None:
                self._start_reaper(IDLE_SECONDS)

    def _start_reaper(self, seconds: float) -> None:
        self._reaper = threading.Timer(seconds, self._reap)
        self._reaper.daemon = True
        self._reaper.start()

    def _reap(self) -> None:
        now = time.monotonic()
        limit = now - IDLE_SECONDS
        with self._lock:
            old = [c for at, c in self._idle if at <= limit]
            self._idle = [(at, c) for at, c in self._idle if at > limit]
            self._reaper = None
            if self._idle:
                # When the longest idle one has idled enough, or it would stay for twice as long.
                self._start_reaper(min(at for at, _ in self._idle) - limit)
        for connection in old:
            connection.close()

    def _check_regular(self) -> None:
        # A pipe in its place would be waited for without end.
        try:
            regular = stat.S_ISREG(self.path.lstat().st_mode)
        except OSError:
            regular = False
        if not regular:
            raise StoreUnusableError(self.name, "it is no regular file; move it aside")

    def _location(self) -> str:
        # The folder may be reached through links; the file itself may not be one.
        return str(self.path.parent.resolve() / self.path.name)

    def _open(self) -> apsw.Connection:
        self._check_regular()
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(self._location(), flags=flags, vfs=self.vfs)
        try:
            self._configure(connection)
        except BaseException:
            connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter
            raise
        return connection

    def _configure(self, connection: apsw.Connection) -> None:
        connection.set_busy_handler(_polling(self._busy_timeout_ms))
        # The checksum VFS stays possible only if every page kept room for it from the first write.
        connection.reserve_bytes("main", _RESERVED_BYTES)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        # Else a build with STAT4, as apsw's is, prepares a statement anew for each value that its
        # plan could depend on, though no statistics are kept: 45 µs instead of 8 for one look-up
        # by two columns (SQLite 3.54.1). And a plan that a test saw is the plan that runs.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if mode != ("delete",):
            raise StoreUnusableError(self.name, "its journal mode cannot be DELETE")
        for _ in connection.execute(_PRAGMAS):
            pass


def _name(path: Path) -> str:
    """Return what refusals call a file: without the folders above the home."""
    folder = path.parent
    return f"tenants/{folder.name}/{path.name}" if folder.parent.name == "tenants" else path.name


_PRAGMAS = """
PRAGMA synchronous = EXTRA;
PRAGMA secure_delete = ON;
PRAGMA foreign_keys = ON;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 0;
"""
# EXTRA syncs the directory after the journal is unlinked; with FULL a power loss can undo the last
# acknowledged commit.


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the engine's errors into the product's; *name* is the file's, without its folder."""
    try:
        yield
    except CodeflowError:
        raise
    except apsw.BusyError as error:
        raise BusyError from error
    except apsw.FullError as error:
        raise StorageFullError from error
    except apsw.InterruptError as error:
        raise DeadlineExceededError from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreUnusableError(name, _DAMAGED) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError) as error:
        raise StoreUnusableError(name, _UNREADABLE) from error


_DAMAGED = "the file is damaged; restore the newest backup, or move it aside to keep it"
_UNREADABLE = "the file cannot be read or written; check its owner, mode and disk"


def _polling(timeout_ms: int) -> Callable[[int], bool]:
    """Return a busy handler that polls every 1 to 3 ms.

    SQLite's own backs off and starves: with 16 writers 79 of 2,968 writes failed after 5 s;
    polled, 0 of 5,058.
    """
    started = 0.0

    def handler(attempt: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if attempt == 0:
            started = now
        if (now - started) * 1000 >= timeout_ms:
            return False
        time.sleep(random.uniform(0.001, 0.003))  # noqa: S311 - spreads the polling, no secret
        return True

    return handler


def _watch(connection: apsw.Connection) -> None:
    """Interrupt the connection's statements once the current deadline passed."""
    limit = deadline.current.get()
    if limit is not None:
        connection.set_progress_handler(limit.passed, _PROGRESS_STEPS)
