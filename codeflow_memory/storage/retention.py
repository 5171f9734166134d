"""What retention reads: entries by age, what derives from them, and when they were last used.

Whole repositories are read through: it is asked rarely, and an index for it would slow every write.
"""

import json
from collections.abc import Collection as Several
from collections.abc import Iterator

from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.retention import Aged
from codeflow_memory.storage import manifests
from codeflow_memory.storage.engine import Row, Transaction


def unchanged_since(tx: Transaction, repository_id: str, at: int) -> list[Aged]:
    """List the entries that stand and last changed at *at* or before, by id; unused as it seems."""
    rows = tx.rows(
        """
        SELECT memory_id, project_id, scope_id, revision, collection, kind, status, updated_at
          FROM memories
         WHERE repository_id = :repository_id
           AND status <> 'deleted'
           AND updated_at <= :at
         ORDER BY memory_id
        """,
        {"repository_id": repository_id, "at": at},
    )
    return [
        Aged(
            memory_id,
            repository_id,
            project_id,
            scope_id,
            revision,
            Collection(collection),
            Kind(kind),
            Status(status),
            updated_at,
        )
        for memory_id, project_id, scope_id, revision, collection, kind, status, updated_at in rows
    ]


def derivations(tx: Transaction, repository_id: str) -> list[tuple[str, int, str]]:
    """List ``(entry, its scope, its origin)`` of each ``derived_from`` that stands in a repository.

    The origin may lie in another repository. Each pair once, in order.
    """
    rows = tx.rows(
        """
        SELECT DISTINCT r.memory_id, r.scope_id, e.key
          FROM scopes AS s
         CROSS JOIN entities AS e
         CROSS JOIN relationships AS r
         WHERE s.repository_id = :repository_id
           AND e.repository_id = :repository_id
           AND e.project_id = s.project_id
           AND e.kind = 'memory'
           AND r.scope_id = s.scope_id
           AND r.target = e.entity_id
           AND r.type = 'derived_from'
         ORDER BY r.memory_id, e.key
        """,
        {"repository_id": repository_id},
    )
    return [(child, scope_id, origin) for child, scope_id, origin in rows]


def used_after(
    tx: Transaction, repository_id: str, memory_ids: Several[str], at: int
) -> dict[str, int]:
    """Return when each of *memory_ids* was last used after *at*; who was not used is left out.

    A use is a place in a selection's manifest, among the entries or those left out for want of
    room, or a judgement.
    """
    marks = {manifests.mark(memory_id): memory_id for memory_id in memory_ids}
    used: dict[str, int] = {}
    for created_at, listed in _listed(tx, repository_id, at):
        for mark in listed & marks.keys():
            used[marks[mark]] = max(created_at, used.get(marks[mark], 0))
    for memory_id, judged_at in _judged(tx, repository_id, at):
        if memory_id in memory_ids:
            used[memory_id] = max(judged_at, used.get(memory_id, 0))
    return used


_PAGE = 1_000
"""Manifests that are read at a time."""


def _listed(tx: Transaction, repository_id: str, at: int) -> Iterator[tuple[int, set[bytes]]]:
    """Yield when each manifest after *at* was made, and the marks of the entries that it lists."""
    after = ""
    while True:
        page = _manifests(tx, repository_id, at, after)
        for _, created_at, listed, record in page:
            yield created_at, _marks(listed, record)
        if len(page) < _PAGE:
            return
        after = page[-1][0]


def _manifests(tx: Transaction, repository_id: str, at: int, after: str) -> list[Row]:
    # The record only where the list went with the free text: it is twenty times as long.
    return tx.rows(
        """
        SELECT m.manifest_id, m.created_at, l.listed,
               CASE WHEN l.listed IS NULL THEN m.record END
          FROM manifests AS m
          LEFT JOIN manifest_lists AS l
            ON l.repository_id = m.repository_id
           AND l.manifest_id = m.manifest_id
         WHERE m.repository_id = :repository_id
           AND m.manifest_id > :after
           AND m.created_at > :at
         ORDER BY m.manifest_id
         LIMIT :limit
        """,
        {"repository_id": repository_id, "after": after, "at": at, "limit": _PAGE},
    )


def _marks(listed: bytes | None, record: str | None) -> set[bytes]:
    if listed is not None:
        size = manifests.MARK_BYTES
        return {listed[i : i + size] for i in range(0, len(listed), size)}
    told = json.loads(record or "{}")
    return {
        manifests.mark(entry["memory_id"])
        for part in ("entries", "omitted")
        for entry in told.get(part, ())
    }


def _judged(tx: Transaction, repository_id: str, at: int) -> list[Row]:
    return tx.rows(
        """
        SELECT memory_id, MAX(at)
          FROM feedback
         WHERE repository_id = :repository_id
           AND at > :at
         GROUP BY memory_id
         ORDER BY memory_id
        """,
        {"repository_id": repository_id, "at": at},
    )
