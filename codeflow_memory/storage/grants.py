"""Grants: which principal holds which role, for the tenant or for one repository."""

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.grant import StoredGrant
from codeflow_memory.storage.engine import Row, Transaction


def find(tx: Transaction, grant_id: str) -> StoredGrant | None:
    """Find a grant by id."""
    row = tx.row(
        """
        SELECT grant_id, principal_id, role, repository_id, granted_by, granted_at
          FROM grants
         WHERE grant_id = :grant_id
        """,
        {"grant_id": grant_id},
    )
    return None if row is None else _grant(row)


def find_same(
    tx: Transaction, principal_id: str, role: Role, repository_id: str | None
) -> StoredGrant | None:
    """Find the oldest grant of exactly this role, for exactly this repository or the tenant."""
    row = tx.row(
        """
        SELECT grant_id, principal_id, role, repository_id, granted_by, granted_at
          FROM grants
         WHERE principal_id = :principal_id
           AND role = :role
           AND COALESCE(repository_id, '') = COALESCE(:repository_id, '')
         ORDER BY grant_id
         LIMIT 1
        """,
        {"principal_id": principal_id, "role": str(role), "repository_id": repository_id},
    )
    return None if row is None else _grant(row)


def insert(tx: Transaction, grant: StoredGrant) -> None:
    """Write a new grant."""
    tx.execute(
        """
        INSERT INTO grants (
            grant_id, principal_id, role, repository_id, granted_by, granted_at
        ) VALUES (
            :grant_id, :principal_id, :role, :repository_id, :granted_by, :granted_at
        )
        """,
        {
            "grant_id": grant.grant_id,
            "principal_id": grant.principal_id,
            "role": str(grant.role),
            "repository_id": grant.repository_id,
            "granted_by": grant.granted_by,
            "granted_at": grant.granted_at,
        },
    )


def delete(tx: Transaction, grant_id: str) -> bool:
    """Take a grant back; tell whether there was one."""
    return tx.execute("DELETE FROM grants WHERE grant_id = :grant_id", {"grant_id": grant_id}) == 1


def delete_of_principal(tx: Transaction, principal_id: str) -> int:
    """Take all grants of a principal back; return how many."""
    return tx.execute(
        "DELETE FROM grants WHERE principal_id = :principal_id", {"principal_id": principal_id}
    )


def list_all(
    tx: Transaction, *, principal_id: str | None, after: str | None, limit: int
) -> list[StoredGrant]:
    """List grants by id, of one principal or (``None``) of all, at most *limit* behind *after*."""
    rows = tx.rows(
        """
        SELECT grant_id, principal_id, role, repository_id, granted_by, granted_at
          FROM grants
         WHERE grant_id > :after
           AND principal_id = COALESCE(:principal_id, principal_id)
         ORDER BY grant_id
         LIMIT :limit
        """,
        {"principal_id": principal_id, "after": after or "", "limit": limit},
    )
    return [_grant(row) for row in rows]


def _grant(row: Row) -> StoredGrant:
    grant_id, principal_id, role, repository_id, granted_by, granted_at = row
    return StoredGrant(grant_id, principal_id, Role(role), repository_id, granted_by, granted_at)
