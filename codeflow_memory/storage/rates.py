"""Rates: what passed at all servers of a tenant, as the time at which each bucket is full again."""

import json
from collections.abc import Mapping

from codeflow_memory.storage.engine import Transaction


def add(tx: Transaction, at: int, passed: Mapping[str, int]) -> dict[str, int]:
    """Put off the time at which buckets are full; return that time of each, Unix microseconds.

    Args:
        tx: The transaction.
        at: Now.
        passed: Bucket to how long it takes to refill what passed, in microseconds.
    """
    tx.executemany(
        """
        INSERT INTO rates (bucket, full_at)
        VALUES (:bucket, :at + :passed)
            ON CONFLICT (bucket) DO UPDATE
           SET full_at = CASE WHEN rates.full_at > :at THEN rates.full_at ELSE :at END + :passed
        """,
        [{"bucket": bucket, "at": at, "passed": p} for bucket, p in sorted(passed.items())],
    )
    rows = tx.rows(
        """
        SELECT r.bucket, r.full_at
          FROM json_each(:buckets) AS wanted
          JOIN rates AS r ON r.bucket = wanted.value
        """,
        {"buckets": json.dumps(list(passed))},
    )
    return {bucket: int(full_at) for bucket, full_at in rows}


def forget_full(tx: Transaction, at: int) -> None:
    """Forget the buckets that are full by *at*."""
    tx.execute("DELETE FROM rates WHERE full_at <= :at", {"at": at})
