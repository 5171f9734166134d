"""Verification: the citations of memories checked against a commit (01 §10).

Git is asked outside any transaction. What it found is stored for the memories that still stand at
the revision which was checked: rows of their own, so no revision and no entity tag changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeflow_memory.adapters import git
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.citations import Result
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.memory import Memory, Verification
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Alias, Known, identify
from codeflow_memory.services import access as accesses
from codeflow_memory.services import anchors, checkouts, entries, registration, views
from codeflow_memory.services.citations import (
    STANDING,
    Check,
    Checked,
    ask_git,
    chunks,
    default_commit,
    find_cited,
)
from codeflow_memory.services.learning import clone_of
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import citations, projects, repositories
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

_ACTION = "verify"
_WORST_FIRST = (Result.MISSING, Result.CHANGED, Result.UNKNOWN, Result.MOVED, Result.VALID)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be checked.

    Args:
        commit: A full hash; ``None`` is the head of the default branch.
        memory_ids: Only these; ``None`` is every memory that the caller sees. Ids of others, or
            of memories that are neither accepted nor proposed, give no results.
    """

    commit: str | None = None
    memory_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one citation; ``new_place`` only where it moved."""

    memory_id: str
    citation: str
    result: Result
    new_place: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The findings, by memory and in the order of its sources.

    ``commit`` is ``None`` where none was named and the repository cannot be read.
    """

    commit: str | None
    findings: tuple[Finding, ...]

    @property
    def suspect(self) -> bool:
        """Tell whether any citation no longer holds."""
        return any(f.result in anchors.SUSPECT for f in self.findings)


def verify(
    store: Store,
    access: Access,
    project_id: str,
    repo: str | None,
    wanted: Wanted,
    operation: Operation,
) -> Report:
    """Check the citations of a project's memories that the caller sees, and store the results.

    Where the repository cannot be read, or does not have the commit, every result is ``unknown``
    and nothing is stored. A memory that changes meanwhile is left out.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The caller is no contributor.
        LimitExceededError: Too many memories cite files.
        DeadlineExceededError: The request's deadline passed; nothing is stored.
    """
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        accesses.require(access, Role.CONTRIBUTOR, project.repository_id, _WHAT)
        found = find_cited(tx, accesses.reach(tx, access, project), project, wanted.memory_ids)
        places = checkouts.readable(store, tx, project.repository_id)
    repository = checkouts.open_first(places, wanted.commit)
    commit = wanted.commit or default_commit(repository)
    check = ask_git(repository, commit, found)
    return Report(commit, _settle(store, access, project, check, operation))


def verify_checkout(store: Store, access: Access, path: Path) -> Report:
    """Check the memories of every project of the repository at *path*, at the commit it has out.

    The folder is read because its user names it; it need not lie under a root.

    Raises:
        NotFoundError: There is no repository, or none of the registered ones that the caller sees.
        ForbiddenError: The caller is no contributor of it.
        InvalidRequestError: It has no commit yet, or cannot be read.
        LimitExceededError: Too many memories of a project cite files.
    """
    repository = git.open_repository(path)
    commit = repository.head().commit
    if commit is None:
        raise InvalidRequestError.at("the repository", "has no commit yet")
    facts = registration.facts_of(clone_of(repository))
    with store.engine.read() as tx:
        repository_id = _registered(tx, access, facts)
        if repository_id is None:
            raise NotFoundError("registered repository", path.name)
        accesses.require(access, Role.CONTRIBUTOR, repository_id, _WHAT)
        own = [
            p
            for p in projects.list_of_repository(tx, repository_id)
            if access.may(Role.CONTRIBUTOR, p.repository_id)
        ]
    findings: list[Finding] = []
    for project in own:
        with store.engine.read() as tx:
            found = find_cited(tx, accesses.reach(tx, access, project), project, None)
        operation = Operation(None, (_ACTION, project.project_id, commit))
        check = ask_git(repository, commit, found)
        findings += _settle(store, access, project, check, operation)
    return Report(commit, tuple(findings))


_WHAT = "verify memories"


def _registered(tx: Transaction, access: Access, facts: tuple[Alias, ...]) -> str | None:
    """Return the registered repository that a checkout with *facts* is, if the caller sees it."""
    fitting = {
        r.repository_id: r
        for r, _ in repositories.matching(tx, facts)
        if access.may(Role.READER, r.repository_id)
    }
    known = [
        Known(
            r.repository_id, r.identified_by, frozenset(repositories.aliases(tx, r.repository_id))
        )
        for r in fitting.values()
    ]
    found = identify(facts, known)
    return None if found is None else found[0]


