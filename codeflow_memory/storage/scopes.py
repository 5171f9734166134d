"""Scopes: one row for each audience of a project, with the counters that limits read."""

import json
from collections.abc import Iterable

from codeflow_memory.domain.access import Scope
from codeflow_memory.storage.engine import Row, Transaction


def of_project(
    tx: Transaction, repository_id: str, project_id: str, audiences: Iterable[str]
) -> list[Scope]:
    """List the scopes of a project whose audience is one of *audiences*, by scope id."""
    rows = tx.rows(
        """
        SELECT scope_id, repository_id, project_id, audience
          FROM scopes
         WHERE repository_id = :repository_id
           AND project_id = :project_id
           AND audience IN (SELECT CAST(value AS TEXT) FROM json_each(:audiences))
         ORDER BY scope_id
        """,
        {
            "repository_id": repository_id,
            "project_id": project_id,
            "audiences": json.dumps(sorted(audiences)),
        },
    )
    return [_scope(row) for row in rows]


def of_audiences(tx: Transaction, audiences: Iterable[str]) -> list[Scope]:
    """List the tenant's scopes whose audience is one of *audiences*, by scope id.

    The caller keeps those whose repository its access reaches.
    """
    rows = tx.rows(
        """
        SELECT scope_id, repository_id, project_id, audience
          FROM scopes
         WHERE audience IN (SELECT CAST(value AS TEXT) FROM json_each(:audiences))
         ORDER BY scope_id
        """,
        {"audiences": json.dumps(sorted(audiences))},
    )
    return [_scope(row) for row in rows]


def ensure(tx: Transaction, repository_id: str, project_id: str, audience: str) -> Scope:
    """Return the scope, made when it is the first of its audience."""
    found = of_project(tx, repository_id, project_id, [audience])
    if found:
        return found[0]
    row = tx.row(
        """
        UPDATE store
           SET next_scope_id = next_scope_id + 1
         WHERE singleton = 1
        RETURNING next_scope_id - 1
        """
    )
    scope_id = row[0] if row else 1
    tx.execute(
        """
        INSERT INTO scopes (repository_id, scope_id, project_id, audience)
        VALUES (:repository_id, :scope_id, :project_id, :audience)
        """,
        {
            "repository_id": repository_id,
            "scope_id": scope_id,
            "project_id": project_id,
            "audience": audience,
        },
    )
    return Scope(scope_id, repository_id, project_id, audience)


def count(
    tx: Transaction, scope: Scope, *, live: int, accepted: int, canonical_bytes: int
) -> tuple[int, int]:
    """Move the counters by these amounts; return live entries and canonical bytes afterwards."""
    row = tx.row(
        """
        UPDATE scopes
           SET live_entries     = live_entries + :live,
               accepted_entries = accepted_entries + :accepted,
               canonical_bytes  = canonical_bytes + :canonical_bytes,
               generation       = generation + 1
         WHERE repository_id = :repository_id
           AND scope_id = :scope_id
        RETURNING live_entries, canonical_bytes
        """,
        {
            "live": live,
            "accepted": accepted,
            "canonical_bytes": canonical_bytes,
            "repository_id": scope.repository_id,
            "scope_id": scope.scope_id,
        },
    )
    assert row is not None, "the scope was read in this transaction"  # noqa: S101 - an invariant
    return row[0], row[1]


def touch(tx: Transaction, repository_id: str, scope_id: int) -> None:
    """Give a scope its next generation: something changed that is no revision of an entry."""
    tx.execute(
        """
        UPDATE scopes
           SET generation = generation + 1
         WHERE repository_id = :repository_id
           AND scope_id = :scope_id
        """,
        {"repository_id": repository_id, "scope_id": scope_id},
    )


def counters(tx: Transaction, scope_ids: Iterable[int]) -> list[tuple[int, int, int, int]]:
    """Return ``(scope_id, live, accepted, canonical bytes)`` of each scope, by scope id."""
    rows = tx.rows(
        """
        SELECT scope_id, live_entries, accepted_entries, canonical_bytes
          FROM scopes
         WHERE scope_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:scopes))
         ORDER BY scope_id
        """,
        {"scopes": json.dumps(sorted(scope_ids))},
    )
    return [(a, b, c, d) for a, b, c, d in rows]


def generations(tx: Transaction, scope_ids: Iterable[int]) -> dict[int, int]:
    """Return the generation of each scope: it is another after every change of an entry."""
    rows = tx.rows(
        """
        SELECT scope_id, generation
          FROM scopes
         WHERE scope_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:scopes))
         ORDER BY scope_id
        """,
        {"scopes": json.dumps(sorted(scope_ids))},
    )
    return {row[0]: row[1] for row in rows}


def _scope(row: Row) -> Scope:
    scope_id, repository_id, project_id, audience = row
    return Scope(scope_id, repository_id, project_id, audience)
