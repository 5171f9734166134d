"""Projects: the named parts of repositories, which entries belong to."""

import json
from collections.abc import Iterable

from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.identity import normalise_remote
from codeflow_memory.domain.labels import absolute_path
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import named_by
from codeflow_memory.storage import repositories
from codeflow_memory.storage.engine import Transaction


def find(tx: Transaction, repository_id: str, project_id: str) -> Project | None:
    """Find a project of a repository by id."""
    row = tx.row(
        """
        SELECT repository_id, project_id, slug, name, path_prefix, created_at
          FROM projects
         WHERE repository_id = :repository_id
           AND project_id = :project_id
        """,
        {"repository_id": repository_id, "project_id": project_id},
    )
    return None if row is None else Project(*row)


def get(tx: Transaction, repository_id: str, project_id: str) -> Project:
    """Return a project of a repository by id.

    Raises:
        NotFoundError: There is none.
    """
    found = find(tx, repository_id, project_id)
    if found is None:
        raise NotFoundError("project", project_id)
    return found


def find_by_slug(tx: Transaction, repository_id: str, slug: str) -> Project | None:
    """Find a project of exactly this repository, not of one merged with it, by slug."""
    row = tx.row(
        """
        SELECT repository_id, project_id, slug, name, path_prefix, created_at
          FROM projects
         WHERE repository_id = :repository_id
           AND slug = :slug
        """,
        {"repository_id": repository_id, "slug": slug},
    )
    return None if row is None else Project(*row)


def named(tx: Transaction, project: str, repo: str | None) -> list[Project]:
    """List the projects that an id, else a slug, names in any repository that *repo* names.

    Across the whole tenant: the caller keeps those that its access reaches.

    Args:
        tx: A transaction.
        project: An id or a slug.
        repo: A repository's id, key, remote or registered absolute path; ``None`` narrows nothing.
    """
    within = None if repo is None else set(repositories_named(tx, repo))
    rows = tx.rows(
        """
        SELECT repository_id, project_id, slug, name, path_prefix, created_at
          FROM projects
         WHERE project_id = :project
         ORDER BY project_id
        """,
        {"project": project},
    ) or tx.rows(
        """
        SELECT repository_id, project_id, slug, name, path_prefix, created_at
          FROM projects
         WHERE slug = :project
         ORDER BY project_id
        """,
        {"project": project},
    )
    found = [Project(*row) for row in rows]
    return [p for p in found if within is None or p.repository_id in within]


def repositories_named(tx: Transaction, repo: str) -> list[str]:
    """List the ids of every repository that *repo* may name, merged ones with their whole.

    Across the whole tenant: the caller keeps those that its access reaches.
    """
    facts = named_by(repo, normalise_remote(repo), absolute_path(repo))
    whole = {r.repository_id for r, _ in repositories.matching(tx, facts)}
    direct = repositories.find(tx, repo)
    if direct is not None:
        whole.add(direct.repository_id)
    return sorted({m for repository_id in whole for m in repositories.members(tx, repository_id)})


def list_of_repositories(
    tx: Transaction, repository_ids: Iterable[str] | None, *, after: str | None, limit: int
) -> list[Project]:
    """List projects by id, at most *limit* of them from behind *after*.

    Args:
        tx: A transaction.
        repository_ids: Only of these; ``None`` is all of the tenant.
        after: The last project id that was given before.
        limit: At least 1.
    """
    if repository_ids is None:
        rows = tx.rows(
            """
            SELECT repository_id, project_id, slug, name, path_prefix, created_at
              FROM projects
             WHERE project_id > :after
             ORDER BY project_id
             LIMIT :limit
            """,
            {"after": after or "", "limit": limit},
        )
    else:
        rows = tx.rows(
            """
            SELECT p.repository_id, p.project_id, p.slug, p.name, p.path_prefix, p.created_at
              FROM json_each(:repository_ids) AS i
              JOIN projects AS p
                ON p.repository_id = CAST(i.value AS TEXT)
             WHERE p.project_id > :after
             ORDER BY p.project_id
             LIMIT :limit
            """,
            {
                "repository_ids": json.dumps(sorted(set(repository_ids))),
                "after": after or "",
                "limit": limit,
            },
        )
    return [Project(*row) for row in rows]


def list_of_repository(tx: Transaction, repository_id: str) -> list[Project]:
    """List every project of a repository and of those merged into it, by id."""
    return list_of_repositories(
        tx, repositories.members(tx, repository_id), after=None, limit=_ALL_OF_ONE
    )


_ALL_OF_ONE = 10_000
"""More projects than a repository has folders worth naming."""


def insert(tx: Transaction, project: Project) -> None:
    """Write a new project; its repository has none of its slug."""
    tx.execute(
        """
        INSERT INTO projects (repository_id, project_id, slug, name, path_prefix, created_at)
        VALUES (:repository_id, :project_id, :slug, :name, :path_prefix, :created_at)
        """,
        {
            "repository_id": project.repository_id,
            "project_id": project.project_id,
            "slug": project.slug,
            "name": project.name,
            "path_prefix": project.path_prefix,
            "created_at": project.created_at,
        },
    )


def rename(tx: Transaction, repository_id: str, project_id: str, slug: str) -> None:
    """Give a project another slug, which its repository does not have yet."""
    tx.execute(
        """
        UPDATE projects
           SET slug = :slug
         WHERE repository_id = :repository_id
           AND project_id = :project_id
        """,
        {"repository_id": repository_id, "project_id": project_id, "slug": slug},
    )


def hidden_secrets(tx: Transaction, scope_id: int, principal_id: str) -> tuple[int, int]:
    """Count what a scope's counters hold of others' secret entries: how many, and their bytes.

    Secret entries are never accepted, so this reads the few entries that are not. Their tombstones
    have bytes and count as no entry.
    """
    row = tx.row(
        """
        SELECT COUNT(CASE WHEN status <> 'deleted' THEN 1 END), COALESCE(SUM(canonical_bytes), 0)
          FROM memories
         WHERE scope_id = :scope_id
           AND status IN ('proposed', 'rejected', 'outdated', 'superseded', 'archived', 'deleted')
           AND sensitivity = 'secret'
           AND kind <> 'trace'
           AND owner <> :principal_id
        """,
        {"scope_id": scope_id, "principal_id": principal_id},
    )
    return (0, 0) if row is None else (int(row[0]), int(row[1]))
