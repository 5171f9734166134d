"""The logical fingerprint, version 1: a digest of the rows of a database, whatever file holds them.

`FORMAT.md` has it byte by byte. The server computes the same with code of its own.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import apsw

from codeflow_backup.errors import DamagedError
from codeflow_backup.manifest import Table

_BLOCK_BYTES = 1 << 17
"""Hashed at a time: a call for each row would take as long as writing it."""


def of_tables(connection: apsw.Connection) -> dict[str, Table]:
    """Return the digest of each table that is not SQLite's own, in byte order of the names.

    Raises:
        DamagedError: A stored text is no UTF-8.
    """
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not str(name).startswith("sqlite_")
    ]
    return {name: _of_table(connection, name) for name in sorted(names, key=str.encode)}


def combined(tables: Mapping[str, Table]) -> str:
    """Return the fingerprint of a database that has *tables*, in hex."""
    whole = hashlib.sha256()
    for name in sorted(tables, key=str.encode):
        whole.update(_sized(name.encode()))
        whole.update(struct.pack(">Q", tables[name].rows) + bytes.fromhex(tables[name].sha256))
    return whole.hexdigest()


def _of_table(connection: apsw.Connection, table: str) -> Table:
    described = connection.execute(
        "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (table,)
    ).fetchall()
    columns = [str(name) for name, _ in described]
    places = sorted((int(str(pk)), str(name)) for name, pk in described if pk)
    key = [name for _, name in places] or columns
    whole, block, rows = hashlib.sha256(), bytearray(), 0
    for column in columns:
        block += _sized(column.encode())
    try:
        for row in connection.execute(_all_rows(table, columns, key)):
            rows += 1
            for value in row:
                block += _TAGGED[type(value)](value)
            if len(block) >= _BLOCK_BYTES:
                whole.update(block)
                block.clear()
    except UnicodeDecodeError:
        raise DamagedError(f"a text in the table {table} is no UTF-8") from None
    whole.update(block)
    return Table(rows, whole.hexdigest())


def _all_rows(table: str, columns: Iterable[str], key: Iterable[str]) -> str:
    """Return the statement that reads a table in the order of its key, for which no row waits."""
    selected = ", ".join(map(_quoted, columns))
    order = ", ".join(f"{_quoted(column)} COLLATE BINARY" for column in key)
    return f"SELECT {selected} FROM {_quoted(table)} ORDER BY {order}"  # noqa: S608 - quoted names of the schema


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


_TAGGED: Mapping[type, Callable[..., bytes]] = {
    type(None): lambda _: b"n",
    int: partial(struct.pack, ">cq", b"i"),
    float: partial(struct.pack, ">cd", b"r"),
    str: lambda text: b"t" + _sized(text.encode()),
    bytes: lambda data: b"b" + _sized(data),
}
"""A letter for the type, then the value; a length before what has one."""
