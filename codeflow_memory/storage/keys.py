"""Keys: who holds one, who contends for it, and which predicates are functional."""

import json
from collections.abc import Iterable

from codeflow_memory.domain.keys import FUNCTIONAL
from codeflow_memory.domain.memory import Status
from codeflow_memory.storage.engine import Transaction


def with_key(tx: Transaction, scope_id: int, key_sha256: str, status: Status) -> list[str]:
    """List the ids of a scope's entries of one status with this digest of a key, by id."""
    rows = tx.rows(
        """
        SELECT memory_id
          FROM memories
         WHERE scope_id = :scope_id
           AND key_sha256 = :key_sha256
           AND status = :status
         ORDER BY memory_id
        """,
        {"scope_id": scope_id, "key_sha256": key_sha256, "status": str(status)},
    )
    return [row[0] for row in rows]


def set_conflicts(
    tx: Transaction,
    repository_id: str,
    memory_ids: Iterable[str],
    conflicts: Iterable[str],
    trust: int,
) -> None:
    """Say with which entries some conflict, and what trust that leaves them; it is no revision."""
    tx.execute(
        """
        UPDATE memories
           SET conflicts_with = :conflicts, trust = :trust
         WHERE repository_id = :repository_id
           AND memory_id IN (SELECT CAST(value AS TEXT) FROM json_each(:memory_ids))
        """,
        {
            "repository_id": repository_id,
            "memory_ids": json.dumps(list(memory_ids)),
            "conflicts": json.dumps(list(conflicts)),
            "trust": trust,
        },
    )


def functional(tx: Transaction) -> list[str]:
    """List the functional predicates of the tenant, folded, by name."""
    own = tx.value("SELECT functional_predicates FROM store WHERE singleton = 1")
    return sorted(FUNCTIONAL) if own is None else list(json.loads(own))


def set_functional(tx: Transaction, names: Iterable[str]) -> None:
    """Replace the functional predicates of the tenant."""
    tx.execute(
        """
        UPDATE store
           SET functional_predicates = :names
         WHERE singleton = 1
        """,
        {"names": json.dumps(sorted(set(names)), ensure_ascii=False)},
    )
