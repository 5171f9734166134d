"""Jobs: which recurring work of a tenant is due, and who is at it.

A row a kind. ``attempts`` counts how often it was taken and is the fence: who took it earlier, and
was away for too long, changes nothing any more.
"""

from codeflow_memory.storage.engine import Transaction


def due(tx: Transaction, kind: str) -> int | None:
    """Return when a kind of work may be taken, Unix microseconds; ``None`` when it never was."""
    return tx.value(  # type: ignore[no-any-return] # the column's type
        """
        SELECT CASE status WHEN 'leased' THEN leased_until ELSE not_before END
          FROM jobs
         WHERE dedupe_key = :kind
        """,
        {"kind": kind},
    )


def take(tx: Transaction, kind: str, job_id: str, *, at: int, until: int, again: int) -> int | None:
    """Take a kind of work that is due; return the fence, or ``None`` when another was faster.

    Args:
        tx: The transaction.
        kind: Which.
        job_id: Of its row, where it has none yet.
        at: Now.
        until: When another may take it who hears nothing of this one.
        again: When it is due the next time.
    """
    tx.execute(
        """
        INSERT INTO jobs (job_id, kind, dedupe_key, not_before, created_at)
        VALUES (:job_id, :kind, :kind, :at, :at)
            ON CONFLICT (dedupe_key) DO NOTHING
        """,
        {"job_id": job_id, "kind": kind, "at": at},
    )
    row = tx.row(
        """
        UPDATE jobs
           SET status = 'leased', attempts = attempts + 1, leased_until = :until,
               not_before = :again, error_code = NULL
         WHERE dedupe_key = :kind
           AND CASE status WHEN 'leased' THEN leased_until ELSE not_before END <= :at
        RETURNING attempts
        """,
        {"kind": kind, "at": at, "until": until, "again": again},
    )
    return None if row is None else int(row[0])


def keep(tx: Transaction, kind: str, fence: int, until: int) -> bool:
    """Say that work is still under way; tell whether it is still one's own."""
    changed = tx.execute(
        """
        UPDATE jobs
           SET leased_until = :until
         WHERE dedupe_key = :kind
           AND attempts = :fence
           AND status = 'leased'
        """,
        {"kind": kind, "fence": fence, "until": until},
    )
    return changed == 1


def end(tx: Transaction, kind: str, fence: int, error_code: str | None) -> None:
    """Note how work ended, unless another took it since."""
    tx.execute(
        """
        UPDATE jobs
           SET status = CASE WHEN CAST(:error_code AS TEXT) IS NULL
                             THEN 'succeeded' ELSE 'failed' END,
               leased_until = NULL, error_code = :error_code
         WHERE dedupe_key = :kind
           AND attempts = :fence
           AND status = 'leased'
        """,
        {"kind": kind, "fence": fence, "error_code": error_code},
    )
