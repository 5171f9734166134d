"""Citations: which files the memories of a project cite, and what git says of them at a commit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from codeflow_memory.adapters.citations import check_citations
from codeflow_memory.adapters.git import Repository
from codeflow_memory.domain import deadline
from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.citations import Anchor, Citation, Outcome, Result
from codeflow_memory.domain.errors import CodeflowError, LimitExceededError
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.sources import Source
from codeflow_memory.services import anchors, listing
from codeflow_memory.storage import citations as rows
from codeflow_memory.storage import lights, memories
from codeflow_memory.storage.engine import Transaction

MAX_MEMORIES = 5_000
"""Memories with cited files in one verification of one project."""

CHUNK = 250
"""Entries whose text is read at a time."""

STANDING = frozenset({Status.ACCEPTED, Status.PROPOSED})
"""Statuses of the memories that are verified."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Cited:
    """The files that a memory cites at the revision to check, and what is stored of them."""

    memory_id: str
    revision: int
    sources: Mapping[str, Source]
    known: Mapping[str, rows.Citation]


@dataclass(frozen=True, slots=True)
class Checked:
    """One citation after the check, with its anchor, stored before or taken now."""

    source: str
    anchor: Anchor | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Check:
    """What git found at a commit: by memory the revision that was checked, and its citations.

    ``commit`` is ``None`` where git could not tell; every outcome is ``unknown`` then.
    """

    commit: str | None
    by_memory: Mapping[str, tuple[int, Sequence[Checked]]]


def find_cited(
    tx: Transaction, reach: Reach, project: Project, memory_ids: frozenset[str] | None
) -> list[Cited]:
    """List the accepted and proposed memories that the caller sees and that cite files, by id.

    Raises:
        LimitExceededError: There are more than `MAX_MEMORIES`.
    """
    ids = [
        row.memory_id
        for row in lights.in_statuses(tx, reach.scopes, STANDING)
        if row.cited
        and (memory_ids is None or row.memory_id in memory_ids)
        and listing.visible(reach, row)
    ]
    if len(ids) > MAX_MEMORIES:
        raise LimitExceededError("memories to verify", value=len(ids), maximum=MAX_MEMORIES)
    found: list[Cited] = []
    for part in chunks(sorted(ids)):
        known: dict[str, dict[str, rows.Citation]] = {}
        for row in rows.find_all(tx, project.repository_id, part):
            known.setdefault(row.memory_id, {})[row.source] = row
        for stored in memories.find_all(tx, reach.scopes, part):
            memory = stored.memory
            sources = anchors.files(() if memory.content is None else memory.content.sources)
            about = known.get(memory.memory_id, {})
            found.append(Cited(memory.memory_id, memory.revision, sources, about))
    return found


def ask_git(repository: Repository | None, commit: str | None, found: Sequence[Cited]) -> Check:
    """Check the citations of *found* at *commit*, a full hash; outside any transaction.

    Citations without an anchor get it from the commit that they name, if they name one.

    Raises:
        DeadlineExceededError: The request's deadline passed.
    """
    if repository is None or commit is None or not _has(repository, commit):
        unknown = Outcome(Result.UNKNOWN)
        return Check(
            None,
            {
                memory.memory_id: (
                    memory.revision,
                    [Checked(text, None, unknown) for text in memory.sources],
                )
                for memory in found
            },
        )
    fresh = _missing_anchors(repository, found)
    asked = [
        (memory.memory_id, text, source, anchors.of_row(memory.known.get(text)) or fresh.get(text))
        for memory in found
        for text, source in memory.sources.items()
    ]
    outcomes = check_citations(
        repository, [(_citation(source), anchor) for _, _, source, anchor in asked], commit
    )
    checked: dict[str, list[Checked]] = {memory.memory_id: [] for memory in found}
    for (memory_id, text, _, anchor), outcome in zip(asked, outcomes, strict=True):
        checked[memory_id].append(Checked(text, anchor, outcome))
    return Check(commit, {m.memory_id: (m.revision, checked[m.memory_id]) for m in found})


def default_commit(repository: Repository | None) -> str | None:
    """Return the head of the default branch; ``None`` where it cannot be told."""
    try:
        return None if repository is None else repository.default_branch()
    except CodeflowError:
        return None


def chunks(items: Sequence[_T], size: int = CHUNK) -> Iterator[Sequence[_T]]:
    """Cut *items* into parts of at most *size*."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _has(repository: Repository, commit: str) -> bool:
    try:
        return repository.resolve(commit) is not None
    except CodeflowError:
        return False


def _missing_anchors(repository: Repository, found: Sequence[Cited]) -> dict[str, Anchor]:
    cited = {
        text: source
        for memory in found
        for text, source in memory.sources.items()
        if source.commit is not None and anchors.of_row(memory.known.get(text)) is None
    }
    return anchors.take(repository, cited, deadline.current.get())


def _citation(source: Source) -> Citation:
    return Citation(source.path or "", source.first_line, source.last_line)
