"""Approvals: decisions of reviewers, each bound to the revision that it names."""

from collections.abc import Iterable

from codeflow_memory.domain.approval import Approval
from codeflow_memory.storage.engine import Transaction


def insert(tx: Transaction, repository_id: str, memory_id: str, approval: Approval) -> None:
    """Record a decision."""
    tx.execute(
        """
        INSERT INTO approvals (
            repository_id, memory_id, revision, principal, decision, own, withdrawn, at, comment
        ) VALUES (
            :repository_id, :memory_id, :revision, :principal, :decision, :own, :withdrawn, :at,
            :comment
        )
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "revision": approval.revision,
            "principal": approval.principal,
            "decision": approval.decision,
            "own": int(approval.own),
            "withdrawn": int(approval.withdrawn),
            "at": approval.at,
            "comment": approval.comment,
        },
    )


def find_all(tx: Transaction, repository_id: str, memory_id: str) -> list[Approval]:
    """List a memory's decisions, oldest first."""
    return of_each(tx, [(repository_id, memory_id)])[0]


def of_each(tx: Transaction, memories: Iterable[tuple[str, str]]) -> list[list[Approval]]:
    """List the decisions of each ``(repository_id, memory_id)``, oldest first."""
    answers = tx.each(
        """
        SELECT revision, principal, decision, own, withdrawn, at, comment
          FROM approvals
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
         ORDER BY at, revision, principal
        """,
        [
            {"repository_id": repository_id, "memory_id": memory_id}
            for repository_id, memory_id in memories
        ],
    )
    return [
        [Approval(r[0], r[1], r[2], bool(r[3]), bool(r[4]), r[5], r[6]) for r in rows]
        for rows in answers
    ]


def withdraw(tx: Transaction, repository_id: str, memory_id: str) -> None:
    """Withdraw the decisions made so far: the text that they approved has changed."""
    tx.execute(
        """
        UPDATE approvals
           SET withdrawn = 1
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND withdrawn = 0
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )


def erase_comments(tx: Transaction, repository_id: str, memory_id: str) -> None:
    """Take free text out of the decisions of a deleted memory."""
    tx.execute(
        """
        UPDATE approvals
           SET comment = NULL
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND comment IS NOT NULL
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
