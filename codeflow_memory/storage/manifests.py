"""Manifests: the record of each selection, its free text in a part of its own."""

from codeflow_memory.domain.manifest import Manifest
from codeflow_memory.storage.engine import Row, Transaction


def insert(tx: Transaction, manifest: Manifest, memory_ids: set[str]) -> None:
    """Store a manifest and which memories it lists."""
    tx.execute(
        """
        INSERT INTO manifests (
            repository_id, manifest_id, project_id, principal_id, run_id, created_at, record,
            free_text, free_sha256, context_sha256, manifest_sha256
        ) VALUES (
            :repository_id, :manifest_id, :project_id, :principal_id, :run_id, :created_at,
            :record, :free_text, :free_sha256, :context_sha256, :manifest_sha256
        )
        """,
        {
            "repository_id": manifest.repository_id,
            "manifest_id": manifest.manifest_id,
            "project_id": manifest.project_id,
            "principal_id": manifest.principal_id,
            "run_id": manifest.run_id,
            "created_at": manifest.created_at,
            "record": manifest.record,
            "free_text": manifest.free_text,
            "free_sha256": manifest.free_sha256,
            "context_sha256": manifest.context_sha256,
            "manifest_sha256": manifest.manifest_sha256,
        },
    )
    tx.executemany(
        """
        INSERT INTO manifest_entries (repository_id, memory_id, manifest_id)
        VALUES (:repository_id, :memory_id, :manifest_id)
        """,
        [
            {
                "repository_id": manifest.repository_id,
                "memory_id": memory_id,
                "manifest_id": manifest.manifest_id,
            }
            for memory_id in sorted(memory_ids)
        ],
    )


def find(tx: Transaction, repository_id: str, project_id: str, manifest_id: str) -> Manifest | None:
    """Find a manifest of one project."""
    row = tx.row(
        """
        SELECT manifest_id, repository_id, project_id, principal_id, run_id, created_at, record,
               free_text, free_sha256, context_sha256, manifest_sha256
          FROM manifests
         WHERE repository_id = :repository_id
           AND project_id = :project_id
           AND manifest_id = :manifest_id
        """,
        {
            "repository_id": repository_id,
            "project_id": project_id,
            "manifest_id": manifest_id,
        },
    )
    return None if row is None else _manifest(row)


def find_of_run(
    tx: Transaction,
    repository_id: str,
    project_id: str,
    run_id: str,
    before: str,
    limit: int,
) -> list[Manifest]:
    """List a run's manifests, newest first, those with an id below *before*."""
    # COALESCE keeps SQLite from walking all manifests of the repository for the order's sake.
    rows = tx.rows(
        """
        SELECT manifest_id, repository_id, project_id, principal_id, run_id, created_at, record,
               free_text, free_sha256, context_sha256, manifest_sha256
          FROM manifests
         WHERE COALESCE(repository_id, '') = :repository_id
           AND project_id = :project_id
           AND run_id = :run_id
           AND manifest_id < :before
         ORDER BY manifest_id DESC
         LIMIT :limit
        """,
        {
            "repository_id": repository_id,
            "project_id": project_id,
            "run_id": run_id,
            "before": before,
            "limit": limit,
        },
    )
    return [_manifest(row) for row in rows]


def find_of_principal(
    tx: Transaction,
    repository_id: str,
    project_id: str,
    principal_id: str,
    before: str,
    limit: int,
) -> list[Manifest]:
    """List a principal's manifests, newest first, those with an id below *before*."""
    # COALESCE keeps SQLite from walking all manifests of the repository for the order's sake.
    rows = tx.rows(
        """
        SELECT manifest_id, repository_id, project_id, principal_id, run_id, created_at, record,
               free_text, free_sha256, context_sha256, manifest_sha256
          FROM manifests
         WHERE COALESCE(repository_id, '') = :repository_id
           AND project_id = :project_id
           AND principal_id = :principal_id
           AND manifest_id < :before
         ORDER BY manifest_id DESC
         LIMIT :limit
        """,
        {
            "repository_id": repository_id,
            "project_id": project_id,
            "principal_id": principal_id,
            "before": before,
            "limit": limit,
        },
    )
    return [_manifest(row) for row in rows]


def erase_free_text(tx: Transaction, repository_id: str, memory_id: str) -> None:
    """Take the free text out of every manifest that lists a deleted memory."""
    tx.execute(
        """
        UPDATE manifests
           SET free_text = NULL
         WHERE repository_id = :repository_id
           AND free_text IS NOT NULL
           AND manifest_id IN (SELECT e.manifest_id
                                 FROM manifest_entries AS e
                                WHERE e.repository_id = :repository_id
                                  AND e.memory_id = :memory_id)
        """,
        {"repository_id": repository_id, "memory_id": memory_id},
    )


def _manifest(row: Row) -> Manifest:
    return Manifest(*row)
