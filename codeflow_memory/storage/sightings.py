"""Sightings: where a memory's text was seen. Places of guidance are kept as keyed hashes.

Other sources are the runs and principals that said it again (``run:<id>``, ``principal:<id>``). A
place, such as a file and its headings, repeats words of the text; its hash does not, and may stay
when the text is deleted.
"""

from codeflow_memory.storage.engine import Transaction

_LEARNED = "learned:"
_BEHIND = "learned;"
"""The first text behind all that begin with ``learned:``."""


def put(tx: Transaction, repository_id: str, memory_id: str, source: str, at: int) -> bool:
    """Say that a source said a memory's text; tell whether it had not before."""
    written = tx.execute(
        """
        INSERT INTO sightings (repository_id, memory_id, source, at)
        VALUES (:repository_id, :memory_id, :source, :at)
        ON CONFLICT (repository_id, memory_id, source) DO NOTHING
        """,
        {"repository_id": repository_id, "memory_id": memory_id, "source": source, "at": at},
    )
    return written == 1


def sources(tx: Transaction, repository_id: str, memory_id: str) -> list[str]:
    """List who or which run said a memory's text again, by source; not the places of guidance."""
    rows = tx.rows(
        """
        SELECT source
          FROM sightings
         WHERE repository_id = :repository_id
           AND memory_id = :memory_id
           AND (source < :first OR source >= :behind)
         ORDER BY source
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "first": _LEARNED,
            "behind": _BEHIND,
        },
    )
    return [row[0] for row in rows]


def put_learned(
    tx: Transaction, repository_id: str, memory_id: str, place_hash: str, at: int
) -> None:
    """Say that a place of guidance holds a memory's text now."""
    tx.execute(
        """
        INSERT INTO sightings (repository_id, memory_id, source, at)
        VALUES (:repository_id, :memory_id, :source, :at)
        ON CONFLICT (repository_id, memory_id, source) DO UPDATE
           SET at = excluded.at
        """,
        {
            "repository_id": repository_id,
            "memory_id": memory_id,
            "source": _LEARNED + place_hash,
            "at": at,
        },
    )


def learned(tx: Transaction, repository_id: str, project_id: str) -> dict[str, str]:
    """Return for each place of a project's guidance, by its hash, the last memory seen there."""
    rows = tx.rows(
        """
        SELECT s.source, s.memory_id
          FROM sightings AS s
          JOIN memories AS m
            ON m.repository_id = s.repository_id
           AND m.memory_id = s.memory_id
         WHERE s.repository_id = :repository_id
           AND m.project_id = :project_id
           AND s.source >= :first
           AND s.source < :behind
         ORDER BY s.at, s.memory_id, s.source
        """,
        {
            "repository_id": repository_id,
            "project_id": project_id,
            "first": _LEARNED,
            "behind": _BEHIND,
        },
    )
    return {source.removeprefix(_LEARNED): memory_id for source, memory_id in rows}
