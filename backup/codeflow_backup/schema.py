"""Which schemas this program knows: a database of any other is neither backed up nor restored."""

import hashlib
import struct
from collections.abc import Mapping
from typing import Final

import apsw

from codeflow_backup.errors import UnusableError

APPLICATION_ID: Final = 0x43464D31
"""``CFM1``: marks a database as Code Flow Memory's."""

KNOWN: Final[Mapping[int, str]] = {
    1: "1d2307a0a20bf147bc5cdca91a305298b9ea1b6e18828b4d1bd475ee4bc9aa0c",
    2: "39a01e68ef5a85ef618750007d352622e9a1a52d36fa5e25635b5084679e5ab8",
    3: "89d33b9bf2f0e87d53f6be506df179da8a02e023c594c1105555a907ef299d95",
    4: "3714fd51cc24de9d7c74b8e45820d9cc1c2ebe3333da47e8a605fbbe20a74372",
    5: "7ec514d0e91306a27c0e1e1487c29b8d12c306470bdc8e90aeb5b9159f0b8a90",
    6: "3952832a569b04d50dd257dd5f860e28fe1a21ea250a93d5d7f0755cf61bc411",
    7: "f66e492d902c204c8faf49b1a803ec8dee896c0ae742ceaa8b7d98df91d61e92",
    8: "d3d96b8e87ab619a307cfe89d350cc63fb6b3720cd8da48be4e98ef46dbc04c0",
    9: "7df27db33a55080578f50e4582d3f91fa4755a5e4d52f02962a7e60bb02cf207",
}
"""Number of a schema to its digest; a test compares them with what the migrations make."""


def digest(connection: apsw.Connection) -> str:
    """Return the SHA-256 of every statement that made the schema, in hex.

    Each table, index, view and trigger counts with its type, name, table and statement, in byte
    order of type and name; what SQLite makes by itself does not.
    """
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    ).fetchall()
    parts = sorted(
        [str(value).encode() for value in row]
        for row in rows
        if not str(row[1]).startswith("sqlite_")
    )
    whole = hashlib.sha256()
    for row in parts:
        for part in row:
            whole.update(struct.pack(">I", len(part)) + part)
    return whole.hexdigest()


def check(name: str, version: int, found: str) -> None:
    """Refuse a schema that this program did not make.

    Args:
        name: The database's, in its home.
        version: The number that it says it has.
        found: Its digest.

    Raises:
        UnusableError: The number is not known, or its statements are others.
    """
    if version not in KNOWN:
        raise UnusableError(
            f"{name}: this program does not know schema {version}, only up to {max(KNOWN)}"
        )
    if KNOWN[version] != found:
        raise UnusableError(f"{name}: its tables are not those of schema {version}")
