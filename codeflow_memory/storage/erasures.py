"""Erasures: their receipts, and what is whose."""

import json

from codeflow_memory.domain.erasure import Erasure
from codeflow_memory.storage.engine import Row, Transaction


def insert(tx: Transaction, erasure: Erasure) -> None:
    """Write an erasure that begins."""
    tx.execute(
        """
        INSERT INTO erasures (
            erasure_id, subject_id, pseudonym_id, erased_by, begun_at, erased_at, counts
        ) VALUES (
            :erasure_id, :subject_id, :pseudonym_id, :erased_by, :begun_at, :erased_at, :counts
        )
        """,
        {
            "erasure_id": erasure.erasure_id,
            "subject_id": erasure.subject_id,
            "pseudonym_id": erasure.pseudonym_id,
            "erased_by": erasure.erased_by,
            "begun_at": erasure.begun_at,
            "erased_at": erasure.erased_at,
            "counts": json.dumps(dict(erasure.counts), sort_keys=True),
        },
    )


def finish(tx: Transaction, erasure_id: str, at: int) -> None:
    """Forget whose an erasure was, and write when it was done."""
    tx.execute(
        """
        UPDATE erasures
           SET subject_id = NULL, erased_at = :at
         WHERE erasure_id = :erasure_id
        """,
        {"erasure_id": erasure_id, "at": at},
    )


def find(tx: Transaction, erasure_id: str) -> Erasure | None:
    """Find an erasure by id."""
    row = tx.row(
        """
        SELECT erasure_id, subject_id, pseudonym_id, erased_by, begun_at, erased_at, counts
          FROM erasures
         WHERE erasure_id = :erasure_id
        """,
        {"erasure_id": erasure_id},
    )
    return None if row is None else _erasure(row)


def find_of(tx: Transaction, subject_id: str) -> Erasure | None:
    """Find the erasure of a principal that was begun and not brought to its end."""
    row = tx.row(
        """
        SELECT erasure_id, subject_id, pseudonym_id, erased_by, begun_at, erased_at, counts
          FROM erasures
         WHERE subject_id = :subject_id
        """,
        {"subject_id": subject_id},
    )
    return None if row is None else _erasure(row)


def is_pseudonym(tx: Transaction, principal_id: str) -> bool:
    """Tell whether a principal stands for somebody who was erased."""
    row = tx.row(
        "SELECT 1 FROM erasures WHERE pseudonym_id = :principal_id LIMIT 1",
        {"principal_id": principal_id},
    )
    return row is not None


def entries(tx: Transaction, repository_id: str, principal_id: str) -> list[tuple[int, str]]:
    """List ``(scope_id, memory_id)`` of the entries that only their owner sees, by id.

    Private ones, and secrets in whichever collection.
    """
    rows = tx.rows(
        """
        SELECT scope_id, memory_id
          FROM memories
         WHERE repository_id = :repository_id
           AND owner = :principal_id
           AND status <> 'deleted'
           AND (collection = 'private' OR sensitivity = 'secret')
         ORDER BY memory_id
        """,
        {"repository_id": repository_id, "principal_id": principal_id},
    )
    return [(scope_id, memory_id) for scope_id, memory_id in rows]


def count_selections(tx: Transaction, repository_id: str, principal_id: str) -> int:
    """Count the manifests of a principal's selections."""
    return int(
        tx.value(
            """
            SELECT COUNT(*)
              FROM manifests
             WHERE repository_id = :repository_id
               AND principal_id = :principal_id
            """,
            {"repository_id": repository_id, "principal_id": principal_id},
        )
    )


def delete_selections(tx: Transaction, repository_id: str, principal_id: str, limit: int) -> int:
    """Delete the first *limit* manifests of a principal's selections; return how many went."""
    which = {"repository_id": repository_id, "principal_id": principal_id, "limit": limit}
    tx.execute(
        """
        DELETE FROM manifest_lists
         WHERE repository_id = :repository_id
           AND manifest_id IN (
               SELECT manifest_id
                 FROM manifests
                WHERE repository_id = :repository_id
                  AND principal_id = :principal_id
                ORDER BY manifest_id
                LIMIT :limit
           )
        """,
        which,
    )
    return tx.execute(
        """
        DELETE FROM manifests
         WHERE repository_id = :repository_id
           AND manifest_id IN (
               SELECT manifest_id
                 FROM manifests
                WHERE repository_id = :repository_id
                  AND principal_id = :principal_id
                ORDER BY manifest_id
                LIMIT :limit
           )
        """,
        which,
    )


def _erasure(row: Row) -> Erasure:
    erasure_id, subject_id, pseudonym_id, erased_by, begun_at, erased_at, counts = row
    return Erasure(
        erasure_id,
        subject_id,
        pseudonym_id,
        erased_by,
        begun_at,
        erased_at,
        json.loads(counts),
    )
