"""Copier: every row of one database, out of one snapshot, into an empty one of the same schema.

The two may be of different engines. Rows go in the order of their keys, table by table, each after
those that it refers to, a batch in memory at a time. What was read is hashed as it goes by; what
was written is read back and compared, table by table: who calls this commits nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.storage import fingerprint
from codeflow_memory.storage.engine import Engine, Row, Table, Transaction
from codeflow_memory.storage.fingerprint import TableDigest, quoted

_OTHER_TABLES = "its tables are not those that its schema has; nothing was copied"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a database held, and its copy holds.

    Args:
        tables: The digest of each table, in byte order of the names.
    """

    tables: tuple[TableDigest, ...]

    @property
    def rows(self) -> int:
        """How many rows all tables have."""
        return sum(table.rows for table in self.tables)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the whole."""
        return fingerprint.combined(self.tables)


def copy(source: Engine, target: Transaction, watch: Watch = unwatched) -> Copied:
    """Copy what *source* holds into the empty tables of *target*, and prove it.

    Args:
        source: Read in one snapshot.
        target: A transaction of its own, which an error undoes.
        watch: Is told how far it has come.

    Raises:
        StoreUnusableError: The tables differ, a text is no UTF-8, or the target does not give back
            what was written.
    """
    with source.read() as tx:
        tables = tx.tables()
        if _shapes(tables) != _shapes(target.tables()):
            raise StoreUnusableError(source.name, _OTHER_TABLES)
        read = {
            table.name: _fill(tx, target, table) for table in watch(_ordered(tables), "copying")
        }
        for table in tables:
            _connect(tx, target, table)
    for table in watch(tables, "verifying"):
        if fingerprint.of_table(target, table) != read[table.name]:
            raise StoreUnusableError(
                source.name, f"its copy is not the same: table {table.name}; nothing was kept"
            )
    return Copied(tuple(read[table.name] for table in tables))


def fingerprint_of(engine: Engine) -> str:
    """Return the fingerprint of what a database holds now."""
    with engine.read() as tx:
        return fingerprint.of_database(tx)


def _shapes(tables: Sequence[Table]) -> list[tuple[str, tuple[str, ...]]]:
    return [(table.name, table.columns) for table in tables]


def _ordered(tables: Sequence[Table]) -> list[Table]:
    """Sort tables so that each comes after those that its rows refer to, but for itself."""
    by_name = {table.name: table for table in tables}
    needs = {table.name: [to for _, to in table.references if to != table.name] for table in tables}
    return [by_name[name] for name in TopologicalSorter(needs).static_order()]


def _own(table: Table) -> list[str]:
    """List the columns that name rows of the same table: those may come in any order."""
    return [column for column, to in table.references if to == table.name]


def _fill(source: Transaction, target: Transaction, table: Table) -> TableDigest:
    """Insert every row, what refers to the same table left out for `_connect`."""
    running = fingerprint.Running(table)
    left_out = [table.columns.index(column) for column in _own(table)]
    insert = _insert(table)
    for batch in fingerprint.batches(source, table):
        running.add(batch)
        target.executemany(insert, [_without(row, left_out) for row in batch])
    return running.end()


def _connect(source: Transaction, target: Transaction, table: Table) -> None:
    for column in _own(table):
        places = [table.columns.index(name) for name in (column, *table.key)]
        update = _update(table, column)
        for batch in fingerprint.batches(source, table):
            chosen = [tuple(row[place] for place in places) for row in batch]
            target.executemany(update, [row for row in chosen if row[0] is not None])


def _without(row: Row, places: Sequence[int]) -> Row:
    if not places:
        return row
    return tuple(None if place in places else value for place, value in enumerate(row))


def _insert(table: Table) -> str:
    columns = ", ".join(map(quoted, table.columns))
    values = ", ".join(f":v{number}" for number in range(len(table.columns)))
    return f"INSERT INTO {quoted(table.name)} ({columns}) VALUES ({values})"  # noqa: S608 - quoted names


def _update(table: Table, column: str) -> str:
    keys = " AND ".join(f"{quoted(name)} = :k{at}" for at, name in enumerate(table.key))
    return f"UPDATE {quoted(table.name)} SET {quoted(column)} = :value WHERE {keys}"  # noqa: S608 - quoted names
