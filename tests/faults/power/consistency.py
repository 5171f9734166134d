"""Recomputes from the memories of a real store what must follow from them, and compares.

Terms, edges, revisions, counters, receipts and the audit chain: a change that reached only some of
them is found here, whatever the transaction's state says.
"""

import json
from collections import Counter
from pathlib import Path

import apsw

from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.limits import counts_as_live
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.domain.provenance import relations
from codeflow_memory.domain.terms import document_terms
from codeflow_memory.storage import audit, memories, tenants
from codeflow_memory.storage.sqlite import SQLiteTransaction
from codeflow_memory.storage.words import UnicodeWords

from .drill import DATABASE
from .survey import opened

WORDS, STEMS = UnicodeWords(), SnowballStems()


def check(home: Path) -> None:
    """Raise AssertionError unless everything that follows fits the memories of *home*."""
    with opened(home / DATABASE) as connection:
        _check_revisions(*_checked(connection, home))


def check_imported(home: Path) -> None:
    """Do what `check` does, for entries whose earlier revisions are unknown."""
    with opened(home / DATABASE) as connection:
        _checked(connection, home)


def _checked(connection: apsw.Connection, home: Path) -> tuple[SQLiteTransaction, list[Memory]]:
    home_key = (home / "key").read_bytes()
    tx = SQLiteTransaction(connection, writes=False)
    instance = tenants.find(tx)
    assert instance is not None
    keys = TenantKeys(home_key, instance.instance_id)
    scopes = [row[0] for row in tx.rows("SELECT scope_id FROM scopes ORDER BY scope_id")]
    ids = [row[0] for row in tx.rows("SELECT memory_id FROM memories ORDER BY memory_id")]
    stored = memories.find_all(tx, scopes, ids)
    entries = [s.memory for s in stored]

    assert len(entries) == len(ids)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert audit.first_fault(tx, keys.audit_hash) is None
    _check_terms(tx, entries)
    _check_edges(tx, entries)
    _check_counters(tx, stored)
    _check_manifests(tx)
    return tx, entries


def _check_terms(tx: SQLiteTransaction, entries: list[Memory]) -> None:
    expected = {
        (memory.scope_id, term, form.value, memory.memory_id)
        for memory in entries
        if memory.status is Status.ACCEPTED and memory.content is not None
        for term, form in document_terms(
            memory.content.title, memory.content.tags, memory.content.body, WORDS, STEMS
        )
    }
    assert expected == set(tx.rows("SELECT scope_id, term, form, memory_id FROM memory_terms"))


def _check_edges(tx: SQLiteTransaction, entries: list[Memory]) -> None:
    expected = {
        (memory.memory_id, memory.revision, edge.type, edge.kind, edge.key, edge.revision)
        for memory in entries
        for edge in relations(memory)
    }
    found = tx.rows(
        """
        SELECT r.memory_id, r.memory_revision, r.type, e.kind, e.key, r.target_revision
          FROM relationships AS r
          LEFT JOIN entities AS e
            ON e.entity_id = r.target
        """
    )
    assert expected == set(found)
    orphans = tx.value(
        "SELECT COUNT(*) FROM entities WHERE entity_id NOT IN (SELECT target FROM relationships)"
    )
    assert orphans == 0


def _check_revisions(tx: SQLiteTransaction, entries: list[Memory]) -> None:
    rows = tx.rows("SELECT memory_id, revision, content_sha256 FROM memory_revisions")
    assert Counter(row[0] for row in rows) == Counter(
        {memory.memory_id: memory.revision for memory in entries}
    )
    hashes = {(memory_id, revision): digest for memory_id, revision, digest in rows}
    for memory in entries:
        assert hashes[memory.memory_id, memory.revision] == memory.content_sha256
        if memory.content is not None:
            assert memory.content.sha256() == memory.content_sha256
    unheard = tx.rows(
        """
        SELECT memory_id
          FROM memory_revisions
         WHERE operation_id NOT IN (SELECT operation_id FROM receipts)
        """
    )
    assert unheard == []


def _check_counters(tx: SQLiteTransaction, stored: list[memories.Stored]) -> None:
    live: Counter[int] = Counter()
    accepted: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for entry in stored:
        live[entry.memory.scope_id] += counts_as_live(entry.memory)
        accepted[entry.memory.scope_id] += entry.memory.status is Status.ACCEPTED
        sizes[entry.memory.scope_id] += entry.canonical_bytes
    rows = tx.rows("SELECT scope_id, live_entries, accepted_entries, canonical_bytes FROM scopes")
    for scope_id, *counted in rows:
        assert counted == [live[scope_id], accepted[scope_id], sizes[scope_id]], scope_id


def _check_manifests(tx: SQLiteTransaction) -> None:
    """No manifest with words lists a deleted memory; those with words, and no others, have a list.

    What a manifest lists is read from its record, not from the list that deletions go by.
    """
    rows = tx.rows("SELECT manifest_id, record FROM manifests WHERE free_text IS NOT NULL")
    deleted = {i for (i,) in tx.rows("SELECT memory_id FROM memories WHERE status = 'deleted'")}
    for _, record in rows:
        parts = json.loads(record)
        listed = {e["memory_id"] for e in (*parts["entries"], *parts["omitted"])}
        assert not listed & deleted
    lists = tx.rows("SELECT manifest_id FROM manifest_lists")
    assert {i for (i,) in lists} == {i for i, _ in rows}
