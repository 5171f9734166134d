"""Rates: what passed at all servers of a tenant, as the time at which each bucket is full again."""

import json
from collections.abc import Mapping

from codeflow_memory.storage.engine import Transaction


def add(tx: Transaction, at: int, passed: Mapping[str, int]) -> dict[str, int]:
    """Put off the time at which buckets are full; return that time of each, Unix microseconds.

    Args:
        tx: The transaction.
        at: Now.
        passed: Bucket, 64 hexadecimal digits, to the microseconds that refilling what passed takes.
    """
    rows = tx.rows(
        """
        INSERT INTO rates (bucket, full_at)
        SELECT substr(told.value, 1, 64), :at + CAST(substr(told.value, 66) AS INTEGER)
          FROM json_each(:told) AS told
         WHERE TRUE
            ON CONFLICT (bucket) DO UPDATE
           SET full_at = CASE WHEN rates.full_at > :at THEN rates.full_at ELSE :at END
                         + excluded.full_at - :at
        RETURNING bucket, full_at
        """,
        {"at": at, "told": json.dumps([f"{bucket} {p}" for bucket, p in passed.items()])},
    )
    return {bucket: int(full_at) for bucket, full_at in rows}


def forget_full(tx: Transaction, at: int) -> None:
    """Forget the buckets that are full by *at*."""
    tx.execute("DELETE FROM rates WHERE full_at <= :at", {"at": at})
