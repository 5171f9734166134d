"""PostgreSQL, the engine beyond one machine: one schema and one role a tenant (spec 07 §4).

Every transaction takes the tenant's role and search path with ``SET LOCAL``, so a pooled connection
forgets them by itself. A write first locks the one row of ``store``: one writer a tenant, as in
SQLite, and under READ COMMITTED every later statement sees what the writer before it committed.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors, sql
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper
from psycopg_pool import ConnectionPool, PoolTimeout

from codeflow_memory.domain import deadline
from codeflow_memory.domain.errors import (
    BusyError,
    CodeflowError,
    DeadlineExceededError,
    StorageFullError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.storage import dialect, servers
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

MAX_CONNECTIONS = 12
"""Of one process: its threads, its worker, and a few that read while they write."""

CONNECT_SECONDS = 5.0
IDLE_SECONDS = 60.0
IN_TRANSACTION_SECONDS = 60
"""After so long without a statement the server ends a transaction: a process that hangs in one
must not keep all others from writing."""

_STREAMED_ROWS = 500
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_LOCK = "SELECT 1 FROM store WHERE singleton = 1 FOR UPDATE"

Connection = psycopg.Connection[Row]


class PostgreSQLTransaction(Transaction):
    """Statements on one connection."""

    __slots__ = ("_connection", "_deadline", "_streams")

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        super().__init__(writes=writes)
        self._connection = connection
        self._deadline = deadline.current.get()
        self._streams = 0

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows, in the statement's order."""
        return self._run(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        """Return the first row, or ``None`` when there is none."""
        return self._run(sql, parameters).fetchone()

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows as they are read; other statements may run in between."""
        self._check()
        self._streams += 1
        with self._connection.cursor(f"stream_{self._streams}") as cursor:
            cursor.itersize = _STREAMED_ROWS
            cursor.execute(dialect.statement(sql), parameters or {})
            yield from cursor

    def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run one writing statement and return how many rows it changed."""
        return max(0, self._run(sql, parameters).rowcount)

    def executemany(self, sql: str, parameters: Iterable[Parameters | Sequence[object]]) -> None:
        """Run one writing statement for each of *parameters*, without waiting in between."""
        self._check()
        given = list(parameters)
        by_place = bool(given) and not isinstance(given[0], Mapping)
        with self._connection.cursor() as cursor:
            cursor.executemany(dialect.statement(sql, by_place=by_place), given)

    def tables(self) -> list[Table]:
        """List the tables of the tenant's schema, in byte order of their names."""
        columns = self._run(_COLUMNS, None).fetchall()
        keys = self._run(_KEYS, None).fetchall()
        return [
            Table(
                name,
                tuple(column for table, column in columns if table == name),
                tuple(column for table, column in keys if table == name),
            )
            for name in sorted({table for table, _ in columns}, key=str.encode)
        ]

    def is_alive(self) -> bool:
        """Tell whether the transaction still stands: a lost connection ends it."""
        alive = {TransactionStatus.INTRANS, TransactionStatus.INERROR}
        return self._connection.info.transaction_status in alive

    def _run(self, sql: str, parameters: Parameters | None) -> psycopg.Cursor[Row]:
        self._check()
        return self._connection.execute(dialect.statement(sql), parameters or {})

    def _check(self) -> None:
        if self._deadline is not None and self._deadline.passed():
            raise DeadlineExceededError


_COLUMNS = """
SELECT c.relname, a.attname
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
 ORDER BY c.relname, a.attnum
"""
_KEYS = """
SELECT c.relname, a.attname
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indrelid
 CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
 WHERE c.relnamespace = current_schema()::regnamespace AND i.indisprimary
 ORDER BY c.relname, k.place
"""
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
  FROM pg_class AS c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
"""


class PostgreSQLEngine(Engine):
    """One tenant's schema.

    Args:
        pool: Connections of a login that may take the tenant's role.
        schema: The schema, and the role that owns it.
        name: What refusals call it.
        busy_timeout_ms: How long a writer waits for the lock before `BusyError`.
    """

    def __init__(
        self,
        pool: ConnectionPool[Connection],
        schema: str,
        name: str,
        *,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    ) -> None:
        super().__init__(name)
        self.schema = schema
        self._pool = pool
        self._as_tenant = as_tenant(schema)
        self._busy_timeout_ms = busy_timeout_ms

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Run the block on one consistent snapshot."""
        with self._transaction(_READ) as connection:
            yield PostgreSQLTransaction(connection, writes=False)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run the block with the row of ``store`` locked, and commit at its end."""
        with self._transaction(_WRITE, _LOCK) as connection:
            yield PostgreSQLTransaction(connection, writes=True)
        self.written = True

    def script(
        self,
        sql: str,
        *,
        user_version: int,  # noqa: ARG002 - the ledger that *record* writes says it here
        record: Callable[[Transaction], None] | None = None,
    ) -> None:
        """Run migrations, then *record*, in one transaction; of two at once the second waits."""
        try:
            with self._transaction(_WRITE) as connection:
                self._script(connection, sql, record)
        except psycopg.Error as error:
            raise MigrationError(str(error)) from error

    def create(self, prepare: str, sql: str, record: Callable[[Transaction], None]) -> None:
        """Make the schema with *prepare*, run migrations in it, then *record*: all or nothing.

        Args:
            prepare: Makes role and schema, as the login.
            sql: The migrations.
            record: Writes the ledger and the first rows.

        Raises:
            FileExistsError: The schema exists.
        """
        with translated(self.name), self._pool.connection() as connection:
            statements = (_WRITE, prepare, self._as_tenant)
            try:
                connection.execute("; ".join(statements).encode(), prepare=False)
            except errors.DuplicateSchema:
                raise FileExistsError from None
            except errors.InsufficientPrivilege:
                raise StoreUnusableError(self.name, servers.NO_RIGHTS) from None
            self._script(connection, sql, record)
        self.written = True

    def header(self) -> tuple[int, int]:
        """Return application and schema version."""
        return self.versions()

    def versions(self) -> tuple[int, int]:
        """Return application and schema version; of a schema that is not ours, zeros."""
        with self._transaction(_READ) as connection:
            tx = PostgreSQLTransaction(connection, writes=False)
            if tx.value("SELECT to_regclass('schema_migrations') IS NULL"):
                return 0, 0
            return APPLICATION_ID, int(tx.value("SELECT MAX(version) FROM schema_migrations"))

    def has_journal(self) -> bool:
        """Tell that nothing is half-written: the server recovers before it answers."""
        return False

    def quick_check(self) -> str | None:
        """Find nothing: the server checks its own pages."""
        return None

    def size_bytes(self) -> int:
        """Return the size of the tables with their indexes."""
        with self._transaction(_READ) as connection:
            return int(PostgreSQLTransaction(connection, writes=False).value(_SIZE))

    def close(self) -> None:
        """Keep the pool: it is every tenant's."""

    def _script(
        self, connection: Connection, sql: str, record: Callable[[Transaction], None] | None
    ) -> None:
        connection.execute(dialect.definition(sql), prepare=False)
        if record is not None:
            record(PostgreSQLTransaction(connection, writes=True))

    @contextmanager
    def _transaction(self, *opening: str) -> Iterator[Connection]:
        """Lend a connection in a transaction as the tenant's role; commit at the block's end."""
        with translated(self.name), self._pool.connection() as connection:
            begin, *then = opening
            statements = (begin, self._as_tenant, *self._timeouts(), *then)
            # One round trip. Such a list cannot be prepared.
            connection.execute("; ".join(statements).encode(), prepare=False)
            yield connection
            if connection.info.transaction_status is not TransactionStatus.INTRANS:
                # Its COMMIT would roll back without a word.
                raise UnreachableError

    def _timeouts(self) -> Iterator[str]:
        yield f"SET LOCAL lock_timeout = {self._busy_timeout_ms:d}"
        limit = deadline.current.get()
        if limit is not None:
            yield f"SET LOCAL statement_timeout = {limit.left_ms():d}"


def as_tenant(schema: str) -> str:
    """Return the statements that make the rest of a transaction the tenant's own."""
    quoted = sql.Identifier(schema).as_string(None)
    # Temporary tables last: else one could hide a table of the tenant.
    return f"SET LOCAL ROLE {quoted}; SET LOCAL search_path = {quoted}, pg_temp"


def open_pool(url: str) -> ConnectionPool[Connection]:
    """Return the connections of one process, opened as they are needed.

    Raises:
        InvalidRequestError: *url* is no address of a database.
    """
    servers.checked(url)
    # Its warnings quote the server's words, host and login, into logs that hold none of a client's.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    return ConnectionPool(
        url,
        min_size=0,
        max_size=MAX_CONNECTIONS,
        timeout=CONNECT_SECONDS,
        reconnect_timeout=CONNECT_SECONDS,
        max_idle=IDLE_SECONDS,
        num_workers=1,
        configure=_configure,
        check=ConnectionPool.check_connection,
        open=True,
        kwargs={
            "autocommit": True,
            "application_name": servers.NAME,
            "connect_timeout": int(CONNECT_SECONDS),
        },
    )


