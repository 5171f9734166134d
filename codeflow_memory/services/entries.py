"""The rows of one entry: what every change of a memory writes besides its own row.

Terms, graph, counters, limits, revision and audit follow the entry in the same transaction.
"""

from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Scope
from codeflow_memory.domain.errors import LimitExceededError
from codeflow_memory.domain.limits import (
    PROJECT_ENTRIES,
    RUN_ENTRIES,
    SCOPE_BYTES,
    counted_bytes,
    counts_as_live,
    counts_for_run,
)
from codeflow_memory.domain.memory import Collection, Memory, Status
from codeflow_memory.domain.provenance import Edge, relations
from codeflow_memory.domain.terms import document_terms
from codeflow_memory.services import conflicts
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import graph, memories, revisions, runs, scopes, terms
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.revisions import Step

REASON_CODES = frozenset(
    {
        "wrong",
        "outdated",
        "secret",
        "not-durable",
        "duplicate",
        "expired",
        "trust",
        "superseded",
        "retention",
        "erasure",
        "source-removed",
    }
)
"""Reasons that audit and tombstones keep: a free text could repeat words of a deleted memory."""


def code_of(reason: str | None) -> str | None:
    """Return *reason* when it is a code, else ``None``."""
    return reason if reason in REASON_CODES else None


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to an entry.

    Args:
        action: The word of the audit and of the revision.
        reason: The caller's reason, kept with the revision.
        editor: Who wrote the text; ``None`` leaves it with whom it was.
        own: Whether it is a decision on the caller's own proposal: the audit says so.
    """

    action: str
    reason: str | None = None
    editor: str | None = None
    own: bool = False


def add(mutation: Mutation, memory: Memory, *, text_hash: str, reason: str | None = None) -> Memory:
    """Write a new entry with everything that follows from it; *reason* is kept with its revision.

    Returns:
        The memory as written, with the conflicts that it has.

    Raises:
        LimitExceededError: A limit of the scope, project or run would be passed.
    """
    written = conflicts.settled(mutation, memory)
    memories.insert(mutation.tx, written, editor=memory.author, text_hash=text_hash)
    _follow(mutation, None, written, Change("create", reason=reason))
    return written


def change(
    mutation: Mutation,
    stored: Stored,
    memory: Memory,
    done: Change,
    *,
    text_hash: str | None = None,
) -> Memory:
    """Write *memory* as the next revision of *stored* with everything that follows from it.

    Returns:
        The memory as written: its revision is one more, its time the mutation's, its conflicts and
        trust what they are in its status.

    Raises:
        RevisionConflictError: The entry changed since *stored* was read.
        LimitExceededError: A limit of the scope, project or run would be passed.
    """
    written = conflicts.settled(
        mutation, replace(memory, revision=stored.memory.revision + 1, updated_at=mutation.at)
    )
    memories.replace(
        mutation.tx,
        written,
        editor=done.editor or stored.editor,
        text_hash=stored.text_hash if text_hash is None else text_hash,
        base_revision=stored.memory.revision,
    )
    _follow(mutation, stored, written, done)
    return written


def scope_of(memory: Memory) -> Scope:
    """Return the scope that *memory* lies in."""
    match memory.collection:
        case Collection.PROJECT:
            audience = "project"
        case Collection.TEAM:
            audience = f"team:{memory.team_id}"
        case Collection.PRIVATE:
            audience = f"private:{memory.owner}"
    return Scope(memory.scope_id, memory.repository_id, memory.project_id, audience)


def _follow(mutation: Mutation, stored: Stored | None, memory: Memory, done: Change) -> None:
    before = None if stored is None else stored.memory
    _count(mutation, stored, memory)
    _project(mutation, before, memory)
    revisions.insert(
        mutation.tx,
        memory,
        Step(
            done.action,
            mutation.access.principal_id,
            mutation.operation_id,
            done.reason,
            memory.trust,
        ),
    )
    mutation.record(
        done.action,
        memory.memory_id,
        repository_id=memory.repository_id,
        scope_id=memory.scope_id,
        from_revision=None if before is None else before.revision,
        to_revision=memory.revision,
        from_status=None if before is None else str(before.status),
        to_status=str(memory.status),
        reason=_reason(done),
    )
    conflicts.settle_others(mutation, before, memory)


def _reason(done: Change) -> str | None:
    codes = [code for code in ("own" if done.own else None, code_of(done.reason)) if code]
    return " ".join(codes) or None


def _count(mutation: Mutation, stored: Stored | None, memory: Memory) -> None:
    before = None if stored is None else stored.memory
    live = counts_as_live(memory) - (before is not None and counts_as_live(before))
    accepted = (memory.status is Status.ACCEPTED) - (
        before is not None and before.status is Status.ACCEPTED
    )
    grown = counted_bytes(memory) - (0 if stored is None else stored.canonical_bytes)
    entries, total = scopes.count(
        mutation.tx, scope_of(memory), live=live, accepted=accepted, canonical_bytes=grown
    )
    if live > 0 and memory.collection is Collection.PROJECT:
        _within("live entries of the project", entries, PROJECT_ENTRIES)
    # A tombstone can be larger than a very short entry, and a deletion is never refused for room.
    if grown > 0 and memory.content is not None:
        _within("canonical JSON of the scope, in bytes", total, SCOPE_BYTES)
    by = counts_for_run(memory) - (before is not None and counts_for_run(before))
    if by and memory.run_id is not None:
        used = runs.count_entries(mutation.tx, memory.repository_id, memory.run_id, by)
        if by > 0:
            _within("live private and team entries of the run", used, RUN_ENTRIES)


def _within(limit: str, value: int, maximum: int) -> None:
    if value > maximum:
        raise LimitExceededError(limit, value=value, maximum=maximum)


def _project(mutation: Mutation, before: Memory | None, memory: Memory) -> None:
    """Bring the entry's derived rows, terms and edges, in line with *memory*."""
    was_indexed = before is not None and before.status is Status.ACCEPTED
    indexed = memory.status is Status.ACCEPTED
    text_changed = before is None or _words(before) != _words(memory)
    if was_indexed and (not indexed or text_changed):
        terms.delete(mutation.tx, memory.scope_id, memory.memory_id)
    if indexed and (not was_indexed or text_changed):
        index(mutation, memory)
    link(mutation, before, memory)


def _words(memory: Memory) -> tuple[object, ...] | None:
    """Return the fields that the keyword index holds; a change of others leaves it as it is."""
    content = memory.content
    return None if content is None else (content.title, content.tags, content.body)


def index(mutation: Mutation, memory: Memory) -> None:
    """Write the entry's rows of the keyword index; it has none yet."""
    content = memory.content
    if content is None:
        return
    store = mutation.store
    rows = document_terms(content.title, content.tags, content.body, store.words, store.stems)
    terms.insert(mutation.tx, memory.scope_id, memory.memory_id, rows)


def link(mutation: Mutation, before: Memory | None, memory: Memory) -> None:
    """Write the entry's edges for its revision; without a *before* it supplies none yet."""
    scope, edges = scope_of(memory), _edges(memory)
    if before is None:
        graph.add(mutation.tx, scope, edges)
    else:
        graph.replace(mutation.tx, scope, memory.memory_id, edges)


def _edges(memory: Memory) -> list[Edge]:
    return [
        Edge(
            memory.scope_id,
            memory.memory_id,
            memory.revision,
            relation.type,
            relation.kind,
            relation.key,
            relation.revision,
        )
        for relation in relations(memory)
    ]
