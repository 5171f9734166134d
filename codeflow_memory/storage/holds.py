"""Legal holds: which entries, or all of which projects, no deletion may take."""

from codeflow_memory.domain.hold import Hold
from codeflow_memory.storage.engine import Row, Transaction

_WHOLE_PROJECT = ""
"""How the hold of a whole project is stored: a key column holds no NULL."""


def insert(tx: Transaction, hold: Hold) -> bool:
    """Write a hold; where there is one already it stays as it is. Tell whether it is new."""
    written = tx.execute(
        """
        INSERT INTO legal_holds (
            repository_id, project_id, memory_id, reason, placed_by, placed_at
        ) VALUES (
            :repository_id, :project_id, :memory_id, :reason, :placed_by, :placed_at
        )
        ON CONFLICT DO NOTHING
        """,
        _key(hold.repository_id, hold.project_id, hold.memory_id)
        | {"reason": hold.reason, "placed_by": hold.placed_by, "placed_at": hold.placed_at},
    )
    return written == 1


def delete(tx: Transaction, repository_id: str, project_id: str, memory_id: str | None) -> bool:
    """Release a hold; tell whether there was one."""
    gone = tx.execute(
        """
        DELETE FROM legal_holds
         WHERE repository_id = :repository_id
           AND project_id = :project_id
           AND memory_id = :memory_id
        """,
        _key(repository_id, project_id, memory_id),
    )
    return gone == 1


def is_held(tx: Transaction, repository_id: str, project_id: str, memory_id: str) -> bool:
    """Tell whether a hold on an entry or on its project keeps it from being deleted."""
    row = tx.row(
        """
        SELECT 1
          FROM legal_holds
         WHERE repository_id = :repository_id
           AND project_id = :project_id
           AND memory_id IN ('', :memory_id)
         LIMIT 1
        """,
        _key(repository_id, project_id, memory_id),
    )
    return row is not None


def of_repository(tx: Transaction, repository_id: str) -> list[Hold]:
    """List the holds of a repository, by project; that of a whole project comes before others."""
    rows = tx.rows(
        """
        SELECT repository_id, project_id, memory_id, reason, placed_by, placed_at
          FROM legal_holds
         WHERE repository_id = :repository_id
         ORDER BY project_id, memory_id
        """,
        {"repository_id": repository_id},
    )
    return [_hold(row) for row in rows]


def _key(repository_id: str, project_id: str, memory_id: str | None) -> dict[str, object]:
    return {
        "repository_id": repository_id,
        "project_id": project_id,
        "memory_id": memory_id or _WHOLE_PROJECT,
    }


def _hold(row: Row) -> Hold:
    repository_id, project_id, memory_id, *rest = row
    return Hold(repository_id, project_id, memory_id or None, *rest)


def project_of(tx: Transaction, repository_id: str, memory_id: str) -> str | None:
    """Find the project of an entry that stands, whatever its collection: for who places holds."""
    found = tx.value(
        """
        SELECT project_id
          FROM memories
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND status <> 'deleted'
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )
    return None if found is None else str(found)
