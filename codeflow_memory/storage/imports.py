"""The record of the older document's import, and the statements that only an import needs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.ranking import MAX_FREQUENCY
from codeflow_memory.domain.terms import Form, Frequencies
from codeflow_memory.storage.engine import Transaction

Finding = Mapping[str, object]
"""``{memory_id, rules}``; of a tombstone also the ``derived_from`` that no column keeps."""

TermRow = tuple[int | str, ...]
"""Scope, term, form, memory and three frequencies: a row of the keyword index."""


class State(StrEnum):
    """How far an import is; without a record there was none.

    ``committed``: its rows are there. ``renamed``: the document has made room too. ``finalised``:
    a record changed since, so there is no way back but a backup.
    """

    COMMITTED = "committed"
    RENAMED = "renamed"
    FINALISED = "finalised"


@dataclass(frozen=True, slots=True)
class Import:
    """The receipt of an import.

    Args:
        state: See `State`.
        source_sha256: Of the document's bytes, in hex.
        digest: SHA-256 of the canonical records as they were read back.
        counts: Kind of record to number.
        findings: What a scanner found, by memory id.
        imported_at: Unix microseconds.
    """

    state: State
    source_sha256: str
    digest: str
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    imported_at: int


def find(tx: Transaction) -> Import | None:
    """Find the record; there is at most one."""
    row = tx.row(
        """
        SELECT state, source_sha256, digest, counts, findings, imported_at
          FROM imports
         WHERE singleton = 1
        """
    )
    if row is None:
        return None
    state, source_sha256, digest, counts, findings, imported_at = row
    return Import(
        State(state),
        source_sha256,
        digest,
        json.loads(counts),
        tuple(json.loads(findings)),
        imported_at,
    )


def insert(tx: Transaction, record: Import) -> None:
    """Write the record; there is none yet."""
    tx.execute(
        """
        INSERT INTO imports (
            singleton, state, source_sha256, digest, counts, findings, imported_at
        ) VALUES (
            1, :state, :source_sha256, :digest, :counts, :findings, :imported_at
        )
        """,
        {
            "state": str(record.state),
            "source_sha256": record.source_sha256,
            "digest": record.digest,
            "counts": json.dumps(record.counts, sort_keys=True),
            "findings": json.dumps(record.findings, sort_keys=True, ensure_ascii=False),
            "imported_at": record.imported_at,
        },
    )


def mark_renamed(tx: Transaction) -> None:
    """Record that the document has made room; a later state stays."""
    tx.execute("UPDATE imports SET state = 'renamed' WHERE state = 'committed'")


def finalise(tx: Transaction) -> None:
    """Record that a record changes since the import; nothing happens when it was so before."""
    tx.execute("UPDATE imports SET state = 'finalised' WHERE state <> 'finalised'")


def has_memories(tx: Transaction) -> bool:
    """Tell whether the database holds any entry, deleted ones included."""
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM memories)"))


def has_memories_of(tx: Transaction, repository_id: str, project_id: str) -> bool:
    """Tell whether a project holds any entry of any audience, deleted ones included."""
    return bool(
        tx.value(
            """
            SELECT EXISTS (
                   SELECT 1
                     FROM scopes AS s
                     JOIN memories AS m
                       ON m.scope_id = s.scope_id
                    WHERE s.repository_id = :repository_id
                      AND s.project_id = :project_id
            )
            """,
            {"repository_id": repository_id, "project_id": project_id},
        )
    )


def known_memories(tx: Transaction, memory_ids: Iterable[str]) -> list[str]:
    """List which of *memory_ids* any entry of the tenant has, by id."""
    rows = tx.rows(
        """
        SELECT m.memory_id
          FROM scopes AS s
         CROSS JOIN json_each(:memory_ids) AS i
         CROSS JOIN memories AS m
         WHERE m.scope_id = s.scope_id
           AND m.memory_id = CAST(i.value AS TEXT)
         ORDER BY m.memory_id
        """,
        {"memory_ids": json.dumps(sorted(memory_ids))},
    )
    return [row[0] for row in rows]


def memory_ids(tx: Transaction, scope_ids: Iterable[int]) -> list[tuple[int, str]]:
    """List ``(scope_id, memory_id)`` of every entry of *scope_ids*, by memory id."""
    rows = tx.rows(
        """
        SELECT m.scope_id, m.memory_id
          FROM json_each(:scopes) AS s
          JOIN memories AS m
            ON m.scope_id = CAST(s.value AS INTEGER)
         ORDER BY m.memory_id
        """,
        {"scopes": json.dumps(sorted(scope_ids))},
    )
    return [(scope_id, memory_id) for scope_id, memory_id in rows]


def insert_terms(
    tx: Transaction,
    terms_of: Mapping[tuple[int, str], Mapping[tuple[str, Form], Frequencies]],
) -> None:
    """Write the terms of entries ``(scope_id, memory_id)`` that have none in the index yet.

    Sorted as a whole, so that many entries' words land side by side: one entry after the other,
    each row of a large import fell on another page.
    """
    rows: list[TermRow] = [
        (scope_id, term, form.value, memory_id, *(min(n, MAX_FREQUENCY) for n in times))
        for (scope_id, memory_id), terms in terms_of.items()
        for (term, form), times in terms.items()
    ]
    tx.executemany(
        """
        INSERT INTO memory_terms (
            scope_id, term, form, memory_id, title_tf, tag_tf, body_tf
        ) VALUES (
            :scope_id, :term, :form, :memory_id, :title_tf, :tag_tf, :body_tf
        )
        """,
        sorted(rows),
    )
    tx.executemany(
        """
        INSERT INTO memory_term_lists (scope_id, memory_id, terms)
        VALUES (:scope_id, :memory_id, :terms)
        """,
        (
            (*key, json.dumps(sorted(terms), ensure_ascii=False))
            for key, terms in sorted(terms_of.items())
        ),
    )


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt as it lies in the database."""

    operation_id: str
    request_hash: str
    action: str
    target_id: str
    revision: int
    at: int


def receipts_of(tx: Transaction, principal_id: str) -> list[StoredReceipt]:
    """List all of a principal's receipts, by operation."""
    rows = tx.rows(
        """
        SELECT operation_id, request_hash, action, target_id, revision, at
          FROM receipts
         WHERE principal_id = :principal_id
         ORDER BY operation_id
        """,
        {"principal_id": principal_id},
    )
    return [StoredReceipt(*row) for row in rows]
