"""The rows of an imported document, written in one transaction and proven before it commits."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codeflow_memory.adapters.legacy_records import Document, LegacyEntry
from codeflow_memory.domain.access import Origin, Scope
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.limits import counted_bytes, counts_as_live, counts_for_run
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.domain.run import Run
from codeflow_memory.domain.terms import Form, Frequencies, document_terms
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    entries,
    governance,
    legacy_places,
    legacy_proof,
    legacy_source,
)
from codeflow_memory.services import legacy_mapping as mapping
from codeflow_memory.services.legacy_mapping import Places
from codeflow_memory.services.legacy_source import Source
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    approvals,
    citations,
    feedback,
    imports,
    memories,
    principals,
    receipts,
    revisions,
    runs,
    scopes,
)
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.imports import Finding, Import, State
from codeflow_memory.storage.receipts import Receipt
from codeflow_memory.storage.revisions import Step

ACTION = "import"
"""The word of the audit and of the first revision here."""

_NO_AGENT = "unknown"
_NAME_LENGTH = 200
_TERM_ROWS = 200_000
"""Rows of the keyword index written at once: what bounds the memory that they take."""

_CHUNK = 250
"""Entries read back at once."""


def write(
    store: Store, tx: Transaction, source: Source, at: int, watch: Watch = unwatched
) -> Import:
    """Write a whole document into a database without entries, then prove it.

    Returns:
        The import's record, written too.

    Raises:
        StoreUnusableError: Something was read back otherwise than it was written; the caller lets
            the transaction go.
    """
    owner = principals.first_owner(tx)
    if owner is None:
        raise StoreUnusableError(store.engine.name, "it has no owner to import for")
    access = accesses.of_principal(store, tx, owner.principal_id, Origin.LEGACY)
    mutation = Mutation(store, tx, access, store.ids.new("op"), store.ids.new("bat"), at)
    document = source.document
    places = legacy_places.make(mutation, document)
    _write_entries(mutation, source, places, watch)
    _write_receipts(tx, document, owner.principal_id)
    record = Import(
        State.COMMITTED,
        source.sha256,
        _digest(document, places),
        legacy_source.summarise(source),
        tuple(_findings(source)),
        at,
    )
    imports.insert(tx, record)
    mutation.record(ACTION, source.sha256)
    legacy_proof.prove(tx, document, places)
    return record


def _write_entries(mutation: Mutation, source: Source, places: Places, watch: Watch) -> None:
    tx = mutation.tx
    counters: defaultdict[Scope, Counter[str]] = defaultdict(Counter)
    written: list[tuple[LegacyEntry, Memory]] = []
    waiting: dict[tuple[int, str], dict[tuple[str, Form], Frequencies]] = {}
    pending = 0
    # By id, so that rows land side by side in their tables.
    ordered = sorted(source.document.entries, key=lambda e: e.memory_id)
    for entry in watch(ordered, "entries"):
        memory = mapping.to_memory(entry, places, source.flags.get(entry.memory_id, ()))
        _write_entry(mutation, entry, memory)
        _count(counters[places.scope_of(entry)], memory)
        written.append((entry, memory))
        if memory.status is Status.ACCEPTED and (content := memory.content) is not None:
            store = mutation.store
            rows = document_terms(
                content.title, content.tags, content.body, store.words, store.stems
            )
            waiting[memory.scope_id, memory.memory_id] = rows
            pending += len(rows)
        if pending > _TERM_ROWS:
            imports.insert_terms(tx, waiting)
            waiting, pending = {}, 0
    imports.insert_terms(tx, waiting)
    _write_runs(mutation, written)
    for scope, counts in counters.items():
        scopes.count(tx, scope, **counts)
    where = {memory.memory_id: memory.repository_id for _, memory in written}
    for memory_id, judgement in mapping.to_feedback(source.document.feedback):
        feedback.insert(tx, where[memory_id], memory_id, judgement)


def _write_entry(mutation: Mutation, entry: LegacyEntry, memory: Memory) -> None:
    tx, content = mutation.tx, memory.content
    memories.insert(
        tx,
        memory,
        editor=memory.author,
        text_hash="" if content is None else governance.hash_text(mutation.store, content),
    )
    actor, at = memory.author, memory.updated_at
    if memory.tombstone is not None:
        actor, at = memory.tombstone.deleted_by, memory.tombstone.deleted_at
    revisions.insert(
        tx, replace(memory, updated_at=at), Step(ACTION, actor, mutation.operation_id, None)
    )
    citations.put_verification(tx, memory)
    for approval in mapping.to_approvals(entry):
        approvals.insert(tx, memory.repository_id, memory.memory_id, approval)
    if content is not None:
        entries.link(mutation, None, memory)


def _count(counter: Counter[str], memory: Memory) -> None:
    counter["live"] += counts_as_live(memory)
    counter["accepted"] += memory.status is Status.ACCEPTED
    counter["canonical_bytes"] += counted_bytes(memory)


def _write_runs(mutation: Mutation, written: Iterable[tuple[LegacyEntry, Memory]]) -> None:
    """Write a run, ended, for each that an entry names."""
    tx = mutation.tx
    by_run: defaultdict[tuple[str, str], list[tuple[LegacyEntry, Memory]]] = defaultdict(list)
    for entry, memory in written:
        if memory.run_id is not None:
            by_run[memory.repository_id, memory.run_id].append((entry, memory))
    for (repository_id, run_id), of_run in sorted(by_run.items()):
        first = of_run[0][1]
        live = sum(counts_for_run(memory) for _, memory in of_run)
        run = Run(
            repository_id=repository_id,
            run_id=run_id,
            project_id=first.project_id,
            principal_id=mutation.access.principal_id,
            branch=None,
            agent=next((e.agent for e, _ in of_run if e.agent is not None), _NO_AGENT),
            team_id=next((m.team_id for _, m in of_run if m.team_id is not None), None),
            live_entries=live,
            started_at=min(m.created_at for _, m in of_run),
            ended_at=max(m.updated_at for _, m in of_run),
        )
        if runs.find(tx, repository_id, run_id) is None:
            runs.insert(tx, run)
        else:
            runs.count_entries(tx, repository_id, run_id, live)


def _write_receipts(tx: Transaction, document: Document, owner: str) -> None:
    for receipt in document.receipts:
        receipts.insert(
            tx,
            owner,
            receipt.operation_id,
            Receipt(receipt.action, receipt.memory_id, receipt.revision, {}),
            request_hash=receipt.request_hash,
            at=receipt.at,
        )


def _findings(source: Source) -> Iterator[Finding]:
    for entry in source.document.entries:
        flags = source.flags.get(entry.memory_id)
        if flags:
            yield {"memory_id": entry.memory_id, "rules": list(flags)}
        elif entry.content is None and entry.derived_from:
            pairs = [[pair.memory_id, pair.revision] for pair in entry.derived_from]
            yield {"memory_id": entry.memory_id, "rules": [], "derived_from": pairs}


def _digest(document: Document, places: Places) -> str:
    expected = [mapping.expected(entry, places) for entry in document.entries]
    return mapping.digest_of([*expected, *document.receipts, *document.feedback])
