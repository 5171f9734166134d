"""Connections: those of one process to one PostgreSQL database, kept for the next transaction.

Who needs one opens it itself. So a server that is away is told at once instead of after a wait, and
one that is back is used by the next request, however long it was away. A kept connection that died
meanwhile is noticed by the statement that opens the transaction: nothing has begun then, and the
next one is taken.

Each connection holds an advisory lock of the database, shared; who migrates holds it alone, on the
only connection that it has. Locks go with their connections: after a restart of the server, or of
its machine, nothing is left behind, and nobody comes back without taking the lock again.
"""

import math
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from codeflow_memory.domain import deadline
from codeflow_memory.domain.errors import (
    BusyError,
    DeadlineExceededError,
    InternalError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.storage.engine import APPLICATION_ID, Row
from codeflow_memory.storage.servers import NAME

MAX_CONNECTIONS = 12
"""Of one process: its threads, its worker, and a few that read while they write."""

CONNECT_SECONDS = 5.0
"""How long a connection may take to come about, and a thread waits for one of the others'; never
past the deadline of the request."""

IDLE_SECONDS = 60.0
IN_TRANSACTION_SECONDS = 60
"""After so long without a statement the server ends a transaction: a process that hangs in one
must not keep all others from writing."""

SILENT_SECONDS = 10
"""After so long without a sign of life a connection over a network counts as lost."""

MAX_SCHEMAS = 32
"""A connection that served more is closed: the server keeps 2 MB for each, and lets none go."""

PLANNED_SECONDS = 10.0
"""How long plans are kept. One that was made for a small table is bad for the large one that it
became; all that are in use are made again in 10 ms."""

_PLANS = "; ".join(
    f"SET {name} = {value}"
    for name, value in {
        "plan_cache_mode": "force_generic_plan",
        "join_collapse_limit": "1",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_memoize": "off",
        "jit": "off",
    }.items()
)
"""Plans that follow from the statement, as in SQLite: joins in its order, by its indexes, and the
same whatever the values. Statistics come minutes after a schema was filled: none are needed."""

_IN_USE_SECONDS = 2
"""How long who wants the database alone waits for connections that are just being closed."""


class Connection(psycopg.Connection[Row]):
    """A connection that remembers what was found out on it.

    ``current`` are the schemas that are no newer than this program; while it is open nobody can
    make them so. ``schema`` is the one that it served last: its plans are ready. ``planned_at`` is
    when it began to keep plans, monotonic seconds.
    """

    current: set[str]
    schema: str
    planned_at: float


class Connections:
    """The connections of one process; shared by its threads.

    Args:
        url: Names the database and the login.
        alone: Whether nobody else may use the database meanwhile.
    """

    def __init__(self, url: str, *, alone: bool = False) -> None:
        self._url = url
        self._alone = alone
        self._room = threading.BoundedSemaphore(1 if alone else MAX_CONNECTIONS)
        self._kept: deque[tuple[float, Connection]] = deque()
        self._lock = threading.Lock()
        self._closed = False
        # Who lets go of it without a word leaves no connection open either.
        weakref.finalize(self, _close_kept, self._kept)

    @contextmanager
    def transaction(self, opening: str, schema: str = "") -> Iterator[Connection]:
        """Lend a connection in a transaction; commit it at the block's end.

        Args:
            opening: Statements without parameters, the first of them a ``BEGIN``: one round trip.
            schema: Whose they are; the connection that served it last is the first choice.

        Raises:
            BusyError: All connections were in use for too long.
            DeadlineExceededError: They were in use until the deadline of the request.
            InternalError: The block passed over the error of a statement, or ended the transaction.
            StoreUnusableError: The login is refused, the server only reads, a migration holds the
                database, or others use what is wanted alone.
            UnreachableError: The connection was lost.
            psycopg.Error: What the server says.
        """
        self._wait_for_room()
        try:
            connection = self._begin(opening.encode(), schema)
            try:
                yield connection
                match connection.info.transaction_status:
                    case TransactionStatus.INTRANS:
                        connection.commit()
                    case TransactionStatus.UNKNOWN:
                        raise UnreachableError
                    case _:
                        # Its COMMIT would roll back without a word.
                        raise InternalError
            finally:
                self._take_back(connection)
        finally:
            self._room.release()

    def close(self) -> None:
        """Close the kept connections, and each that is lent when it comes back."""
        with self._lock:
            self._closed = True
            kept = [connection for _, connection in self._kept]
            self._kept.clear()
        for connection in kept:
            connection.close()

    def _wait_for_room(self) -> None:
        patience = _patience()
        if not self._room.acquire(timeout=patience):
            raise DeadlineExceededError if patience < CONNECT_SECONDS else BusyError

    def _begin(self, opening: bytes, schema: str) -> Connection:
        while True:
            kept = self._taken(schema)
            connection = kept or self._opened()
            connection.schema = schema
            try:
                connection.execute(opening + _replanning(connection), prepare=False)
            except errors.FeatureNotSupported:
                # So a standby refuses to begin what may write.
                self._take_back(connection)
                raise StoreUnusableError("the database", _READ_ONLY) from None
            except BaseException as error:
                self._take_back(connection)
                if kept is not None and kept.closed and isinstance(error, psycopg.Error):
                    continue
                raise
            return connection

    def _taken(self, schema: str) -> Connection | None:
        with self._lock:
            places = range(len(self._kept) - 1, -1, -1)
            place = next((p for p in places if self._kept[p][1].schema == schema), -1)
            if not self._kept:
                return None
            connection = self._kept[place][1]
            del self._kept[place]
            return connection

    def _take_back(self, connection: Connection) -> None:
        if connection.info.transaction_status is not TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                connection.rollback()
        now, idle = time.monotonic(), connection.info.transaction_status is TransactionStatus.IDLE
        gone = []
        with self._lock:
            if idle and not self._closed and len(connection.current) <= MAX_SCHEMAS:
                self._kept.append((now, connection))
            else:
                gone.append(connection)
            while self._kept and now - self._kept[0][0] > IDLE_SECONDS:
                gone.append(self._kept.popleft()[1])
        for one in gone:
            one.close()

    def _opened(self) -> Connection:
        try:
            connection = Connection.connect(
                self._url,
                autocommit=True,
                application_name=NAME,
                # The library makes 2 seconds of less.
                connect_timeout=math.ceil(_patience()),
                keepalives_idle=SILENT_SECONDS // 2,
                keepalives_interval=1,
                keepalives_count=SILENT_SECONDS // 2,
                tcp_user_timeout=SILENT_SECONDS * 1_000,
            )
        except psycopg.OperationalError as error:
            if _REFUSED.search(str(error)):
                raise StoreUnusableError("the database", _NO_LOGIN) from None
            # Without the library's text, which has the address.
            raise UnreachableError from None
        try:
            self._configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: Connection) -> None:
        connection.current, connection.planned_at = set(), time.monotonic()
        how, seconds = ("", _IN_USE_SECONDS) if self._alone else ("_shared", _patience())
        try:
            connection.execute(
                f"SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; {_PLANS};"
                f" SET idle_in_transaction_session_timeout = '{IN_TRANSACTION_SECONDS}s';"
                # Else a machine that vanished would keep its lock for hours.
                " SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10;"
                " SET tcp_keepalives_count = 3;"
                f" SET lock_timeout = '{seconds:.3f}s';"
                f" SELECT pg_advisory_lock{how}({APPLICATION_ID:d}); RESET lock_timeout".encode(),
                prepare=False,
            )
        except errors.LockNotAvailable:
            detail = "it is in use; stop its other servers first" if self._alone else _HELD
            raise StoreUnusableError("the database", detail) from None
        connection.adapters.register_dumper(str, StrDumper)
        connection.adapters.register_dumper(int, Int8Dumper)
        connection.adapters.register_dumper(bool, _FlagDumper)
        connection.adapters.register_loader("bool", _FlagLoader)
        connection.adapters.register_loader("numeric", _NumberLoader)


def _close_kept(kept: deque[tuple[float, Connection]]) -> None:
    while kept:
        kept.pop()[1].close()


def _patience() -> float:
    """Return for how many seconds to wait for a connection, more than none."""
    limit = deadline.current.get()
    return CONNECT_SECONDS if limit is None else min(CONNECT_SECONDS, limit.left_ms() / 1_000)


def _replanning(connection: Connection) -> bytes:
    now = time.monotonic()
    if now - connection.planned_at <= PLANNED_SECONDS:
        return b""
    connection.planned_at = now
    return b"; DISCARD PLANS"


_HELD = "a migration holds it; try again when that is done"
_READ_ONLY = "the server is read only; name its primary"
_NO_LOGIN = "the login is refused; check user, password, name and certificates in its address"

_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry"
    r"|(?:role|database) \"[^\"]*\" (?:does not exist|is not permitted to log in)"
    r"|permission denied for database|not currently accepting connections"
    r"|does not support SSL|certificate|invalid (?:\w+ value|port number|integer value)"
)
"""What no second attempt gets past; the library tells it by words alone. A server that speaks
another language is unreachable instead."""


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
