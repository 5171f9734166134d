"""A small store with the product's file discipline, for the tests of the harness itself.

Every operation has the shape of the product's: one ``BEGIN IMMEDIATE``, receipt first, then the
row, its revision, its terms, an audit row and the receipt. `synchronous` is an argument, because
the controls need a store that is worse than the product.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

DATABASE = "memory.sqlite"

_SCHEMA = """
CREATE TABLE memories (
    memory_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, status TEXT NOT NULL, body TEXT
) STRICT;
CREATE TABLE memory_revisions (
    memory_id TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT,
    PRIMARY KEY (memory_id, revision)
) STRICT;
CREATE TABLE memory_terms (
    term TEXT NOT NULL, memory_id TEXT NOT NULL, PRIMARY KEY (term, memory_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    number INTEGER PRIMARY KEY, operation_id TEXT NOT NULL, memory_id TEXT NOT NULL
) STRICT;
CREATE TABLE receipts (
    operation_id TEXT PRIMARY KEY, memory_id TEXT NOT NULL, revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""


class StandIn:
    """The store; a connection per operation."""

    def __init__(self, home: Path, *, vfs: str | None = None, synchronous: str = "EXTRA") -> None:
        self._path = home / DATABASE
        self._vfs = vfs
        self._synchronous = synchronous

    def create_schema(self) -> None:
        """Make the tables."""
        with self._write() as tx:
            create_schema(tx)

    def put(self, operation_id: str, memory_id: str, body: str | None) -> int:
        """Write *body* as the next revision (``None`` deletes); return the revision."""
        with self._write() as tx:
            return put(tx, operation_id, memory_id, body)

    @contextmanager
    def _write(self) -> Iterator[apsw.Connection]:
        connection = apsw.Connection(str(self._path), vfs=self._vfs)
        try:
            connection.set_busy_timeout(5000)
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.pragma("synchronous", self._synchronous)
            connection.pragma("secure_delete", "ON")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()


def create_schema(tx: apsw.Connection) -> None:
    """Make the tables, inside the caller's transaction."""
    for statement in _SCHEMA.split(";\n"):
        tx.execute(statement)


def put(tx: apsw.Connection, operation_id: str, memory_id: str, body: str | None) -> int:
    """Write *body* as the next revision, once for each operation id."""
    known = tx.execute("SELECT revision FROM receipts WHERE operation_id = ?", (operation_id,)).get
    if known is not None:
        return known
    revision = append(tx, operation_id, memory_id, body)
    tx.execute("INSERT INTO receipts VALUES (?, ?, ?)", (operation_id, memory_id, revision))
    return revision


def append(tx: apsw.Connection, operation_id: str, memory_id: str, body: str | None) -> int:
    """Write *body* as the next revision, whatever was done before."""
    revision = tx.execute(
        """
        INSERT INTO memories (memory_id, revision, status, body)
        VALUES (?1, 1, ?2, ?3)
            ON CONFLICT (memory_id) DO
        UPDATE SET revision = revision + 1, status = ?2, body = ?3
        RETURNING revision
        """,
        (memory_id, "deleted" if body is None else "accepted", body),
    ).get
    if body is None:
        tx.execute("UPDATE memory_revisions SET body = NULL WHERE memory_id = ?", (memory_id,))
    tx.execute("INSERT INTO memory_revisions VALUES (?, ?, ?)", (memory_id, revision, body))
    tx.execute("DELETE FROM memory_terms WHERE memory_id = ?", (memory_id,))
    tx.executemany(
        "INSERT INTO memory_terms VALUES (?, ?)",
        [(term, memory_id) for term in sorted(set((body or "").split()))],
    )
    tx.execute(
        "INSERT INTO audit (operation_id, memory_id) VALUES (?, ?)", (operation_id, memory_id)
    )
    return revision


def check(connection: apsw.Connection) -> None:
    """Raise AssertionError unless terms, revisions, audit and receipts fit the memories."""
    bodies = dict(connection.execute("SELECT memory_id, body FROM memories").fetchall())
    terms = connection.execute("SELECT term, memory_id FROM memory_terms").fetchall()
    assert sorted(terms) == sorted(
        (term, memory_id)
        for memory_id, body in bodies.items()
        for term in set((body or "").split())
    )
    revisions = connection.execute("SELECT SUM(revision) FROM memories").get or 0
    for table in ("memory_revisions", "audit", "receipts"):
        count = connection.execute(f"SELECT COUNT(*) FROM {table}").get  # noqa: S608 - own names
        assert count == revisions, table
