"""Fingerprint: a digest of what a database holds, whatever the order and place of its rows.

Version 1 of the logical fingerprint, as ``backup/FORMAT.md`` writes it down for backups: two
databases have one fingerprint exactly when they have the same tables, columns and values. Indexes,
free pages and the order in which rows came do not count.
"""

import hashlib
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage.engine import Row, Table, Transaction

BATCH_ROWS = 500
"""How many rows are in memory at a time."""

_BLOCK_BYTES = 1 << 18
"""How much is hashed at a time: a call for each row would take as long as encoding it."""


@dataclass(frozen=True, slots=True)
class TableDigest:
    """What one table holds: its name, how many rows, and the SHA-256 over columns and rows."""

    name: str
    rows: int
    digest: bytes


def of_database(tx: Transaction, without: Collection[str] = ()) -> str:
    """Return the fingerprint of the snapshot that *tx* reads, 64 lower-case hex digits.

    Args:
        tx: The transaction; every row is read.
        without: Tables that do not count.

    Raises:
        StoreUnusableError: A stored text is no UTF-8.
    """
    return combined(of_tables(tx, without))


def combined(tables: Iterable[TableDigest]) -> str:
    """Return the fingerprint of a database with *tables*, in the order of `of_tables`."""
    whole = hashlib.sha256()
    for table in tables:
        name = table.name.encode()
        whole.update(struct.pack(">I", len(name)) + name)
        whole.update(struct.pack(">Q", table.rows) + table.digest)
    return whole.hexdigest()


def of_tables(tx: Transaction, without: Collection[str] = ()) -> list[TableDigest]:
    """Return the digest of each table that is not the engine's own, in byte order of the names.

    Raises:
        StoreUnusableError: A stored text is no UTF-8.
    """
    return [of_table(tx, table) for table in tx.tables() if table.name not in without]


class Running:
    """The digest of a table, made of its rows as they come by, in the order of its key.

    Args:
        table: The table.
    """

    def __init__(self, table: Table) -> None:
        self._name = table.name
        self._whole, self._rows, self._block = hashlib.sha256(), 0, bytearray()
        for column in table.columns:
            self._block += _sized(column.encode())

    def add(self, rows: Sequence[Row]) -> None:
        """Take the next rows in, with every column."""
        block = self._block
        for row in rows:
            for value in row:
                block += _ENCODED[type(value)](value)
        self._rows += len(rows)
        if len(block) >= _BLOCK_BYTES:
            self._whole.update(block)
            block.clear()

    def end(self) -> TableDigest:
        """Return what came by."""
        self._whole.update(self._block)
        self._block.clear()
        return TableDigest(self._name, self._rows, self._whole.digest())


def batches(tx: Transaction, table: Table) -> Iterator[list[Row]]:
    """Yield every row of a table, many at a time, in the order of its key.

    Raises:
        StoreUnusableError: A stored text is no UTF-8.
    """
    rows = tx.stream(all_rows(table))
    try:
        while batch := list(islice(rows, BATCH_ROWS)):
            yield batch
    except UnicodeDecodeError:
        raise StoreUnusableError(f"table {table.name}", "a text in it is no UTF-8") from None


def of_table(tx: Transaction, table: Table) -> TableDigest:
    """Return the digest of one table."""
    running = Running(table)
    for batch in batches(tx, table):
        running.add(batch)
    return running.end()


def all_rows(table: Table) -> str:
    """Return the statement that reads a table by its key; the names are those of the schema."""
    selected = ", ".join(map(quoted, table.columns))
    order = ", ".join(map(quoted, table.key or table.columns))
    return f"SELECT {selected} FROM {quoted(table.name)} ORDER BY {order}"  # noqa: S608 - quoted names


def quoted(name: str) -> str:
    """Return a name of the schema as a statement has it."""
    return '"' + name.replace('"', '""') + '"'


def _sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


_ENCODED: dict[type, Callable[..., bytes]] = {
    type(None): lambda _: b"n",
    int: partial(struct.pack, ">cq", b"i"),
    float: partial(struct.pack, ">cd", b"r"),
    str: lambda text: b"t" + _sized(text.encode()),
    bytes: lambda data: b"b" + _sized(data),
}
"""What stands for a value: a letter for its type, then its bytes; a length before what has one."""
