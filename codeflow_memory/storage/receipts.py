"""Receipts: operations already done; ids and revisions, never text."""

import json
from dataclasses import dataclass

from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an operation did.

    ``facts`` holds ids, revisions and codes only; the answer is rendered from them. ``again`` marks
    the receipt of a repetition: its caller may have lost sight of what it did.
    """

    action: str
    target_id: str
    revision: int
    facts: dict[str, object]
    again: bool = False


def find(tx: Transaction, principal_id: str, operation_id: str) -> tuple[str, Receipt] | None:
    """Find ``(request hash, receipt)`` of one of the principal's operations."""
    row = tx.row(
        """
        SELECT request_hash, action, target_id, revision, outcome
          FROM receipts
         WHERE principal_id = :principal_id
           AND operation_id = :operation_id
        """,
        {"principal_id": principal_id, "operation_id": operation_id},
    )
    if row is None:
        return None
    return row[0], Receipt(row[1], row[2], row[3], json.loads(row[4]))


def insert(
    tx: Transaction,
    principal_id: str,
    operation_id: str,
    receipt: Receipt,
    *,
    request_hash: str,
    at: int,
) -> None:
    """Record an operation; the principal has none of this id."""
    tx.execute(
        """
        INSERT INTO receipts (
            principal_id, operation_id, request_hash, action, target_id, revision, outcome, at
        ) VALUES (
            :principal_id, :operation_id, :request_hash, :action, :target_id, :revision, :outcome,
            :at
        )
        """,
        {
            "principal_id": principal_id,
            "operation_id": operation_id,
            "request_hash": request_hash,
            "action": receipt.action,
            "target_id": receipt.target_id,
            "revision": receipt.revision,
            "outcome": json.dumps(receipt.facts, sort_keys=True),
            "at": at,
        },
    )


def delete_all(tx: Transaction) -> None:
    """Forget every operation: under another key no request hash agrees any more."""
    tx.execute("DELETE FROM receipts")
