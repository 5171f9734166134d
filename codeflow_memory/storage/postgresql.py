"""PostgreSQL, the engine beyond one machine: one schema and one role a tenant (spec 07 §4).

Every transaction takes the tenant's role and search path with ``SET LOCAL``, so a pooled connection
forgets them by itself. A write first locks the one row of ``store``: one writer a tenant, as in
SQLite, and under READ COMMITTED every later statement sees what the writer before it committed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

import psycopg
from psycopg import errors, sql
from psycopg.pq import TransactionStatus

from codeflow_memory.domain import deadline
from codeflow_memory.domain.errors import (
    BusyError,
    CodeflowError,
    ContentionError,
    DeadlineExceededError,
    InternalError,
    LimitExceededError,
    StorageFullError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.storage import bulk, catalog, dialect, migrate, servers
from codeflow_memory.storage.connections import Connection, Connections
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

_BATCH_ROWS = 500
"""How many rows are read or written in one round trip."""

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_LOCK = "SELECT 1 FROM store WHERE singleton = 1 FOR UPDATE"
_ALONE = "LOCK TABLE store IN ACCESS EXCLUSIVE MODE"
"""At first, and not after the row: whoever waits for that would be waited for as well."""


class PostgreSQLTransaction(Transaction):
    """Statements on one connection, until the transaction is over."""

    __slots__ = ("_connection", "_deadline", "_is_over", "_streams")

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        super().__init__(writes=writes)
        self._connection = connection
        self._deadline = deadline.current.get()
        self._is_over = False
        self._streams: list[psycopg.ServerCursor[Row]] = []

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows, in the statement's order."""
        return self._run(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        """Return the first row, or ``None`` when there is none."""
        return self._run(sql, parameters).fetchone()

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows as they are read; other statements may run in between."""
        self._check()
        with self._connection.cursor(f"stream_{len(self._streams)}") as cursor:
            self._streams.append(cursor)
            cursor.execute(dialect.statement(sql), dialect.sendable(sql, parameters or {}))
            while rows := cursor.fetchmany(_BATCH_ROWS):
                yield from rows
                self._check()

    def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run one writing statement and return how many rows it changed."""
        return max(0, self._run(sql, parameters).rowcount)

    def each(self, sql: str, parameters: Iterable[Parameters]) -> list[list[Row]]:
        """Run one reading statement with each of *parameters*, all in one round trip."""
        given = [dialect.sendable(sql, one) for one in parameters]
        joined = bulk.of(sql, given, bulk.reading)
        if joined is None:
            return super().each(sql, given)
        self._check()
        found: list[list[Row]] = [[] for _ in given]
        # Whole, and then cut: going through the cursor row by row takes twice as long.
        for row in self._connection.execute(joined.statement, (joined.rows,)).fetchall():
            found[row[0] - 1].append(row[1:])
        return found

    def executemany(self, sql: str, parameters: Iterable[Parameters | Sequence[object]]) -> None:
        """Run one writing statement for each of *parameters*, a batch in one round trip."""
        given = iter(parameters)
        # Listed: what comes from another statement must have come before the batch is sent.
        while batch := list(islice(given, _BATCH_ROWS)):
            self._check()
            self._batch(sql, batch)

    def tables(self) -> list[Table]:
        """List the tables of the tenant's schema, in byte order of their names."""
        return catalog.tables(self)

    def is_alive(self) -> bool:
        """Tell whether the transaction still stands: a lost connection ends it."""
        alive = {TransactionStatus.INTRANS, TransactionStatus.INERROR}
        return self._connection.info.transaction_status in alive

    def end(self) -> None:
        """Run nothing more: the connection is about to be another transaction's."""
        self._is_over = True
        for cursor in self._streams:
            cursor.close()

    def _batch(self, sql: str, given: Sequence[Parameters | Sequence[object]]) -> None:
        if any(dialect.is_unkept(one) for one in given):
            raise dialect.unkept()
        joined = bulk.of(sql, given, bulk.writing)
        if joined is not None:
            self._connection.execute(joined.statement, (joined.rows,))
            return
        by_place = not isinstance(given[0], Mapping)
        with self._connection.cursor() as cursor:
            cursor.executemany(dialect.statement(sql, by_place=by_place), given)

    def _run(self, sql: str, parameters: Parameters | None) -> psycopg.Cursor[Row]:
        self._check()
        sent = dialect.sendable(sql, parameters or {})
        return self._connection.execute(dialect.statement(sql), sent)

    def _check(self) -> None:
        if self._is_over:
            raise InternalError
        if self._deadline is not None and self._deadline.passed():
            raise DeadlineExceededError


_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
  FROM pg_class AS c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
"""


@contextmanager
def _ended(connection: Connection, *, writes: bool) -> Iterator[PostgreSQLTransaction]:
    """Run statements on *connection* in the block, and none after it."""
    tx = PostgreSQLTransaction(connection, writes=writes)
    try:
        yield tx
    finally:
        tx.end()


class PostgreSQLEngine(Engine):
    """One tenant's schema.

    Args:
        connections: Of a login that may take the tenant's role.
        schema: The schema, and unless *role* is given the role that owns it.
        name: What refusals call it.
        role: The role that owns it.
        busy_timeout_ms: How long a writer waits for the lock before `BusyError`.
    """

    def __init__(
        self,
        connections: Connections,
        schema: str,
        name: str,
        *,
        role: str | None = None,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    ) -> None:
        super().__init__(name)
        self.schema = schema
        self._connections = connections
        self._as_tenant = as_tenant(schema, role or schema)
        self._busy_timeout_ms = busy_timeout_ms

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Run the block on one consistent snapshot."""
        with self._transaction(_READ) as connection:
            self._refuse_newer(connection)
            with _ended(connection, writes=False) as tx:
                yield tx

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run the block with the row of ``store`` locked, and commit at its end."""
        with self._transaction(_WRITE, _LOCK) as connection:
            self._refuse_newer(connection)
            with _ended(connection, writes=True) as tx:
                yield tx
        self.written = True

    @contextmanager
    def alone(self) -> Iterator[Transaction]:
        """Run the block while nobody else is in a transaction that asked anything of the tenant."""
        with self._transaction(_WRITE, _ALONE) as connection:
            yield PostgreSQLTransaction(connection, writes=True)

    def script(
        self,
        sql: str,
        *,
        user_version: int,  # noqa: ARG002 - the ledger that *record* writes says it here
        record: Callable[[Transaction], object] | None = None,
    ) -> None:
        """Run migrations, then *record*, in one transaction; of two at once the second waits."""
        try:
            with self._transaction(_WRITE) as connection:
                self._script(connection, sql, record)
        except psycopg.Error as error:
            raise MigrationError(str(error)) from error

    def create(self, prepare: str, sql: str, record: Callable[[Transaction], object]) -> None:
        """Make the schema with *prepare*, run migrations in it, then *record*: all or nothing.

        Args:
            prepare: Makes role and schema, as the login.
            sql: The migrations.
            record: Writes the ledger and the first rows.

        Raises:
            FileExistsError: The schema exists.
        """
        opening = "; ".join((_WRITE, *self._timeouts()))
        with translated(self.name), self._connections.transaction(opening) as connection:
            try:
                connection.execute(f"{prepare}; {self._as_tenant}".encode(), prepare=False)
            except (errors.DuplicateSchema, errors.UniqueViolation):
                # The second is said to the later of two makers at the same moment.
                raise FileExistsError from None
            except errors.InsufficientPrivilege as error:
                taken = error.diag.message_primary == servers.TAKEN_ROLE
                detail = _NOT_OURS if taken else servers.NO_RIGHTS
                raise StoreUnusableError(self.name, detail) from None
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
            return APPLICATION_ID, migrate.version(tx)

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
        """Keep the connections: they are every tenant's."""

    def _script(
        self, connection: Connection, sql: str, record: Callable[[Transaction], object] | None
    ) -> None:
        connection.execute(dialect.definition(sql), prepare=False)
        if record is not None:
            with _ended(connection, writes=True) as tx:
                record(tx)

    def _refuse_newer(self, connection: Connection) -> None:
        """Refuse a schema that a newer program migrated since it was opened, once a connection.

        Raises:
            StoreUnusableError: It is one.
        """
        if self.schema not in connection.current:
            version = migrate.version(PostgreSQLTransaction(connection, writes=False))
            migrate.refuse_newer(self.name, version)
            connection.current.add(self.schema)

    @contextmanager
    def _transaction(self, *opening: str) -> Iterator[Connection]:
        """Lend a connection in a transaction as the tenant's role; commit at the block's end."""
        begin, *then = opening
        # One round trip. Such a list cannot be prepared.
        statements = "; ".join((begin, self._as_tenant, *self._timeouts(), *then))
        with (
            translated(self.name),
            self._connections.transaction(statements, self.schema) as connection,
        ):
            yield connection

    def _timeouts(self) -> Iterator[str]:
        yield f"SET LOCAL lock_timeout = {self._busy_timeout_ms:d}"
        limit = deadline.current.get()
        if limit is not None:
            yield f"SET LOCAL statement_timeout = {limit.left_ms():d}"


def as_tenant(schema: str, role: str) -> str:
    """Return the statements that make the rest of a transaction the tenant's own."""
    path, owner = (sql.Identifier(name).as_string(None) for name in (schema, role))
    # Temporary tables last: else one could hide a table of the tenant.
    return f"SET LOCAL ROLE {owner}; SET LOCAL search_path = {path}, pg_temp"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the engine's errors into the product's; *name* is what refusals call the database."""
    try:
        yield
    except psycopg.Error as error:
        for kinds, of_name in _TRANSLATED:
            if isinstance(error, kinds):
                raise of_name(name) from error
        raise


_INDEXED_BYTES = 2_704
"""So long may a row of an index be, compressed, which SQLite does not bound: the path of a
repository has 4,096 characters at most, and one that is all chance is too long from 2,650 on."""

_NOT_OURS = "its schema or role is missing, or not ours"
_READ_ONLY = "the server is read only; name its primary"

_TRANSLATED: tuple[tuple[tuple[type[Exception], ...], Callable[[str], CodeflowError]], ...] = (
    ((errors.LockNotAvailable,), lambda _: BusyError()),
    ((errors.SerializationFailure, errors.DeadlockDetected), lambda _: ContentionError()),
    ((errors.QueryCanceled,), lambda _: DeadlineExceededError()),
    ((errors.DiskFull,), lambda _: StorageFullError()),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        lambda name: StoreUnusableError(name, "it is damaged; restore the newest backup"),
    ),
    (
        (errors.SystemError, errors.IoError, errors.UndefinedFile, errors.DuplicateFile),
        lambda name: StoreUnusableError(name, "the server cannot read or write its files"),
    ),
    (
        (
            errors.UndefinedTable,
            errors.UndefinedObject,
            errors.InvalidSchemaName,
            errors.InsufficientPrivilege,
            errors.InvalidParameterValue,
        ),
        lambda name: StoreUnusableError(name, _NOT_OURS),
    ),
    ((errors.ReadOnlySqlTransaction,), lambda name: StoreUnusableError(name, _READ_ONLY)),
    # These would be refused again: not a matter of time, as the others of their class are.
    (
        (errors.ProgramLimitExceeded,),
        lambda _: LimitExceededError(
            "indexed_bytes", value=_INDEXED_BYTES + 1, maximum=_INDEXED_BYTES
        ),
    ),
    ((errors.StatementTooComplex, errors.TooManyColumns), lambda _: InternalError()),
    (
        (
            errors.IdleInTransactionSessionTimeout,
            psycopg.OperationalError,
            psycopg.InterfaceError,
        ),
        lambda _: UnreachableError(),
    ),
)
"""The first that fits; another error is a defect of the program."""
