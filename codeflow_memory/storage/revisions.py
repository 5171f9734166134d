"""Revisions: one immutable row for each revision of a memory."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from codeflow_memory.domain.memory import Memory, Pair, Status
from codeflow_memory.domain.revision import Revision
from codeflow_memory.storage import contents
from codeflow_memory.storage.engine import Row, Transaction


@dataclass(frozen=True, slots=True)
class Step:
    """What led to a revision, and the trust in basis points that it left, where that is known."""

    action: str
    actor: str
    operation_id: str
    reason: str | None
    trust: int | None = None


def insert(tx: Transaction, memory: Memory, step: Step) -> None:
    """Keep *memory* as it is now."""
    content = memory.content
    tx.execute(
        """
        INSERT INTO memory_revisions (
            repository_id, memory_id, revision, status, superseded_by, action, actor, at,
            operation_id, reason, valid_to, content_sha256, content, trust
        ) VALUES (
            :repository_id, :memory_id, :revision, :status, :superseded_by, :action, :actor, :at,
            :operation_id, :reason, :valid_to, :content_sha256, :content, :trust
        )
        """,
        {
            "repository_id": memory.repository_id,
            "memory_id": memory.memory_id,
            "revision": memory.revision,
            "status": str(memory.status),
            "superseded_by": memory.superseded_by,
            "action": step.action,
            "actor": step.actor,
            "at": memory.updated_at,
            "operation_id": step.operation_id,
            "reason": step.reason,
            "valid_to": None if content is None else content.valid_to,
            "content_sha256": memory.content_sha256,
            "content": None if content is None else content.canonical(),
            "trust": step.trust,
        },
    )


def find_all(tx: Transaction, repository_id: str, memory_id: str) -> list[Revision]:
    """List a memory's revisions, oldest first."""
    rows = tx.rows(
        """
        SELECT memory_id, revision, status, superseded_by, action, actor, at, operation_id,
               reason, content_sha256, content, trust
          FROM memory_revisions
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
         ORDER BY revision
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
    return [_revision(row) for row in rows]


def find(tx: Transaction, repository_id: str, memory_id: str, revision: int) -> Revision | None:
    """Find one revision of a memory."""
    found = find_pairs(tx, repository_id, [Pair(memory_id, revision)])
    return found[0] if found else None


def find_pairs(tx: Transaction, repository_id: str, pairs: Iterable[Pair]) -> list[Revision]:
    """Find the exact revisions *pairs* of one repository, by id and revision."""
    wanted = set(pairs)
    rows = tx.rows(
        """
        SELECT r.memory_id, r.revision, r.status, r.superseded_by, r.action, r.actor, r.at,
               r.operation_id, r.reason, r.content_sha256, r.content, r.trust
          FROM json_each(:memory_ids) AS i
         CROSS JOIN json_each(:revisions) AS n
         CROSS JOIN memory_revisions AS r
         WHERE r.repository_id = :repository_id
           AND r.memory_id = CAST(i.value AS TEXT)
           AND r.revision = CAST(n.value AS INTEGER)
         ORDER BY r.memory_id, r.revision
        """,
        {
            "repository_id": repository_id,
            "memory_ids": json.dumps(sorted({p.memory_id for p in wanted})),
            "revisions": json.dumps(sorted({p.revision for p in wanted})),
        },
    )
    # The statement joins every id with every revision; a pair is one of those rows.
    found = [_revision(row) for row in rows]
    return [r for r in found if Pair(r.memory_id, r.revision) in wanted]


def was_accepted(tx: Transaction, repository_id: str, memory_id: str, content_sha256: str) -> bool:
    """Tell whether a memory was in service with exactly this content at any time."""
    row = tx.row(
        """
        SELECT 1
          FROM memory_revisions
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND content_sha256 = :content_sha256
           AND status = 'accepted'
         LIMIT 1
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "content_sha256": content_sha256,
        },
    )
    return row is not None


def times_accepted(tx: Transaction, repository_id: str, memory_id: str) -> int:
    """Count how often a memory came into service: its moves to ``accepted``."""
    rows = tx.rows(
        """
        SELECT status
          FROM memory_revisions
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
         ORDER BY revision
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
    statuses = [None, *(row[0] for row in rows)]
    return sum(a != b == Status.ACCEPTED for a, b in pairwise(statuses))


def erase(tx: Transaction, repository_id: str, memory_id: str, reason_codes: Iterable[str]) -> None:
    """Take the text out of every revision of a memory; of reasons only *reason_codes* stay."""
    tx.execute(
        """
        UPDATE memory_revisions
           SET content = NULL, content_sha256 = NULL, valid_to = NULL,
               reason = CASE WHEN reason IN (SELECT CAST(value AS TEXT) FROM json_each(:codes))
                             THEN reason
                        END
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "codes": json.dumps(sorted(reason_codes)),
        },
    )


def _revision(row: Row) -> Revision:
    (
        memory_id, revision, status, superseded_by, action, actor, at, operation_id, reason,
        content_sha256, content, trust,
    ) = row  # fmt: skip
    return Revision(
        memory_id,
        revision,
        Status(status),
        superseded_by,
        action,
        actor,
        at,
        operation_id,
        reason,
        content_sha256,
        contents.read(memory_id, content, content_sha256),
        trust,
    )
