"""Trust: an entry's standing and what is left of it, and what became of the accepted ones."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from codeflow_memory.domain.memory import Status
from codeflow_memory.storage.engine import Transaction


def put(tx: Transaction, repository_id: str, memory_id: str, standing: int, trust: int) -> None:
    """Set standing and trust, in basis points; neither is a revision."""
    tx.execute(
        """
        UPDATE memories
           SET standing = :standing, trust = :trust
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "standing": standing,
            "trust": trust,
        },
    )


def temporal(tx: Transaction, repository_id: str, after: str, limit: int) -> list[tuple[int, str]]:
    """List ``(scope_id, memory_id)`` of the entries that age, behind the id *after*, by id."""
    rows = tx.rows(
        """
        SELECT scope_id, memory_id
          FROM memories
         WHERE repository_id = :repository_id
           AND kind = 'temporal'
           AND status IN ('accepted', 'proposed')
           AND memory_id > :after
         ORDER BY memory_id
         LIMIT :limit
        """,
        {"repository_id": repository_id, "after": after, "limit": limit},
    )
    return [(scope_id, memory_id) for scope_id, memory_id in rows]


class Step(NamedTuple):
    """A revision of an entry, as far as a report on trust reads it."""

    memory_id: str
    revision: int
    status: Status
    action: str
    content_sha256: str | None
    trust: int | None


def steps(tx: Transaction, scope_ids: Iterable[int], after: str, limit: int) -> list[Step]:
    """List the revisions of the next *limit* entries of these scopes behind *after*, by id.

    Entries that nobody may read but their owner, marked secret, are never accepted and left out.
    """
    rows = tx.rows(
        """
        SELECT r.memory_id, r.revision, r.status, r.action, r.content_sha256, r.trust
          FROM (SELECT m.repository_id, m.memory_id
                  FROM json_each(:scopes) AS s
                  JOIN memories AS m
                    ON m.scope_id = CAST(s.value AS INTEGER)
                 WHERE m.memory_id > :after
                   AND m.sensitivity <> 'secret'
                 ORDER BY m.memory_id
                 LIMIT :limit) AS e
          JOIN memory_revisions AS r
            ON r.repository_id = e.repository_id
           AND r.memory_id = e.memory_id
         ORDER BY r.memory_id, r.revision
        """,
        {"scopes": json.dumps(sorted(scope_ids)), "after": after, "limit": limit},
    )
    return [Step(r[0], r[1], Status(r[2]), r[3], r[4], r[5]) for r in rows]


def helped(tx: Transaction, scope_ids: Iterable[int], memory_ids: Iterable[str]) -> set[str]:
    """Return those of *memory_ids* that somebody judged helpful, or said again from elsewhere."""
    rows = tx.rows(
        """
        SELECT m.memory_id
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:memory_ids) AS i
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.memory_id = CAST(i.value AS TEXT)
           AND (EXISTS (SELECT 1
                          FROM feedback AS f
                         WHERE f.repository_id = m.repository_id
                           AND f.memory_id = m.memory_id
                           AND f.helpful = 1)
                OR EXISTS (SELECT 1
                             FROM sightings AS g
                            WHERE g.repository_id = m.repository_id
                              AND g.memory_id = m.memory_id
                              AND (g.source < 'learned:' OR g.source >= 'learned;')))
        """,
        {
            "scopes": json.dumps(sorted(scope_ids)),
            "memory_ids": json.dumps(sorted(memory_ids)),
        },
    )
    return {row[0] for row in rows}
