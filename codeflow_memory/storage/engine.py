"""The one seam between the product and its database engines: open, read, write, translate errors.

A `Transaction` is what statements run on; `Engine.read` and `Engine.write` are the only ways to get
one. ``sqlite.py`` and ``postgresql.py`` are the two engines, ``databases.py`` makes the right one;
nothing outside this folder knows which of them runs.

Statements are written once, in the SQL that both understand; what little differs, ``dialect.py``
rewrites. Values are ``int``, ``str``, ``bytes`` and ``None``, and ``float`` where a column says so.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

APPLICATION_ID = 0x43464D31
"""``CFM1``: marks a database as ours."""

BUSY_TIMEOUT_MS = 5_000
"""How long a writer waits for another one."""

Row = tuple[Any, ...]
Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the schema has it.

    Args:
        name: Its name.
        columns: Its columns, in their order.
        key: The columns of its primary key, in the key's order; empty without one.
        references: Its foreign keys, a pair for each column: the column, and whose rows it names.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    references: tuple[tuple[str, str], ...] = ()


class Transaction(ABC):
    """Statements inside one transaction.

    Args:
        writes: Whether it may write.
    """

    __slots__ = ("writes",)

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes

    @abstractmethod
    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows, in the statement's order."""

    @abstractmethod
    def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        """Return the first row, or ``None`` when there is none."""

    @abstractmethod
    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows as they are read: for more than belongs into memory at once."""

    @abstractmethod
    def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run one writing statement and return how many rows it changed."""

    @abstractmethod
    def executemany(self, sql: str, parameters: Iterable[Parameters | Sequence[object]]) -> None:
        """Run one writing statement for each of *parameters*."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """List the tables, in byte order of their names; not those of the engine itself."""

    @abstractmethod
    def is_alive(self) -> bool:
        """Tell whether the transaction still stands: a failing disk or connection ends it."""

    def each(self, sql: str, parameters: Iterable[Parameters]) -> list[list[Row]]:
        """Run one reading statement with each of *parameters*, and return the rows of each."""
        return [self.rows(sql, given) for given in parameters]

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:  # noqa: ANN401 - a column
        """Return the first column of the first row, or ``None`` when there is none."""
        return (self.row(sql, parameters) or (None,))[0]

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Run the block so that an error in it undoes what it wrote, and nothing before it."""
        self.execute("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            if self.is_alive():
                self.execute("ROLLBACK TO SAVEPOINT attempt")
                self.execute("RELEASE SAVEPOINT attempt")
            raise
        self.execute("RELEASE SAVEPOINT attempt")


class Engine(ABC):
    """One tenant's database; may be shared by threads.

    Args:
        name: What refusals call it: never a path or an address of the host.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.written = False
        """Whether a transaction that may write came to its end here."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """Run the block on one consistent snapshot.

        Raises:
            BusyError: The engine cannot be reached.
            DeadlineExceededError: The request's deadline passed.
        """

    @abstractmethod
    def write(self) -> AbstractContextManager[Transaction]:
        """Run the block as the database's only writer, on what is newest, and commit at its end.

        An error in the block undoes all of it. An error from the commit itself is no proof that
        nothing was written: the caller reads its receipt.

        Raises:
            BusyError: Another writer was at work for longer than the busy timeout.
            UnreachableError: The engine went away, perhaps after the commit.
            StorageFullError: No room.
        """

    @abstractmethod
    def script(
        self,
        sql: str,
        *,
        user_version: int,
        record: Callable[[Transaction], object] | None = None,
    ) -> None:
        """Run migrations, then *record*, and raise the version, in one transaction.

        Args:
            sql: Statements without parameters.
            user_version: The schema that they lead to.
            record: Writes down that they were run; it may need parameters.

        Raises:
            MigrationError: A statement failed; nothing was changed.
        """

    @abstractmethod
    def header(self) -> tuple[int, int]:
        """Return application and schema version, without opening what is not known to be ours."""

    @abstractmethod
    def versions(self) -> tuple[int, int]:
        """Return the database's application and schema version."""

    @abstractmethod
    def has_journal(self) -> bool:
        """Tell whether a change is going on, or was interrupted: `header` may be torn then."""

    @abstractmethod
    def quick_check(self) -> str | None:
        """Return what is wrong with the database, or ``None`` when it is sound."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Return how much room it takes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of every idle connection of this database."""


class MigrationError(Exception):
    """A statement of a migration failed; the database is as it was."""
