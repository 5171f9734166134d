"""Principals: the people and agents of a tenant, and the roles that they hold now."""

from codeflow_memory.domain.access import Grant, Role
from codeflow_memory.domain.principal import Principal
from codeflow_memory.storage.engine import Row, Transaction


def find(tx: Transaction, principal_id: str) -> Principal | None:
    """Find a principal by id, removed or not."""
    row = tx.row(
        """
        SELECT principal_id, name, kind, sponsor_id, created_at, removed_at
          FROM principals
         WHERE principal_id = :principal_id
        """,
        {"principal_id": principal_id},
    )
    return None if row is None else _principal(row)


def find_by_name(tx: Transaction, name: str) -> Principal | None:
    """Find a principal by its exact name, removed or not: a name is never given twice."""
    row = tx.row(
        """
        SELECT principal_id, name, kind, sponsor_id, created_at, removed_at
          FROM principals
         WHERE name = :name
        """,
        {"name": name},
    )
    return None if row is None else _principal(row)


def named(tx: Transaction, principal: str) -> Principal | None:
    """Find a principal by id, else by name."""
    return find(tx, principal) or find_by_name(tx, principal)


def insert(tx: Transaction, principal: Principal) -> None:
    """Write a new principal; nobody has its name."""
    tx.execute(
        """
        INSERT INTO principals (principal_id, name, kind, sponsor_id, created_at, removed_at)
        VALUES (:principal_id, :name, :kind, :sponsor_id, :created_at, :removed_at)
        """,
        {
            "principal_id": principal.principal_id,
            "name": principal.name,
            "kind": principal.kind,
            "sponsor_id": principal.sponsor_id,
            "created_at": principal.created_at,
            "removed_at": principal.removed_at,
        },
    )


def remove(tx: Transaction, principal_id: str, at: int) -> bool:
    """Mark a principal as removed; tell whether it was not so before."""
    changed = tx.execute(
        """
        UPDATE principals
           SET removed_at = :at
         WHERE principal_id = :principal_id
           AND removed_at IS NULL
        """,
        {"principal_id": principal_id, "at": at},
    )
    return changed == 1


def list_all(tx: Transaction, *, after: str | None, limit: int) -> list[Principal]:
    """List the principals that may act, by id, at most *limit* of them from behind *after*."""
    rows = tx.rows(
        """
        SELECT principal_id, name, kind, sponsor_id, created_at, removed_at
          FROM principals
         WHERE principal_id > :after
           AND removed_at IS NULL
         ORDER BY principal_id
         LIMIT :limit
        """,
        {"after": after or "", "limit": limit},
    )
    return [_principal(row) for row in rows]


def grants(tx: Transaction, principal_id: str) -> list[Grant]:
    """List the roles a principal holds, without doubles, by repository and role.

    Merged repositories are one: a role on any of them is a role on each.
    """
    rows = tx.rows(
        """
        SELECT g.role, g.repository_id
          FROM grants AS g
         WHERE g.principal_id = :principal_id
         UNION
        SELECT g.role, r.merged_into
          FROM grants AS g
          JOIN repositories AS r
            ON r.repository_id = g.repository_id
         WHERE g.principal_id = :principal_id
           AND r.merged_into IS NOT NULL
         UNION
        SELECT g.role, m.repository_id
          FROM grants AS g
          JOIN repositories AS r
            ON r.repository_id = g.repository_id
          JOIN repositories AS m
            ON m.merged_into = COALESCE(r.merged_into, r.repository_id)
         WHERE g.principal_id = :principal_id
         ORDER BY 2 NULLS FIRST, 1
        """,
        {"principal_id": principal_id},
    )
    return [Grant(Role(role), repository_id) for role, repository_id in rows]


def sponsored(tx: Transaction, principal_id: str) -> list[str]:
    """List the ids of the agents that a person made, by id."""
    rows = tx.rows(
        """
        SELECT principal_id
          FROM principals
         WHERE sponsor_id = :principal_id
         ORDER BY principal_id
        """,
        {"principal_id": principal_id},
    )
    return [row[0] for row in rows]


def first_owner(tx: Transaction) -> Principal | None:
    """Find the oldest person that is an owner of the whole tenant."""
    found = owners(tx, limit=1)
    return found[0] if found else None


def owners(tx: Transaction, *, limit: int) -> list[Principal]:
    """List the people who own the whole tenant and may act, oldest first, at most *limit*."""
    rows = tx.rows(
        """
        SELECT p.principal_id, p.name, p.kind, p.sponsor_id, p.created_at, p.removed_at
          FROM principals AS p
         WHERE p.kind = 'user'
           AND p.removed_at IS NULL
           AND EXISTS (
               SELECT 1
                 FROM grants AS g
                WHERE g.principal_id = p.principal_id
                  AND g.repository_id IS NULL
                  AND g.role = 'owner'
           )
         ORDER BY p.created_at, p.principal_id
         LIMIT :limit
        """,
        {"limit": limit},
    )
    return [_principal(row) for row in rows]


def people(tx: Transaction, *, limit: int) -> int:
    """Count the people who may act; counting stops at *limit*."""
    return int(
        tx.value(
            """
            SELECT COUNT(*)
              FROM (
                    SELECT principal_id
                      FROM principals
                     WHERE kind = 'user'
                       AND removed_at IS NULL
                     LIMIT :limit
                   ) AS p
            """,
            {"limit": limit},
        )
    )


def _principal(row: Row) -> Principal:
    return Principal(*row)
