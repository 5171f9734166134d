"""Audit: an append-only chain of rows, one for each change, in the change's own transaction."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.storage.engine import Transaction

Sign = Callable[[int, str, str], str]
"""``(epoch, previous hash, canonical row) -> hash``; the key stays with the caller."""

KEY_CHANGE = "key.change"
"""The action of the first row of every epoch but the first."""

CHECKPOINT = "audit.checkpoint"
"""The action of a mark: a line was added to the file of checkpoints; the item names it."""

RESTORE = "store.restore"
"""The action of the first row after a backup was put back; the item is the restore epoch."""

SYSTEM = "system"
"""The actor of what the program does by itself; no principal has this id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change: who did what to which item; no text of a memory.

    ``repository_id`` and ``scope_id`` are ``None`` for changes of the tenant itself.
    """

    at: int
    principal_id: str
    origin: str
    batch_id: str
    action: str
    item: str
    repository_id: str | None = None
    scope_id: int | None = None
    from_revision: int | None = None
    to_revision: int | None = None
    from_status: str | None = None
    to_status: str | None = None
    reason: str | None = None


_FIELDS = (
    "at",
    "principal_id",
    "origin",
    "batch_id",
    "action",
    "item",
    "repository_id",
    "scope_id",
    "from_revision",
    "to_revision",
    "from_status",
    "to_status",
    "reason",
)


def append(tx: Transaction, entry: Entry, sign: Sign) -> int:
    """Append a row to the chain and return its sequence number, from 1."""
    return append_all(tx, [entry], sign)


def append_all(tx: Transaction, entries: Iterable[Entry], sign: Sign) -> int:
    """Append rows to the chain in their order; return the last one's sequence number, from 1."""
    head = tx.row("SELECT audit_count, audit_head, audit_epoch FROM store WHERE singleton = 1")
    assert head is not None, "a migrated store has its one row"  # noqa: S101 - an invariant
    count, previous, epoch = head
    rows: list[dict[str, object]] = []
    for entry in entries:
        count += 1
        values: dict[str, object] = {name: getattr(entry, name) for name in _FIELDS}
        digest = sign(epoch, previous, canonical_json(values | {"sequence": count}))
        chained = {"sequence": count, "epoch": epoch, "previous_hash": previous, "hash": digest}
        rows.append(values | chained)
        previous = digest
    tx.executemany(
        """
        INSERT INTO audit (
            sequence, epoch, at, principal_id, origin, batch_id, action, item, repository_id,
            scope_id, from_revision, to_revision, from_status, to_status, reason, previous_hash,
            hash
        ) VALUES (
            :sequence, :epoch, :at, :principal_id, :origin, :batch_id, :action, :item,
            :repository_id, :scope_id, :from_revision, :to_revision, :from_status, :to_status,
            :reason, :previous_hash, :hash
        )
        """,
        rows,
    )
    tx.execute(
        "UPDATE store SET audit_count = :count, audit_head = :head WHERE singleton = 1",
        {"count": count, "head": previous},
    )
    return int(count)


def first_fault(tx: Transaction, sign: Sign) -> tuple[int, str] | None:
    """Return ``(sequence, what is wrong)`` of the first row that breaks the chain, else ``None``.

    A changed, dropped, swapped or added row is found; a tail cut off together with the count in
    ``store`` is not. Rows of an earlier epoch were signed with a key that is not here: of these
    only the order is checked. A later epoch must begin with the row of its change of keys, else
    every row could be passed off as an earlier one's.
    """
    head = tx.row("SELECT audit_count, audit_head, audit_epoch FROM store WHERE singleton = 1")
    assert head is not None, "a migrated store has its one row"  # noqa: S101 - an invariant
    expected, previous, latest = 1, "", 0
    for epoch, values, stored_previous, stored in _rows(tx):
        sequence = values["sequence"]
        if sequence != expected:
            return expected, "the row is missing"
        if stored_previous != previous:
            return expected, "the row does not follow the one before it"
        if latest < epoch == head[2] > 1 and values["action"] != KEY_CHANGE:
            return expected, "the epoch does not begin with a change of keys"
        signed = epoch != head[2] or sign(epoch, previous, canonical_json(values)) == stored
        # Else a row could be changed under the name of an epoch whose key is gone.
        if not (latest <= epoch <= head[2] and signed):
            return expected, "the row was changed"
        expected, previous, latest = expected + 1, stored, epoch
    if (expected - 1, previous) != (head[0], head[1]) or latest != head[2] > 1:
        return expected, "rows at the end are missing"
    return None


