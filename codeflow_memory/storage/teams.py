"""Teams and who belongs to them."""

from codeflow_memory.domain.team import Team
from codeflow_memory.storage.engine import Transaction

MAX_MEMBERS = 10_000
"""Read at once at most, where a rule asks for all of a team."""


def find(tx: Transaction, team_id: str) -> Team | None:
    """Find a team by id."""
    row = tx.row(
        "SELECT team_id, slug, name, created_at FROM teams WHERE team_id = :team_id",
        {"team_id": team_id},
    )
    return None if row is None else Team(*row)


def find_by_slug(tx: Transaction, slug: str) -> Team | None:
    """Find a team by its slug."""
    row = tx.row(
        "SELECT team_id, slug, name, created_at FROM teams WHERE slug = :slug", {"slug": slug}
    )
    return None if row is None else Team(*row)


def named(tx: Transaction, team: str) -> Team | None:
    """Find a team by id, else by slug."""
    return find(tx, team) or find_by_slug(tx, team)


def insert(tx: Transaction, team: Team) -> None:
    """Write a new team; none has its slug."""
    tx.execute(
        """
        INSERT INTO teams (team_id, slug, name, created_at)
        VALUES (:team_id, :slug, :name, :created_at)
        """,
        {
            "team_id": team.team_id,
            "slug": team.slug,
            "name": team.name,
            "created_at": team.created_at,
        },
    )


def list_all(tx: Transaction, *, after: str | None, limit: int) -> list[Team]:
    """List teams by id, at most *limit* of them from behind *after*."""
    rows = tx.rows(
        """
        SELECT team_id, slug, name, created_at
          FROM teams
         WHERE team_id > :after
         ORDER BY team_id
         LIMIT :limit
        """,
        {"after": after or "", "limit": limit},
    )
    return [Team(*row) for row in rows]


def in_use(tx: Transaction, team_id: str) -> bool:
    """Tell whether entries or runs name the team, so that its row must stay."""
    return bool(
        tx.value(
            """
            SELECT EXISTS (SELECT 1 FROM scopes WHERE audience = 'team:' || :team_id)
                OR EXISTS (SELECT 1 FROM runs WHERE team_id = :team_id)
            """,
            {"team_id": team_id},
        )
    )


def delete(tx: Transaction, team_id: str) -> bool:
    """Delete a team and its memberships; tell whether there was one."""
    tx.execute("DELETE FROM team_members WHERE team_id = :team_id", {"team_id": team_id})
    return tx.execute("DELETE FROM teams WHERE team_id = :team_id", {"team_id": team_id}) == 1


def members(
    tx: Transaction, team_id: str, *, after: str | None = None, limit: int = MAX_MEMBERS
) -> list[str]:
    """List the ids of a team's members, at most *limit* of them from behind *after*."""
    rows = tx.rows(
        """
        SELECT principal_id
          FROM team_members
         WHERE team_id = :team_id
           AND principal_id > :after
         ORDER BY principal_id
         LIMIT :limit
        """,
        {"team_id": team_id, "after": after or "", "limit": limit},
    )
    return [row[0] for row in rows]


def add_member(tx: Transaction, team_id: str, principal_id: str, at: int) -> bool:
    """Add a member; tell whether it was none before."""
    changed = tx.execute(
        """
        INSERT INTO team_members (team_id, principal_id, added_at)
        VALUES (:team_id, :principal_id, :at)
            ON CONFLICT (team_id, principal_id) DO NOTHING
        """,
        {"team_id": team_id, "principal_id": principal_id, "at": at},
    )
    return changed == 1


def remove_member(tx: Transaction, team_id: str, principal_id: str) -> bool:
    """Take a member out; tell whether it was one."""
    changed = tx.execute(
        """
        DELETE FROM team_members
         WHERE team_id = :team_id
           AND principal_id = :principal_id
        """,
        {"team_id": team_id, "principal_id": principal_id},
    )
    return changed == 1


def leave_all(tx: Transaction, principal_id: str) -> int:
    """Take a principal out of every team; return out of how many."""
    return tx.execute(
        "DELETE FROM team_members WHERE principal_id = :principal_id",
        {"principal_id": principal_id},
    )


def of_principal(tx: Transaction, principal_id: str) -> list[str]:
    """List the ids of the teams that a principal belongs to, by id."""
    rows = tx.rows(
        """
        SELECT team_id
          FROM team_members
         WHERE principal_id = :principal_id
         ORDER BY team_id
        """,
        {"principal_id": principal_id},
    )
    return [row[0] for row in rows]
