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
from codeflow_memory.storage.engine import Transaction

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
    """Return the digest of each table that is not SQLite's own, in byte order of the names.

    Raises:
        StoreUnusableError: A stored text is no UTF-8.
    """
    names = [
        name
        for (name,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_") and name not in without
    ]
    return [_table(tx, name) for name in sorted(names, key=str.encode)]


def _table(tx: Transaction, name: str) -> TableDigest:
    described = tx.rows(
        "SELECT cid, name, pk FROM pragma_table_info(:name) ORDER BY cid", {"name": name}
    )
    columns = [column for _, column, _ in described]
    places = sorted((place, column) for _, column, place in described if place)
    key = [column for _, column in places] or columns
    whole, rows, block = hashlib.sha256(), 0, bytearray()
    for column in columns:
        block += _sized(column.encode())
    try:
        for row in tx.stream(_all_rows(name, columns, key)):
            rows += 1
            for value in row:
                block += _ENCODED[type(value)](value)
            if len(block) >= _BLOCK_BYTES:
                whole.update(block)
                block.clear()
    except UnicodeDecodeError:
        raise StoreUnusableError(f"table {name}", "a text in it is no UTF-8") from None
    whole.update(block)
    return TableDigest(name, rows, whole.digest())


def _all_rows(table: str, columns: Iterable[str], key: Iterable[str]) -> str:
    """Return the statement that reads a table by its key; the names are those of the schema."""
    selected = ", ".join(map(_quoted, columns))
    order = ", ".join(f"{_quoted(column)} COLLATE BINARY" for column in key)
    return f"SELECT {selected} FROM {_quoted(table)} ORDER BY {order}"  # noqa: S608 - quoted names


def _quoted(name: str) -> str:
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
