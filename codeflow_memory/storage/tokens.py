"""Bearer tokens: keyed hashes of their secrets, and the roles each was made with."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain.access import Grant, Role
from codeflow_memory.storage.engine import Row, Transaction

_WHOLE_TENANT = ""
"""How a token's tenant-wide role is stored: a key column holds no NULL."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret.

    ``run_repository_id`` and ``run_id`` name the run that a run's token serves, else both are
    ``None``. Times are Unix microseconds.
    """

    token_id: str
    secret_hash: str
    principal_id: str
    background: bool
    run_repository_id: str | None
    run_id: str | None
    created_by: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None


def find(tx: Transaction, token_id: str) -> Token | None:
    """Find a token, whatever became of it."""
    row = tx.row(
        """
        SELECT token_id, secret_hash, principal_id, background, run_repository_id, run_id,
               created_by, created_at, expires_at, revoked_at, last_used_at
          FROM tokens
         WHERE token_id = :token_id
        """,
        {"token_id": token_id},
    )
    return None if row is None else _token(row)


def nearest(tx: Transaction, token_id: str) -> Token | None:
    """Find the token of *token_id*, or, where there is none, another: some row is always read.

    So that whoever asks for ids that nothing has is answered after the same steps. ``None`` where
    the tenant has no token at all.
    """
    row = tx.row(
        """
        SELECT token_id, secret_hash, principal_id, background, run_repository_id, run_id,
               created_by, created_at, expires_at, revoked_at, last_used_at
          FROM tokens
         WHERE token_id = COALESCE(
                   (SELECT n.token_id
                      FROM tokens AS n
                     WHERE n.token_id >= :token_id
                     ORDER BY n.token_id
                     LIMIT 1),
                   (SELECT f.token_id
                      FROM tokens AS f
                     WHERE f.token_id > ''
                     ORDER BY f.token_id
                     LIMIT 1)
               )
        """,
        {"token_id": token_id},
    )
    return None if row is None else _token(row)


def insert(tx: Transaction, token: Token, made_with: Iterable[Grant]) -> None:
    """Write a new token and the roles it was made with."""
    tx.execute(
        """
        INSERT INTO tokens (
            token_id, secret_hash, principal_id, background, run_repository_id, run_id, created_by,
            created_at, expires_at, revoked_at, last_used_at
        ) VALUES (
            :token_id, :secret_hash, :principal_id, :background, :run_repository_id, :run_id,
            :created_by, :created_at, :expires_at, :revoked_at, :last_used_at
        )
        """,
        {
            "token_id": token.token_id,
            "secret_hash": token.secret_hash,
            "principal_id": token.principal_id,
            "background": int(token.background),
            "run_repository_id": token.run_repository_id,
            "run_id": token.run_id,
            "created_by": token.created_by,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
            "revoked_at": token.revoked_at,
            "last_used_at": token.last_used_at,
        },
    )
    tx.executemany(
        """
        INSERT INTO token_grants (token_id, role, repository_id)
        VALUES (:token_id, :role, :repository_id)
        """,
        [
            {
                "token_id": token.token_id,
                "role": str(grant.role),
                "repository_id": grant.repository_id or _WHOLE_TENANT,
            }
            for grant in made_with
        ],
    )


def grants(tx: Transaction, token_id: str) -> list[Grant]:
    """List the roles that a token was made with, by repository and role.

    Merged repositories are one: a role on any of them is a role on each.
    """
    rows = tx.rows(
        """
        SELECT g.role, g.repository_id
          FROM token_grants AS g
         WHERE g.token_id = :token_id
         UNION
        SELECT g.role, r.merged_into
          FROM token_grants AS g
          JOIN repositories AS r
            ON r.repository_id = g.repository_id
         WHERE g.token_id = :token_id
           AND r.merged_into IS NOT NULL
         UNION
        SELECT g.role, m.repository_id
          FROM token_grants AS g
          JOIN repositories AS r
            ON r.repository_id = g.repository_id
          JOIN repositories AS m
            ON m.merged_into = COALESCE(r.merged_into, r.repository_id)
         WHERE g.token_id = :token_id
         ORDER BY 2, 1
        """,
        {"token_id": token_id},
    )
    return [Grant(Role(role), None if where == _WHOLE_TENANT else where) for role, where in rows]


def latest_at(tx: Transaction) -> int:
    """Return the highest time that the tenant has seen; expiry never goes back behind it."""
    return int(tx.value("SELECT latest_at FROM store WHERE singleton = 1") or 0)


def revoke(tx: Transaction, token_id: str, at: int) -> bool:
    """Revoke a token; tell whether it was not so before."""
    changed = tx.execute(
        """
        UPDATE tokens
           SET revoked_at = :at
         WHERE token_id = :token_id
           AND revoked_at IS NULL
        """,
        {"token_id": token_id, "at": at},
    )
    return changed == 1


def revoke_of_principal(tx: Transaction, principal_id: str, at: int) -> int:
    """Revoke every token of a principal; return how many were not so before."""
    return tx.execute(
        """
        UPDATE tokens
           SET revoked_at = :at
         WHERE principal_id = :principal_id
           AND revoked_at IS NULL
        """,
        {"principal_id": principal_id, "at": at},
    )


def revoke_all(tx: Transaction, at: int) -> int:
    """Revoke every token of the tenant; return how many were not so before."""
    return tx.execute("UPDATE tokens SET revoked_at = :at WHERE revoked_at IS NULL", {"at": at})


def revoke_of_runs(tx: Transaction, at: int) -> int:
    """Revoke every token of any run; return how many were not so before."""
    return tx.execute(
        """
        UPDATE tokens
           SET revoked_at = :at
         WHERE run_id IS NOT NULL
           AND revoked_at IS NULL
        """,
        {"at": at},
    )


def revoke_of_run(tx: Transaction, repository_id: str, run_id: str, at: int) -> int:
    """Revoke every token of a run; return how many were not so before."""
    return tx.execute(
        """
        UPDATE tokens
           SET revoked_at = :at
         WHERE run_id = :run_id
           AND run_repository_id = :repository_id
           AND revoked_at IS NULL
        """,
        {"repository_id": repository_id, "run_id": run_id, "at": at},
    )


def list_all(
    tx: Transaction, *, principal_id: str | None, after: str | None, limit: int
) -> list[Token]:
    """List tokens by id, of one principal or (``None``) of all, at most *limit* behind *after*."""
    if principal_id is None:
        rows = tx.rows(
            """
            SELECT token_id, secret_hash, principal_id, background, run_repository_id, run_id,
                   created_by, created_at, expires_at, revoked_at, last_used_at
              FROM tokens
             WHERE token_id > :after
             ORDER BY token_id
             LIMIT :limit
            """,
            {"after": after or "", "limit": limit},
        )
    else:
        rows = tx.rows(
            """
            SELECT token_id, secret_hash, principal_id, background, run_repository_id, run_id,
                   created_by, created_at, expires_at, revoked_at, last_used_at
              FROM tokens
             WHERE principal_id = :principal_id
               AND token_id > :after
             ORDER BY token_id
             LIMIT :limit
            """,
            {"principal_id": principal_id, "after": after or "", "limit": limit},
        )
    return [_token(row) for row in rows]


def touch(tx: Transaction, token_id: str, at: int) -> None:
    """Record when a token was last used; a time before the recorded one changes nothing."""
    tx.execute(
        """
        UPDATE tokens
           SET last_used_at = :at
         WHERE token_id = :token_id
           AND COALESCE(last_used_at, 0) < :at
        """,
        {"token_id": token_id, "at": at},
    )


def _token(row: Row) -> Token:
    token_id, secret_hash, principal_id, background, *rest = row
    return Token(token_id, secret_hash, principal_id, bool(background), *rest)
