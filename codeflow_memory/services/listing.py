"""Listing: pages of a project's memories with counts of what the caller may see."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.memory import Collection, Kind, Sensitivity, Status
from codeflow_memory.domain.paths import applies
from codeflow_memory.domain.terms import query_terms
from codeflow_memory.services import access as accesses
from codeflow_memory.services import views
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import lights, memories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.lights import Light

Position = tuple[int, str]
"""``(updated_at, memory_id)`` of the last item of a page."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list is narrowed to; ``None`` narrows nothing."""

    status: Status = Status.ACCEPTED
    collection: Collection | None = None
    kind: Kind | None = None
    tag: str | None = None
    path: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page, newest change first; ``next_after`` is ``None`` on the last one.

    ``facets`` counts the whole filtered list: field to value to count.
    """

    items: tuple[View, ...]
    next_after: Position | None
    facets: dict[str, dict[str, int]]


def find(  # noqa: PLR0913, PLR0917 - a page of a filtered list
    store: Store,
    access: Access,
    project_id: str,
    repo: str | None,
    wanted: Filter,
    after: Position | None,
    limit: int,
) -> Page:
    """List a project's memories.

    Args:
        store: The tenant.
        access: The caller.
        project_id: Id or slug.
        repo: What names its repository, where the slug alone does not.
        wanted: The filter.
        after: The position to go on from.
        limit: Items on a page, 1 to 100.

    Raises:
        NotFoundError: No such project for the caller.
    """
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        found = [
            row
            for row in lights.in_statuses(tx, reach.scopes, [wanted.status])
            if visible(reach, row) and _matches(row, wanted)
        ]
        if wanted.status is Status.DELETED:
            found = _with_tombstone(tx, reach, found)
        if wanted.text:
            found = _with_text(store, tx, found, wanted.text)
        rest = [row for row in found if after is None or _key(row) > _key_of(after)]
        page = rest[:limit]
        stored = memories.find_all(
            tx, {row.scope_id for row in page}, {row.memory_id for row in page}
        )
        shown = {
            view.memory.memory_id: view
            for view in views.views(tx, reach, [s.memory for s in stored])
        }
    last = page[-1] if len(rest) > limit else None
    return Page(
        tuple(shown[row.memory_id] for row in page),
        None if last is None else (last.updated_at, last.memory_id),
        _facets(found),
    )


def visible(reach: Reach, row: Light) -> bool:
    """Tell whether an entry exists for the caller; the same rule as `Reach.sees`."""
    scope = reach.scopes[row.scope_id]
    if row.sensitivity == Sensitivity.SECRET and row.owner != reach.access.principal_id:
        return False
    if row.scope_id in reach.held_scopes:
        return row.status is Status.PROPOSED
    held = row.status in {Status.PROPOSED, Status.REJECTED}
    return (
        row.collection is not Collection.PROJECT
        or not held
        or reach.access.may(Role.CONTRIBUTOR, scope.repository_id)
    )


def _with_tombstone(tx: Transaction, reach: Reach, found: list[Light]) -> list[Light]:
    """Keep the tombstones of what the caller could read: it depends on the status before."""
    stored = memories.find_all(
        tx, {row.scope_id for row in found}, {row.memory_id for row in found}
    )
    shown = {s.memory.memory_id for s in stored if reach.sees(s.memory, before=s.before)}
    return [row for row in found if row.memory_id in shown]


def _matches(row: Light, wanted: Filter) -> bool:
    return (
        (wanted.collection is None or row.collection is wanted.collection)
        and (wanted.kind is None or row.kind == wanted.kind)
        and (wanted.tag is None or wanted.tag.casefold() in {t.casefold() for t in row.tags})
        and (wanted.path is None or (bool(row.paths) and applies(row.paths, [wanted.path])))
    )


def _with_text(store: Store, tx: Transaction, found: list[Light], text: str) -> list[Light]:
    """Keep the entries whose title, tags or body hold every word of *text*."""
    words = {t.text for t in query_terms(text, store.words, store.stems, literal=True).tokens}
    stored = memories.find_all(
        tx, {row.scope_id for row in found}, {row.memory_id for row in found}
    )
    holding = set()
    for entry in stored:
        content = entry.memory.content
        if content is None:
            continue
        whole = "\n".join([content.title, *content.tags, content.body])
        have = {store.words.fold(word) for word in store.words.words(whole)}
        folded = store.words.fold(whole)
        if all(word in have or word in folded for word in words):
            holding.add(entry.memory.memory_id)
    return [row for row in found if row.memory_id in holding]


def _facets(found: Iterable[Light]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("status", "kind", "collection", "tag")
    }
    for row in found:
        counts["status"][str(row.status)] += 1
        if row.kind:
            counts["kind"][row.kind] += 1
        counts["collection"][str(row.collection)] += 1
        counts["tag"].update({tag.casefold() for tag in row.tags})
    return {name: dict(sorted(counter.items())) for name, counter in counts.items()}


def _key(row: Light) -> tuple[int, str]:
    return -row.updated_at, row.memory_id


def _key_of(position: Position) -> tuple[int, str]:
    return -position[0], position[1]
