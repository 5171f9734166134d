"""What stands in a home on disk: its files, and of a database server every row as a dump has it."""

from collections.abc import Iterator

from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.databases import of
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.fingerprint import all_rows
from codeflow_memory.storage.home import DATABASE, Home

IN_DATABASE = "the database"
"""The name of what is in a tenant's database, whichever engine keeps it."""


def of_home(tenants: Tenants) -> Iterator[tuple[str, bytes]]:
    """Yield the name and bytes of each file, and then of each row that a server has.

    The stores stay open: nothing that only their end would take away is overlooked.
    """
    for path in sorted(tenants.home.path.rglob("*")):
        if path.is_file():
            yield IN_DATABASE if path.name == DATABASE else path.name, path.read_bytes()
    if tenants.home.server is not None:
        for tenant in tenants.slugs():
            with tenants.get(tenant).engine.read() as tx:
                for rows in content(tx).values():
                    yield from ((IN_DATABASE, _bytes_of(row)) for row in rows)


def content(tx: Transaction) -> dict[str, list]:
    """Every row of every table, in the order of their keys."""
    return {table.name: tx.rows(all_rows(table)) for table in tx.tables()}


def state(home: Home) -> dict[str, object]:
    """Every file but the locks, which hold nothing, and every row that a server has."""
    found: dict[str, object] = {
        str(path.relative_to(home.path)): path.read_bytes()
        for path in sorted(home.path.rglob("*"))
        if path.is_file() and path.name != "lock"
    }
    if home.server is not None:
        databases = of(home)
        for tenant in databases.slugs():
            with databases.engine(tenant).read() as tx:
                found[tenant] = content(tx)
        databases.close()
    return found


def _bytes_of(row: tuple) -> bytes:
    values = (value if isinstance(value, bytes) else str(value).encode() for value in row)
    return b"\0".join(values)
