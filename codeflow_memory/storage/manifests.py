"""Manifests: the record of each selection, its free text in a part of its own."""

import hashlib
import json

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
    if manifest.free_text is None:
        return
    tx.execute(
        """
        INSERT INTO manifest_lists (repository_id, manifest_id, listed)
        VALUES (:repository_id, :manifest_id, :listed)
        """,
        {
            "repository_id": manifest.repository_id,
            "manifest_id": manifest.manifest_id,
            "listed": b"".join(sorted(map(mark, memory_ids))),
        },
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
    """Take the free text out of every manifest that lists a deleted memory.

    Goes through the lists of the repository, 0.12 s for 100,000: one row for each memory that a
    manifest lists, found by an index, took each selection longer than all else that it stores.
    """
    sought, after = mark(memory_id), ""
    while True:
        page = _lists(tx, repository_id, after)
        # Eight bytes that begin within one mark and end in the next are as unlikely as two equal
        # ones; what a chance costs is words that could have stayed.
        listing = [manifest_id for manifest_id, listed in page if sought in listed]
        if listing:
            _erase(tx, repository_id, listing)
        if len(page) < _PAGE:
            return
        after = page[-1][0]


_PAGE = 1_000
"""Lists that are read at a time, of at most 1.6 kB each."""

MARK_BYTES = 8
"""Of a memory in the list of a manifest."""


def mark(memory_id: str) -> bytes:
    """Return what stands for a memory in the lists of manifests."""
    return hashlib.sha256(memory_id.encode()).digest()[:MARK_BYTES]


def _lists(tx: Transaction, repository_id: str, after: str) -> list[Row]:
    return tx.rows(
        """
        SELECT manifest_id, listed
          FROM manifest_lists
         WHERE repository_id = :repository_id
           AND manifest_id > :after
         ORDER BY manifest_id
         LIMIT :limit
        """,
        {"repository_id": repository_id, "after": after, "limit": _PAGE},
    )


def _erase(tx: Transaction, repository_id: str, manifest_ids: list[str]) -> None:
    ids = json.dumps(manifest_ids)
    tx.execute(
        """
        UPDATE manifests
           SET free_text = NULL
         WHERE repository_id = :repository_id
           AND manifest_id IN (SELECT CAST(value AS TEXT) FROM json_each(:manifest_ids))
        """,
        {"repository_id": repository_id, "manifest_ids": ids},
    )
    tx.execute(
        """
        DELETE FROM manifest_lists
         WHERE repository_id = :repository_id
           AND manifest_id IN (SELECT CAST(value AS TEXT) FROM json_each(:manifest_ids))
        """,
        {"repository_id": repository_id, "manifest_ids": ids},
    )


def _manifest(row: Row) -> Manifest:
    return Manifest(*row)