def _configure(connection: Connection) -> None:
    connection.execute(
        "SET client_encoding = 'UTF8'; SET jit = off; SET standard_conforming_strings = on;"
        f" SET idle_in_transaction_session_timeout = '{IN_TRANSACTION_SECONDS}s'".encode(),
        prepare=False,
    )
    connection.adapters.register_dumper(str, StrDumper)
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(bool, _FlagDumper)
    connection.adapters.register_loader("bool", _FlagLoader)
    connection.adapters.register_loader("numeric", _NumberLoader)


class _FlagDumper(Int8Dumper):
    """Sends a truth value as the columns have it: 0 or 1."""

    def dump(self, obj: bool) -> bytes:  # noqa: FBT001 - psycopg's own form
        return b"1" if obj else b"0"


class _FlagLoader(psycopg.adapt.Loader):
    """Reads what a comparison gives as SQLite gives it: 0 or 1."""

    def load(self, data: Any) -> int:  # noqa: ANN401 - a buffer
        return int(bytes(data) == b"t")


class _NumberLoader(psycopg.adapt.Loader):
    """Reads a sum of integers as one."""

    def load(self, data: Any) -> int:  # noqa: ANN401 - a buffer
        return int(bytes(data))


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the engine's errors into the product's; *name* is what refusals call the database."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        for kinds, of_name in _TRANSLATED:
            if isinstance(error, kinds):
                raise of_name(name) from error
        raise


_TRANSLATED: tuple[tuple[tuple[type[Exception], ...], Callable[[str], CodeflowError]], ...] = (
    (
        (errors.LockNotAvailable, errors.SerializationFailure, errors.DeadlockDetected),
        lambda _: BusyError(),
    ),
    ((errors.QueryCanceled,), lambda _: DeadlineExceededError()),
    ((errors.DiskFull,), lambda _: StorageFullError()),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        lambda name: StoreUnusableError(name, "it is damaged; restore the newest backup"),
    ),
    (
        (
            errors.UndefinedTable,
            errors.UndefinedObject,
            errors.InvalidSchemaName,
            errors.InsufficientPrivilege,
            errors.InvalidParameterValue,
        ),
        lambda name: StoreUnusableError(name, "its schema or role is missing, or not ours"),
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        lambda name: StoreUnusableError(name, "the server is read only; name its primary"),
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout),
        lambda _: UnreachableError(),
    ),
)
"""The first that fits; another error is a defect of the program."""
