"""Batches: what one mutation changed, as the audit tells it; what `undo` goes by."""

from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.storage.engine import Row, Transaction

UNDO = "undo"
"""The action of a revision that puts an earlier one back."""

UNDONE = "batch.undo"
"""The action of the row whose item is the batch that was put back."""


@dataclass(frozen=True, slots=True)
class Change:
    """One revision that a batch wrote; ``from_revision`` is ``None`` where it made the entry."""

    batch_id: str
    principal_id: str
    action: str
    memory_id: str
    from_revision: int | None
    to_revision: int


def changes(tx: Transaction, batch_id: str) -> list[Change]:
    """List what a batch changed of entries, in order."""
    rows = tx.rows(
        """
        SELECT batch_id, principal_id, action, item, from_revision, to_revision
          FROM audit
         WHERE batch_id = :batch_id
           AND scope_id IS NOT NULL
           AND to_status IS NOT NULL
         ORDER BY sequence
        """,
        {"batch_id": batch_id},
    )
    return [_change(row) for row in rows]


def of_revision(
    tx: Transaction, principal_id: str, at: int, memory_id: str, revision: int
) -> str | None:
    """Return the batch in which a principal wrote a revision at that time."""
    found = tx.value(
        """
        SELECT batch_id
          FROM audit
         WHERE principal_id = :principal_id
           AND at = :at
           AND item = :memory_id
           AND to_revision = :revision
           AND to_status IS NOT NULL
        """,
        {"principal_id": principal_id, "at": at, "memory_id": memory_id, "revision": revision},
    )
    return None if found is None else str(found)


def last_of(tx: Transaction, principal_id: str) -> str | None:
    """Return a principal's last batch that changed entries, but for undoing and what was undone."""
    undone: set[str] = set()
    for batch_id, action, item in _newest_first(tx, principal_id):
        if action == UNDONE:
            undone.add(item)
        elif action != UNDO and batch_id not in undone:
            return batch_id
    return None


def _newest_first(tx: Transaction, principal_id: str) -> Iterator[tuple[str, str, str]]:
    yield from tx.stream(
        """
        SELECT batch_id, action, item
          FROM audit
         WHERE principal_id = :principal_id
           AND (to_status IS NOT NULL OR action = 'batch.undo')
         ORDER BY at DESC, sequence DESC
        """,
        {"principal_id": principal_id},
    )


def _change(row: Row) -> Change:
    return Change(*row)