def page(
    tx: Transaction, scope_ids: Iterable[int], *, whole: bool, up_to: int, limit: int
) -> list[tuple[int, Entry]]:
    """List rows of some scopes, newest first, each with its sequence.

    Args:
        tx: The transaction.
        scope_ids: Whose entries.
        whole: Whether changes of the tenant itself are listed too.
        up_to: The highest sequence.
        limit: At most so many.
    """
    rows = tx.rows(
        """
        SELECT sequence, at, principal_id, origin, batch_id, action, item, repository_id,
               scope_id, from_revision, to_revision, from_status, to_status, reason
          FROM audit
         WHERE sequence <= :up_to
           AND (scope_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:scopes))
                OR (scope_id IS NULL AND :whole = 1))
         ORDER BY sequence DESC
         LIMIT :limit
        """,
        {
            "scopes": json.dumps(sorted(scope_ids)),
            "whole": int(whole),
            "up_to": up_to,
            "limit": limit,
        },
    )
    return [(row[0], Entry(*row[1:])) for row in rows]


def last_until(tx: Transaction, at: int) -> int:
    """Return the sequence of the last row that is not later than *at*; 0 without any.

    Times never step back along the chain, so it is looked for by halves: no index has them alone.
    """
    low, high = 0, count(tx)
    while low < high:
        middle = (low + high + 1) // 2
        found = tx.value("SELECT at FROM audit WHERE sequence = :sequence", {"sequence": middle})
        if found is not None and found <= at:
            low = middle
        else:
            high = middle - 1
    return low


def newest(tx: Transaction) -> int:
    """Return when the last change was made, Unix microseconds; 0 where its row is missing."""
    at: int = tx.value(
        """
        SELECT COALESCE((SELECT a.at FROM audit AS a WHERE a.sequence = s.audit_count), 0)
          FROM store AS s
         WHERE s.singleton = 1
        """
    )
    return at


def count(tx: Transaction) -> int:
    """Return how many rows the chain has."""
    return int(tx.value("SELECT audit_count FROM store WHERE singleton = 1"))


def count_earlier(tx: Transaction) -> int:
    """Return how many rows were signed with keys before this one: only their order is checked."""
    return int(
        tx.value(
            """
            SELECT COALESCE(
                       (SELECT MIN(a.sequence) - 1 FROM audit AS a WHERE a.epoch = s.audit_epoch),
                       s.audit_count
                   )
              FROM store AS s
             WHERE s.singleton = 1
            """
        )
    )


_PAGE = 1_000


def _rows(tx: Transaction) -> Iterator[tuple[int, dict[str, object], str, str]]:
    after = 0
    while True:
        rows = tx.rows(
            """
            SELECT sequence, at, principal_id, origin, batch_id, action, item, repository_id,
                   scope_id, from_revision, to_revision, from_status, to_status, reason,
                   previous_hash, hash, epoch
              FROM audit
             WHERE sequence > :after
             ORDER BY sequence
             LIMIT :page
            """,
            {"after": after, "page": _PAGE},
        )
        for row in rows:
            values = dict(zip(("sequence", *_FIELDS), row[:14], strict=True))
            yield row[16], values, row[14], row[15]
        if len(rows) < _PAGE:
            return
        after = rows[-1][0]
