"""Feedback: whether a memory helped, once for each principal and revision."""

from dataclasses import dataclass

from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Feedback:
    """One judgement of one revision."""

    revision: int
    principal: str
    helpful: bool
    at: int
    selection_id: str | None = None
    run_id: str | None = None
    note: str | None = None


def insert(tx: Transaction, repository_id: str, memory_id: str, feedback: Feedback) -> None:
    """Record a judgement."""
    tx.execute(
        """
        INSERT INTO feedback (
            repository_id, memory_id, revision, principal, helpful, selection_id, run_id, note, at
        ) VALUES (
            :repository_id, :memory_id, :revision, :principal, :helpful, :selection_id, :run_id,
            :note, :at
        )
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "revision": feedback.revision,
            "principal": feedback.principal,
            "helpful": int(feedback.helpful),
            "selection_id": feedback.selection_id,
            "run_id": feedback.run_id,
            "note": feedback.note,
            "at": feedback.at,
        },
    )


def find_all(tx: Transaction, repository_id: str, memory_id: str) -> list[Feedback]:
    """List the judgements of a memory, oldest first."""
    rows = tx.rows(
        """
        SELECT revision, principal, helpful, at, selection_id, run_id, note
          FROM feedback
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
         ORDER BY at, revision, principal
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
    return [Feedback(r[0], r[1], bool(r[2]), r[3], r[4], r[5], r[6]) for r in rows]


def given(
    tx: Transaction, repository_id: str, memory_id: str, revision: int, principal: str
) -> bool:
    """Tell whether the principal judged this revision before."""
    row = tx.row(
        """
        SELECT 1
          FROM feedback
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND revision = :revision
           AND principal = :principal
         LIMIT 1
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "revision": revision,
            "principal": principal,
        },
    )
    return row is not None


def erase_notes(tx: Transaction, repository_id: str, memory_id: str) -> None:
    """Take free text out of the judgements of a deleted memory."""
    tx.execute(
        """
        UPDATE feedback
           SET note = NULL
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND note IS NOT NULL
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