def _settle(
    store: Store, access: Access, project: Project, check: Check, operation: Operation
) -> tuple[Finding, ...]:
    """Store what git found, and return it for what still stands as it was checked."""
    told: list[Finding] = []
    worked = False

    def work(mutation: Mutation) -> Receipt:
        nonlocal worked
        worked = True
        told.clear()
        now = accesses.get_project(mutation.tx, mutation.access, project.project_id, None)
        accesses.require(mutation.access, Role.CONTRIBUTOR, now.repository_id, _WHAT)
        done: list[list[object]] = []
        for memory in _unchanged(
            mutation.tx, accesses.reach(mutation.tx, mutation.access, now), check
        ):
            checked = check.by_memory[memory.memory_id][1]
            if check.commit is not None and checked:
                _store(mutation, memory, check.commit, checked)
            told.extend(
                Finding(memory.memory_id, c.source, c.outcome.result, c.outcome.new_place)
                for c in checked
            )
            results = [str(c.outcome.result) for c in checked]
            done.append([memory.memory_id, memory.revision, results])
        if check.commit is not None:
            mutation.record(
                _ACTION, now.project_id, repository_id=now.repository_id, reason=check.commit
            )
        # Who named no operation cannot repeat it, and needs no answer kept.
        facts: dict[str, object] = {"results": done} if operation.operation_id else {}
        return Receipt(_ACTION, now.project_id, 0, facts)

    def render(tx: Transaction, caller: Access, receipt: Receipt) -> tuple[Finding, ...]:
        return tuple(told if worked else _recorded(tx, caller, receipt))

    return mutate(store, access, operation, work, render)


def _unchanged(tx: Transaction, reach: Reach, check: Check) -> Iterator[Memory]:
    """Yield the memories that still stand at the revision that was checked, by id."""
    for ids in chunks(sorted(check.by_memory)):
        for stored in rows.find_all(tx, reach.scopes, ids):
            memory = stored.memory
            same = memory.revision == check.by_memory[memory.memory_id][0]
            if same and memory.status in STANDING and reach.sees(memory):
                yield memory


def _store(mutation: Mutation, memory: Memory, commit: str, checked: Sequence[Checked]) -> None:
    """Write the results of one memory, and what follows from them."""
    standing = _store_citations(mutation, memory, checked)
    results = {c.outcome.result for c in checked}
    overall = str(next(r for r in _WORST_FIRST if r in results))
    verified = Verification(commit, mutation.at, mutation.access.principal_id, overall)
    after = replace(memory, verification=verified)
    citations.put_verification(mutation.tx, after)
    before = memory.verification
    if before is None or before.commit != commit:
        entries.link(mutation, memory, after)
    _queue(mutation, memory, anchors.suspicion(standing))
    if before is None or before.result != overall:
        mutation.record(
            _ACTION,
            memory.memory_id,
            repository_id=memory.repository_id,
            scope_id=memory.scope_id,
            to_revision=memory.revision,
            reason=overall,
        )


def _store_citations(mutation: Mutation, memory: Memory, checked: Iterable[Checked]) -> list[str]:
    """Write a row for each citation; return the results that stand afterwards."""
    tx, repository_id = mutation.tx, memory.repository_id
    before = {c.source: c for c in citations.find_all(tx, repository_id, [memory.memory_id])}
    standing: list[str] = []
    for citation in checked:
        known, outcome = before.get(citation.source), citation.outcome
        if outcome.result is Result.UNKNOWN and (citation.anchor is not None or known is None):
            # Nothing was learned: what an earlier check found still stands.
            standing.append(str(outcome.result) if known is None else known.result)
            continue
        row = anchors.row(memory.memory_id, citation.source, citation.anchor, mutation.at)
        row = replace(row, result=str(outcome.result), new_place=outcome.new_place)
        citations.put(tx, repository_id, row)
        standing.append(row.result)
    return standing


def _queue(mutation: Mutation, memory: Memory, reason: str | None) -> None:
    """Put a suspect memory into the review queue, or take it out when only we had put it there."""
    held = memory.review_reason
    if held == reason or (held is not None and not held.startswith(anchors.REASON)):
        return
    rows.set_review_reason(mutation.tx, memory.repository_id, memory.memory_id, reason)


def _recorded(tx: Transaction, access: Access, receipt: Receipt) -> Iterator[Finding]:
    """Render a repetition: the recorded results of the revisions that were checked.

    Sources are those of the recorded revision; of what was deleted since, or that the caller no
    longer sees, nothing is told.
    """
    done = receipt.facts.get("results", [])
    assert isinstance(done, list), "written by _settle"  # noqa: S101 - an invariant
    reach = accesses.reach_everywhere(tx, access)
    for memory_id, revision, results in done:
        stored = rows.find(tx, reach.scopes, memory_id)
        if stored is None or not reach.sees(stored.memory) or stored.memory.content is None:
            continue
        memory = views.as_it_was(tx, reach, stored.memory, revision)
        cited = anchors.files(() if memory.content is None else memory.content.sources)
        found = citations.find_all(tx, memory.repository_id, [memory_id])
        places = {c.source: c.new_place for c in found}
        for source, result in zip(cited, results, strict=False):
            place = places.get(source) if result == Result.MOVED else None
            yield Finding(memory_id, source, Result(result), place)
