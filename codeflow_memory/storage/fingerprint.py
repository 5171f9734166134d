"""Fingerprint: a digest of what a database holds, whatever the order and place of its rows.

Version 1 of the logical fingerprint, as ``backup/FORMAT.md`` writes it down for backups: two
databases have one fingerprint exactly when they have the same tables, columns and values. Indexes,
free pages and the order in which rows came do not count.
"""

import hashlib
import struct
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage.engine import Table, Transaction

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
    return [_digest(tx, table) for table in tx.tables() if table.name not in without]


def _digest(tx: Transaction, table: Table) -> TableDigest:
    whole, rows, block = hashlib.sha256(), 0, bytearray()
    for column in table.columns:
        block += _sized(column.encode())
    try:
        for row in tx.stream(all_rows(table)):
            rows += 1
            for value in row:
                block += _ENCODED[type(value)](value)
            if len(block) >= _BLOCK_BYTES:
                whole.update(block)
                block.clear()
    except UnicodeDecodeError:
        raise StoreUnusableError(f"table {table.name}", "a text in it is no UTF-8") from None
    whole.update(block)
    return TableDigest(table.name, rows, whole.digest())


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
