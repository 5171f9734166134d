"""The review queue: what needs a person, with what a decision rests on."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain import queue
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.memory import Collection, Memory, Sensitivity, Status
from codeflow_memory.services import diffs, likeness, projects, views
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import citations, memories
from codeflow_memory.storage import queue as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.queue import Waiting

Place = tuple[int, int, str]
"""Rank, time and id: the riskiest first, then what waits longest."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What the queue is narrowed to; ``None`` narrows nothing."""

    collection: Collection | None = None
    reason: str | None = None
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """An entry of the same audience that says nearly the same; ``similarity`` from 0 to 1."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Item:
    """One entry that waits.

    Args:
        view: The entry.
        reasons: Why it waits, the riskiest first.
        since: When it came to be as it is; Unix microseconds.
        near: What says nearly the same, the most similar first.
        diff: Word by word against what it would supersede; ``None`` where it supersedes nothing
            that the caller reads.
        conflicts: Entries that say something else under the same key.
        evidence: Source and result of each citation that was checked.
        stale: Decisions that were made on an earlier revision, or withdrawn.
    """

    view: View
    reasons: tuple[str, ...]
    since: int
    near: tuple[Near, ...]
    diff: dict[str, object] | None
    conflicts: tuple[Memory, ...]
    evidence: tuple[tuple[str, str], ...]
    stale: tuple[Approval, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the queue; ``facets`` counts the whole narrowed one: field to value to count."""

    items: tuple[Item, ...]
    next_after: Place | None
    facets: dict[str, dict[str, int]]


def find(  # noqa: PLR0913, PLR0917 - a page of a filtered list
    store: Store,
    access: Access,
    project_id: str | None,
    repo: str | None,
    wanted: Filter,
    after: Place | None,
    limit: int,
) -> Page:
    """List what waits for a person, the riskiest first and then the longest waiting.

    Args:
        store: The tenant.
        access: The caller.
        project_id: Id or slug; ``None`` is every project that the caller sees.
        repo: What names its repository; without a project, all of that repository.
        wanted: The filter.
        after: The place to go on from.
        limit: Items on a page, 1 to 100.

    Raises:
        NotFoundError: No such project or repository for the caller.
    """
    with store.engine.read() as tx:
        reach = projects.reach_of(tx, access, project_id, repo)
        found = [
            (row, reasons)
            for row in rows.waiting(tx, reach.scopes)
            if _visible(reach, row)
            and wanted.collection in {None, row.collection}
            and wanted.memory_id in {None, row.memory_id}
            for reasons in [_reasons(row)]
            if wanted.reason is None or wanted.reason in map(queue.word, reasons)
        ]
        placed = sorted((_place(row, reasons), row) for row, reasons in found)
        rest = [(place, row) for place, row in placed if after is None or place > after]
        page = rest[:limit]
        stored = {
            s.memory.memory_id: s
            for s in memories.find_all(
                tx, {row.scope_id for _, row in page}, {row.memory_id for _, row in page}
            )
        }
        items = tuple(_item(store, tx, reach, stored[row.memory_id], row) for _, row in page)
    return Page(items, page[-1][0] if len(rest) > limit else None, _facets(found))


def _visible(reach: Reach, row: Waiting) -> bool:
    """Tell whether an entry waits for the caller: a reader decides nothing and sees no queue."""
    if row.sensitivity == Sensitivity.SECRET and row.owner != reach.access.principal_id:
        return False
    if row.scope_id in reach.held_scopes and row.status is not Status.PROPOSED:
        return False
    return reach.access.may(Role.CONTRIBUTOR, row.repository_id)


def _reasons(row: Waiting) -> tuple[str, ...]:
    successor = row.supersedes and row.status is Status.PROPOSED
    return queue.reasons_of(row.review_reason, conflicts=row.conflicts, supersedes=successor)


def _place(row: Waiting, reasons: tuple[str, ...]) -> Place:
    return queue.rank(reasons[0]), row.updated_at, row.memory_id


def _item(store: Store, tx: Transaction, reach: Reach, stored: Stored, row: Waiting) -> Item:
    memory = stored.memory
    view = views.view(tx, reach, memory)
    near = likeness.near(store, tx, reach, memory)
    return Item(
        view=view,
        reasons=_reasons(row._replace(review_reason=view.memory.review_reason)),
        since=memory.updated_at,
        near=tuple(Near(twin, similarity) for similarity, twin in near),
        diff=diffs.of_successor(tx, reach, memory),
        conflicts=tuple(_conflicts(tx, reach, memory)),
        evidence=tuple(
            (found.source, found.result)
            for found in citations.find_all(tx, memory.repository_id, [memory.memory_id])
        ),
        stale=tuple(a for a in view.approvals if a.withdrawn or a.revision != memory.revision),
    )


def _conflicts(tx: Transaction, reach: Reach, memory: Memory) -> list[Memory]:
    found = memories.find_all(tx, [memory.scope_id], memory.conflicts_with)
    return [stored.memory for stored in found if reach.sees(stored.memory, before=stored.before)]


def _facets(found: Iterable[tuple[Waiting, tuple[str, ...]]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {"reason": Counter(), "collection": Counter()}
    for row, reasons in found:
        counts["reason"].update({queue.word(reason) for reason in reasons})
        counts["collection"][str(row.collection)] += 1
    return {field: dict(sorted(counted.items())) for field, counted in counts.items()}
