"""The rows of exactly imported memories: written from their lines, and read back as lines."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from codeflow_memory.adapters.exported_shapes import MemoryLine, RevisionPart
from codeflow_memory.domain.access import Scope
from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.errors import InvalidRequestError, LimitExceededError
from codeflow_memory.domain.limits import (
    PROJECT_ENTRIES,
    SCOPE_BYTES,
    counted_bytes,
    counts_as_live,
    counts_for_run,
)
from codeflow_memory.domain.memory import (
    Collection,
    Memory,
    Status,
    Tombstone,
    Verification,
)
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.domain.terms import Form, Frequencies, document_terms
from codeflow_memory.services import entries, governance
from codeflow_memory.services.exported_records import of_memories
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import (
    approvals,
    citations,
    feedback,
    imports,
    memories,
    revisions,
    runs,
    scopes,
)
from codeflow_memory.storage.citations import Citation
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.feedback import Feedback
from codeflow_memory.storage.revisions import Step

_TERM_ROWS = 200_000
"""Rows of the keyword index written at once: what bounds the memory that they take."""


@dataclass(slots=True)
class _Written:
    """What the entries written so far add to terms and counters."""

    terms: dict[tuple[int, str], dict[tuple[str, Form], Frequencies]] = field(default_factory=dict)
    rows: int = 0
    scopes: defaultdict[Scope, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    runs: Counter[tuple[str, str]] = field(default_factory=Counter)


def write(
    mutation: Mutation, lines: list[tuple[int, MemoryLine]], watch: Watch = unwatched
) -> None:
    """Write the memories of one project, which is empty, with all that follows from them.

    Raises:
        LimitExceededError: The project or a scope would hold too much.
    """
    done = _Written()
    for _, line in watch(sorted(lines, key=lambda pair: pair[1].id), "memories"):
        scope = scopes.ensure(mutation.tx, line.repository_id, line.project_id, _audience(line))
        memory = _to_memory(line, scope)
        _write_one(mutation, line, memory)
        _note(mutation, done, scope, memory)
        if done.rows > _TERM_ROWS:
            imports.insert_terms(mutation.tx, done.terms)
            done.terms, done.rows = {}, 0
    imports.insert_terms(mutation.tx, done.terms)
    for scope, counts in done.scopes.items():
        live, size = scopes.count(mutation.tx, scope, **counts)
        if scope.audience == "project":
            _within("live entries of the project", live, PROJECT_ENTRIES)
        _within("canonical JSON of the scope, in bytes", size, SCOPE_BYTES)
    for (repository_id, run_id), live in done.runs.items():
        runs.count_entries(mutation.tx, repository_id, run_id, live)


def _within(limit: str, value: int, maximum: int) -> None:
    if value > maximum:
        raise LimitExceededError(limit, value=value, maximum=maximum)


def _note(mutation: Mutation, done: _Written, scope: Scope, memory: Memory) -> None:
    content, counts = memory.content, done.scopes[scope]
    counts["live"] += counts_as_live(memory)
    counts["accepted"] += memory.status is Status.ACCEPTED
    counts["canonical_bytes"] += counted_bytes(memory)
    if memory.run_id is not None and counts_for_run(memory):
        done.runs[memory.repository_id, memory.run_id] += 1
    if memory.status is Status.ACCEPTED and content is not None:
        store = mutation.store
        terms = document_terms(content.title, content.tags, content.body, store.words, store.stems)
        done.terms[memory.scope_id, memory.memory_id] = terms
        done.rows += len(terms)


def _write_one(mutation: Mutation, line: MemoryLine, memory: Memory) -> None:
    tx, content = mutation.tx, memory.content
    where = memory.repository_id, memory.memory_id
    # A tombstone's hash is keyed by the store that made it; here nothing can be equal to it.
    text_hash = "" if content is None else governance.hash_text(mutation.store, content)
    memories.insert(tx, memory, editor=line.editor, text_hash=text_hash)
    for kept in line.revisions:
        step = Step(kept.action, kept.actor, kept.operation_id, kept.reason, kept.trust)
        revisions.insert(tx, _as_it_was(memory, kept), step)
    citations.put_verification(tx, memory)
    for a in line.approvals:
        approval = Approval(
            a.revision, a.principal, a.decision, a.own, a.withdrawn, a.at, a.comment
        )
        approvals.insert(tx, *where, approval)
    for f in line.feedback:
        judgement = Feedback(
            f.revision, f.principal, f.helpful, f.at, f.selection_id, f.run_id, f.note
        )
        feedback.insert(tx, *where, judgement)
    for c in line.citations:
        citation = Citation(
            line.id, c.source, c.blob_hash, c.lines_hash, c.result, c.new_place, c.checked_at
        )
        citations.put(tx, memory.repository_id, citation)
    if content is not None:
        entries.link(mutation, None, memory)


def _audience(line: MemoryLine) -> str:
    match line.collection:
        case Collection.PROJECT:
            return "project"
        case Collection.TEAM:
            return f"team:{line.team_id}"
        case Collection.PRIVATE:
            return f"private:{line.owner}"


def _to_memory(line: MemoryLine, scope: Scope) -> Memory:
    check, last = line.verification, line.revisions[-1]
    return Memory(
        memory_id=line.id,
        revision=line.revision,
        repository_id=line.repository_id,
        project_id=line.project_id,
        scope_id=scope.scope_id,
        collection=line.collection,
        owner=line.owner,
        team_id=line.team_id,
        run_id=line.run_id,
        status=line.status,
        content=None if line.content is None else line.content.content(),
        content_sha256=line.content_sha256,
        author=line.author,
        origin=line.origin,
        trust=line.trust,
        standing=line.standing,
        judged_at=line.judged_at,
        created_at=line.created_at,
        updated_at=line.updated_at,
        supersedes=None if line.supersedes is None else line.supersedes.pair(),
        superseded_by=line.superseded_by,
        review_reason=line.review_reason,
        conflicts_with=line.conflicts_with,
        extractor=line.extractor,
        self_approved=line.self_approved,
        verification=(
            None
            if check is None
            else Verification(check.commit, check.at, check.principal, check.result)
        ),
        tombstone=(Tombstone(last.actor, last.at, last.reason) if line.content is None else None),
    )


def _as_it_was(memory: Memory, kept: RevisionPart) -> Memory:
    return replace(
        memory,
        revision=kept.revision,
        status=kept.status,
        superseded_by=kept.superseded_by,
        updated_at=kept.at,
        content=None if kept.content is None else kept.content.content(),
        content_sha256=kept.content_sha256,
    )


def prove(
    tx: Transaction, lines: list[tuple[int, MemoryLine]], raw: Mapping[int, Mapping[str, Any]]
) -> None:
    """Read the memories of a project back and compare each with its line.

    Raises:
        InvalidRequestError: At the first field that does not come back as the file has it.
    """
    left = {line.id: number for number, line in lines}
    places = {(line.repository_id, line.project_id, _audience(line)) for _, line in lines}
    scope_ids = {
        scope.scope_id
        for repository_id, project_id, audience in places
        for scope in scopes.of_project(tx, repository_id, project_id, [audience])
    }
    for record in of_memories(tx, imports.memory_ids(tx, scope_ids), whole=True):
        number = left.pop(str(record["id"]))
        for name, value in record.items():
            if raw[number].get(name) != value:
                detail = "does not come back as it is written"
                raise InvalidRequestError.at(f"/{number}/{name}", detail)
    for number in left.values():
        raise InvalidRequestError.at(f"/{number}", "does not come back")
