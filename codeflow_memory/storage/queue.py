"""The review queue: proposals, and accepted entries that something speaks against."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from codeflow_memory.domain.memory import Collection, Status
from codeflow_memory.storage.engine import Transaction


class Waiting(NamedTuple):
    """The part of a waiting entry that decides who sees it and where it stands in the queue."""

    memory_id: str
    scope_id: int
    repository_id: str
    status: Status
    collection: Collection
    sensitivity: str
    owner: str
    kind: str
    review_reason: str | None
    conflicts: bool
    supersedes: bool
    updated_at: int


def waiting(tx: Transaction, scope_ids: Iterable[int]) -> list[Waiting]:
    """List what waits in these scopes, by id; bounded by the limits on live entries."""
    rows = tx.rows(
        """
        SELECT m.memory_id, m.scope_id, m.repository_id, m.status, m.collection, m.sensitivity,
               m.owner, m.kind, m.review_reason, m.conflicts_with, m.supersedes_id, m.updated_at
          FROM json_each(:scopes) AS s
         CROSS JOIN json_each(:statuses) AS t
         CROSS JOIN memories AS m
         WHERE m.scope_id = CAST(s.value AS INTEGER)
           AND m.status = CAST(t.value AS TEXT)
           AND (m.status = 'proposed' OR m.review_reason IS NOT NULL)
         ORDER BY m.memory_id
        """,
        {
            "scopes": json.dumps(sorted(scope_ids)),
            "statuses": json.dumps([str(Status.ACCEPTED), str(Status.PROPOSED)]),
        },
    )
    return [
        Waiting(
            memory_id=row[0],
            scope_id=row[1],
            repository_id=row[2],
            status=Status(row[3]),
            collection=Collection(row[4]),
            sensitivity=row[5],
            owner=row[6],
            kind=row[7],
            review_reason=row[8],
            conflicts=row[9] != "[]",
            supersedes=row[10] is not None,
            updated_at=row[11],
        )
        for row in rows
    ]
