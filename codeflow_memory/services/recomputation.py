"""Recomputation: texts compared with their hashes, derived rows with what their entries give now.

Terms, edges and counters are written with their entries; where they differ from what the entries
say, a search would miss or invent something.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.domain.access import Scope
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.domain.provenance import relations
from codeflow_memory.domain.ranking import MAX_FREQUENCY
from codeflow_memory.domain.terms import document_terms
from codeflow_memory.services.store import Store
from codeflow_memory.storage import graph, inspection, lights, memories, repositories, scopes
from codeflow_memory.storage.engine import Transaction

SAMPLE = 200
"""Entries of a scope that are recomputed where not all are asked for, those changed last."""

_EDGES = 512
"""More edges than one entry can supply."""

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between an entry, or a scope, and what was derived from it.

    Args:
        what: ``text``, ``terms``, ``edges`` or ``counters``.
        where: The memory's id, with ``revision <number>`` where that one's text is meant; for
            counters ``scope <number>``.
    """

    what: str
    where: str


def recompute(store: Store, *, sample: int | None = SAMPLE) -> tuple[int, list[Drift]]:
    """Compare derived rows with their entries.

    Args:
        store: The tenant.
        sample: Entries of each scope, those changed last; ``None`` for all, and for the text of
            every revision.

    Returns:
        How many entries were compared, and every difference. Where texts are damaged, these are all
        that is found: what was derived from them has nothing to be compared with.

    Raises:
        StoreUnusableError: One of the sampled texts is damaged.
    """
    compared, found = 0, list[Drift]()
    with store.engine.read() as tx:
        if sample is None and (found := list(_damaged(tx))):
            return compared, found
        for scope in _scopes(tx):
            if scopes.counters(tx, [scope.scope_id])[0][1:] != inspection.counted(
                tx, scope.scope_id
            ):
                found.append(Drift("counters", f"scope {scope.scope_id}"))
            for memory in _entries(tx, scope, sample):
                compared += 1
                found += [Drift(what, memory.memory_id) for what in _differing(store, tx, memory)]
    return compared, found


def _damaged(tx: Transaction) -> Iterator[Drift]:
    for repository_id in _repositories(tx):
        for memory_id, revision in inspection.damaged(tx, repository_id):
            yield Drift("text", memory_id + (f" revision {revision}" if revision else ""))


def _scopes(tx: Transaction) -> Iterator[Scope]:
    for repository_id in _repositories(tx):
        yield from inspection.scopes(tx, repository_id)


def _repositories(tx: Transaction) -> Iterator[str]:
    after = None
    while True:
        page = repositories.page(tx, None, after=after, limit=_PAGE)
        for repository in page:
            yield from repositories.members(tx, repository.repository_id)
        if len(page) < _PAGE:
            return
        after = page[-1].repository_id


def _entries(tx: Transaction, scope: Scope, sample: int | None) -> Iterator[Memory]:
    wanted = [s for s in Status if s is not Status.DELETED]
    rows = lights.in_statuses(tx, [scope.scope_id], wanted)[:sample]
    for start in range(0, len(rows), _PAGE):
        ids = [row.memory_id for row in rows[start : start + _PAGE]]
        for stored in memories.find_all(tx, [scope.scope_id], ids):
            yield stored.memory


def _differing(store: Store, tx: Transaction, memory: Memory) -> Iterator[str]:
    content = memory.content
    if content is None:
        return
    expected: list[inspection.Term] = []
    if memory.status is Status.ACCEPTED:
        made = document_terms(content.title, content.tags, content.body, store.words, store.stems)
        expected = sorted(
            (term, str(form), min(a, MAX_FREQUENCY), min(b, MAX_FREQUENCY), min(c, MAX_FREQUENCY))
            for (term, form), (a, b, c) in made.items()
        )
    keys = [(row[0], row[1]) for row in expected]
    where = (memory.scope_id, memory.memory_id)
    held = inspection.terms(tx, *where, keys)
    if held != expected or inspection.listed(tx, *where) != keys:
        yield "terms"
    if _edges(tx, memory) != {(r.type, r.kind, r.key, r.revision) for r in relations(memory)}:
        yield "edges"


def _edges(tx: Transaction, memory: Memory) -> set[tuple[str, str, str, int]]:
    found = graph.find(tx, memory.repository_id, [memory.scope_id], [memory.memory_id], _EDGES)
    return {(e.type, e.target_kind, e.target_key, e.target_revision) for e in found}
