"""Repositories: what each is known by, how it is reviewed, and which of them are one."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain.errors import RevisionConflictError
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.storage.engine import Row, Transaction


@dataclass(frozen=True, slots=True)
class Repository:
    """A registered repository and its settings.

    ``identified_by`` is its strongest fact; ``merged_into`` is the repository that it became part
    of, which itself never is merged.
    """

    repository_id: str
    name: str
    identified_by: Fact
    revision: int
    required_approvals: int
    codeowners: bool
    allow_own_approval: bool
    capture: bool
    merged_into: str | None
    created_by: str
    created_at: int


def find(tx: Transaction, repository_id: str) -> Repository | None:
    """Find a repository by id; a merged one is the one that it became part of."""
    row = tx.row(
        """
        SELECT r.repository_id, r.name, r.identified_by, r.revision, r.required_approvals,
               r.codeowners, r.allow_own_approval, r.capture, r.merged_into, r.created_by,
               r.created_at
          FROM repositories AS asked
          JOIN repositories AS r
            ON r.repository_id = COALESCE(asked.merged_into, asked.repository_id)
         WHERE asked.repository_id = :repository_id
        """,
        {"repository_id": repository_id},
    )
    return None if row is None else _repository(row)


def members(tx: Transaction, repository_id: str) -> list[str]:
    """List the ids of a repository, which is not merged, and of those merged into it, by id."""
    rows = tx.rows(
        """
        SELECT repository_id
          FROM repositories
         WHERE merged_into = :repository_id
         UNION
        SELECT repository_id
          FROM repositories
         WHERE repository_id = :repository_id
         ORDER BY 1
        """,
        {"repository_id": repository_id},
    )
    return [row[0] for row in rows]


def insert(tx: Transaction, repository: Repository) -> None:
    """Write a new repository."""
    tx.execute(
        """
        INSERT INTO repositories (
            repository_id, name, identified_by, revision, required_approvals, codeowners,
            allow_own_approval, capture, merged_into, created_by, created_at
        ) VALUES (
            :repository_id, :name, :identified_by, :revision, :required_approvals, :codeowners,
            :allow_own_approval, :capture, :merged_into, :created_by, :created_at
        )
        """,
        {
            "repository_id": repository.repository_id,
            "name": repository.name,
            "identified_by": str(repository.identified_by),
            "revision": repository.revision,
            "required_approvals": repository.required_approvals,
            "codeowners": int(repository.codeowners),
            "allow_own_approval": int(repository.allow_own_approval),
            "capture": int(repository.capture),
            "merged_into": repository.merged_into,
            "created_by": repository.created_by,
            "created_at": repository.created_at,
        },
    )


def replace(tx: Transaction, repository: Repository, *, base_revision: int) -> None:
    """Write identity and settings as the revision after *base_revision*, in one statement.

    Raises:
        RevisionConflictError: The stored revision is not *base_revision*.
    """
    changed = tx.execute(
        """
        UPDATE repositories
           SET revision = revision + 1, identified_by = :identified_by,
               required_approvals = :required_approvals, codeowners = :codeowners,
               allow_own_approval = :allow_own_approval, capture = :capture
         WHERE repository_id = :repository_id
           AND revision = :base_revision
        """,
        {
            "repository_id": repository.repository_id,
            "identified_by": str(repository.identified_by),
            "required_approvals": repository.required_approvals,
            "codeowners": int(repository.codeowners),
            "allow_own_approval": int(repository.allow_own_approval),
            "capture": int(repository.capture),
            "base_revision": base_revision,
        },
    )
    if changed != 1:
        current = tx.value(
            "SELECT revision FROM repositories WHERE repository_id = :repository_id",
            {"repository_id": repository.repository_id},
        )
        raise RevisionConflictError(
            repository.repository_id, expected=base_revision, current=int(current or 0)
        )


def aliases(tx: Transaction, repository_id: str) -> list[Alias]:
    """List what a repository is known by, by kind and value."""
    rows = tx.rows(
        """
        SELECT kind, value
          FROM repository_aliases
         WHERE repository_id = :repository_id
         ORDER BY kind, value
        """,
        {"repository_id": repository_id},
    )
    return [Alias(Fact(kind), value) for kind, value in rows]


def paths(tx: Transaction, repository_id: str) -> list[str]:
    """List the absolute paths that clients named for a repository, merged or whole, by value."""
    rows = tx.rows(
        """
        SELECT a.value
          FROM repositories AS asked
          JOIN repository_aliases AS a
            ON a.repository_id = COALESCE(asked.merged_into, asked.repository_id)
           AND a.kind = 'path'
         WHERE asked.repository_id = :repository_id
         ORDER BY a.value
        """,
        {"repository_id": repository_id},
    )
    return [row[0] for row in rows]


def add_aliases(tx: Transaction, repository_id: str, new: Iterable[Alias], at: int) -> int:
    """Write what a repository is also known by; return how many of them are new to it."""
    return sum(
        tx.execute(
            """
            INSERT INTO repository_aliases (repository_id, kind, value, added_at)
            VALUES (:repository_id, :kind, :value, :at)
                ON CONFLICT (repository_id, kind, value) DO NOTHING
            """,
            {
                "repository_id": repository_id,
                "kind": str(alias.kind),
                "value": alias.value,
                "at": at,
            },
        )
        for alias in new
    )


def matching(tx: Transaction, facts: Iterable[Alias]) -> list[tuple[Repository, Alias]]:
    """List which repositories any of *facts* fits, and which fact, in the order of *facts*.

    Across the whole tenant: this is how a repository's id is found. The caller keeps those that its
    access reaches.
    """
    found: list[tuple[Repository, Alias]] = []
    for fact in facts:
        rows = tx.rows(
            """
            SELECT r.repository_id, r.name, r.identified_by, r.revision, r.required_approvals,
                   r.codeowners, r.allow_own_approval, r.capture, r.merged_into, r.created_by,
                   r.created_at
              FROM repository_aliases AS a
              JOIN repositories AS r
                ON r.repository_id = a.repository_id
             WHERE a.kind = :kind
               AND a.value = :value
             ORDER BY r.repository_id
            """,
            {"kind": str(fact.kind), "value": fact.value},
        )
        found += [(_repository(row), fact) for row in rows]
    return found


def page(
    tx: Transaction, repository_ids: Iterable[str] | None, *, after: str | None, limit: int
) -> list[Repository]:
    """List repositories by id, merged ones left out, at most *limit* from behind *after*.

    Args:
        tx: A transaction.
        repository_ids: Only these; ``None`` is all of the tenant.
        after: The last id that was given before.
        limit: At least 1.
    """
    if repository_ids is None:
        rows = tx.rows(
            """
            SELECT repository_id, name, identified_by, revision, required_approvals, codeowners,
                   allow_own_approval, capture, merged_into, created_by, created_at
              FROM repositories
             WHERE repository_id > :after
               AND merged_into IS NULL
             ORDER BY repository_id
             LIMIT :limit
            """,
            {"after": after or "", "limit": limit},
        )
    else:
        rows = tx.rows(
            """
            SELECT r.repository_id, r.name, r.identified_by, r.revision, r.required_approvals,
                   r.codeowners, r.allow_own_approval, r.capture, r.merged_into, r.created_by,
                   r.created_at
              FROM json_each(:repository_ids) AS i
              JOIN repositories AS r
                ON r.repository_id = CAST(i.value AS TEXT)
             WHERE r.repository_id > :after
               AND r.merged_into IS NULL
             ORDER BY r.repository_id
             LIMIT :limit
            """,
            {
                "repository_ids": json.dumps(sorted(set(repository_ids))),
                "after": after or "",
                "limit": limit,
            },
        )
    return [_repository(row) for row in rows]


def merge(tx: Transaction, repository_id: str, into: str, at: int) -> None:
    """Make a repository, and those merged into it before, part of *into*.

    Its aliases become aliases of *into*; projects and entries keep the id that their keys carry.
    """
    tx.execute(
        """
        INSERT INTO repository_aliases (repository_id, kind, value, added_at)
        SELECT :target, kind, value, :at
          FROM repository_aliases
         WHERE repository_id = :repository_id
            ON CONFLICT (repository_id, kind, value) DO NOTHING
        """,
        {"target": into, "repository_id": repository_id, "at": at},
    )
    tx.execute(
        "DELETE FROM repository_aliases WHERE repository_id = :repository_id",
        {"repository_id": repository_id},
    )
    tx.execute(
        """
        UPDATE repositories
           SET merged_into = :target
         WHERE repository_id = :repository_id
            OR merged_into = :repository_id
        """,
        {"target": into, "repository_id": repository_id},
    )


def _repository(row: Row) -> Repository:
    (
        repository_id, name, identified_by, revision, required_approvals, codeowners,
        allow_own_approval, capture, merged_into, created_by, created_at,
    ) = row  # fmt: skip
    return Repository(
        repository_id,
        name,
        Fact(identified_by),
        revision,
        required_approvals,
        bool(codeowners),
        bool(allow_own_approval),
        bool(capture),
        merged_into,
        created_by,
        created_at,
    )


def ids(tx: Transaction) -> list[str]:
    """List the ids of all repositories of the tenant, by id: for the program's own jobs."""
    rows = tx.rows("SELECT repository_id FROM repositories ORDER BY repository_id")
    return [row[0] for row in rows]
