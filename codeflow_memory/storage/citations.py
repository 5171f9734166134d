"""Citations: the blob and line hashes of ``file:`` sources, and how the last check found them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain.memory import Memory
from codeflow_memory.domain.sources import parse_source
from codeflow_memory.storage.engine import Row, Transaction


@dataclass(frozen=True, slots=True)
class Citation:
    """One ``file:`` source of a memory, with what stood there when it was made.

    ``blob_hash`` is empty where nothing could be read then, and the check found the file missing.
    """

    memory_id: str
    source: str
    blob_hash: str
    lines_hash: str | None
    result: str
    new_place: str | None
    checked_at: int


def put(tx: Transaction, repository_id: str, citation: Citation) -> None:
    """Write a citation, in place of an older one of the same source."""
    tx.execute(
        """
        INSERT INTO citations (
            repository_id, memory_id, source, blob_hash, lines_hash, result, new_place, checked_at
        ) VALUES (
            :repository_id, :memory_id, :source, :blob_hash, :lines_hash, :result, :new_place,
            :checked_at
        )
        ON CONFLICT (repository_id, memory_id, source) DO UPDATE
           SET blob_hash = excluded.blob_hash, lines_hash = excluded.lines_hash,
               result = excluded.result, new_place = excluded.new_place,
               checked_at = excluded.checked_at
        """,
        {
            "repository_id": repository_id,
            "memory_id": citation.memory_id,
            "source": citation.source,
            "blob_hash": citation.blob_hash,
            "lines_hash": citation.lines_hash,
            "result": citation.result,
            "new_place": citation.new_place,
            "checked_at": citation.checked_at,
        },
    )


def find_all(tx: Transaction, repository_id: str, memory_ids: Iterable[str]) -> list[Citation]:
    """List the citations of *memory_ids*, by memory and source."""
    # CROSS JOIN: with JOIN, SQLite walks all citations of the repository for the order's sake.
    rows = tx.rows(
        """
        SELECT c.memory_id, c.source, c.blob_hash, c.lines_hash, c.result, c.new_place,
               c.checked_at
          FROM json_each(:memory_ids) AS i
         CROSS JOIN citations AS c
         WHERE c.repository_id = :repository_id
           AND c.memory_id = CAST(i.value AS TEXT)
         ORDER BY c.memory_id, c.source
        """,
        {"repository_id": repository_id, "memory_ids": json.dumps(sorted(memory_ids))},
    )
    return [_citation(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A citation that no longer holds: its source, how it was found, whether it was required."""

    source: str
    result: str
    required: bool


def suspects(tx: Transaction, repository_id: str) -> dict[str, list[Suspect]]:
    """Return the citations of a repository that no longer hold, by memory."""
    rows = tx.rows(
        """
        SELECT memory_id, source, result
          FROM citations
         WHERE repository_id = :repository_id
           AND result IN ('changed', 'missing')
         ORDER BY memory_id, source
        """,
        {"repository_id": repository_id},
    )
    found: dict[str, list[Suspect]] = {}
    for memory_id, text, result in rows:
        source = parse_source(text)
        if source is not None and source.path is not None:
            found.setdefault(memory_id, []).append(Suspect(text, result, source.required))
    return found


def retain(tx: Transaction, repository_id: str, memory_id: str, sources: Iterable[str]) -> None:
    """Forget the citations of a memory whose source is none of *sources*."""
    tx.execute(
        """
        DELETE FROM citations
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND source NOT IN (SELECT CAST(value AS TEXT) FROM json_each(:sources))
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "sources": json.dumps(sorted(sources)),
        },
    )


def delete(tx: Transaction, repository_id: str, memory_id: str) -> None:
    """Forget a memory's citations and its last verification."""
    key = {"repository_id": repository_id, "memory_id": memory_id}
    tx.execute(
        """
        DELETE FROM citations
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
        """,
        key,
    )
    tx.execute(
        """
        DELETE FROM verifications
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
        """,
        key,
    )


def put_verification(tx: Transaction, memory: Memory) -> None:
    """Write the last verification of *memory*, in place of an earlier one."""
    check = memory.verification
    if check is None:
        return
    tx.execute(
        """
        INSERT INTO verifications (repository_id, memory_id, commit_hash, principal, result, at)
        VALUES (:repository_id, :memory_id, :commit_hash, :principal, :result, :at)
        ON CONFLICT (repository_id, memory_id) DO UPDATE
           SET commit_hash = excluded.commit_hash, principal = excluded.principal,
               result = excluded.result, at = excluded.at
        """,
        {
            "repository_id": memory.repository_id,
            "memory_id": memory.memory_id,
            "commit_hash": check.commit,
            "principal": check.principal,
            "result": check.result,
            "at": check.at,
        },
    )


def _citation(row: Row) -> Citation:
    return Citation(*row)
