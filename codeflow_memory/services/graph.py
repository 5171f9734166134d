"""The provenance graph of a project, as one caller sees it; it approves nothing (01 §8)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from codeflow_memory.domain.access import Access, Reach
from codeflow_memory.domain.graph import MEMORY
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.provenance import Edge
from codeflow_memory.services import access as accesses
from codeflow_memory.services import listing
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import UNRESOLVED
from codeflow_memory.storage import graph, lights
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.lights import Light

MAX_EDGES = 1_000
SHOWN = tuple(status for status in Status if status is not Status.DELETED)

Node = tuple[str, str]
"""Kind and key of an entity; a memory's key is its id."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a graph is narrowed to; empty narrows nothing."""

    types: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    around: Node | None = None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """Edges in a fixed order and what they join.

    Args:
        edges: At most `MAX_EDGES`.
        memories: Every memory that supplies an edge or resolves as a target, by id.
        resolved: Of ``derived_from`` edges, those whose target stands at the named revision.
        truncated: More edges match than are here.
    """

    edges: tuple[Edge, ...]
    memories: dict[str, Light]
    titles: dict[str, str]
    resolved: frozenset[Edge]
    truncated: bool


def draw(
    store: Store, access: Access, project_id: str, repo: str | None, wanted: Filter
) -> Picture:
    """Return the graph of a project.

    Raises:
        NotFoundError: No such project for the caller.
    """
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        suppliers = {
            row.memory_id: row
            for row in lights.in_statuses(tx, reach.scopes, SHOWN)
            if listing.visible(reach, row)
            and (not wanted.statuses or row.status in wanted.statuses)
        }
        if wanted.around is None:
            found = _all(tx, project, reach, suppliers, wanted)
        else:
            found = _around(tx, project, reach, suppliers, wanted)
        edges = found[:MAX_EDGES]
        targets = lights.find_all(
            tx, reach.scopes, {e.target_key for e in edges if e.target_kind == MEMORY}
        )
        standing = {row.memory_id: row for row in targets if _stands(reach, row)}
        resolved = frozenset(
            e
            for e in edges
            if e.target_kind == MEMORY
            and e.target_key in standing
            and standing[e.target_key].revision == e.target_revision
        )
        named = {e.memory_id: suppliers[e.memory_id] for e in edges}
        named |= {e.target_key: standing[e.target_key] for e in resolved}
        told = {m for m, row in named.items() if not _held_back(row)}
        titles = lights.titles(tx, reach.scopes, told)
    return Picture(tuple(edges), named, titles, resolved, len(found) > MAX_EDGES)


def _held_back(row: Light) -> bool:
    """Tell whether a finding keeps the text of an entry in service from whoever reads it."""
    return row.flagged and row.status is not Status.PROPOSED


def _stands(reach: Reach, row: Light) -> bool:
    return listing.visible(reach, row) and row.status not in UNRESOLVED


def _all(
    tx: Transaction,
    project: Project,
    reach: Reach,
    suppliers: Collection[str],
    wanted: Filter,
) -> list[Edge]:
    """Return the matching edges of all suppliers, at most one more than are shown."""
    found: list[Edge] = []
    ids = sorted(suppliers)
    for start in range(0, len(ids), _STEP):
        step = graph.find(
            tx, project.repository_id, reach.scopes, ids[start : start + _STEP], _NO_LIMIT
        )
        found += [edge for edge in step if _matches(edge, wanted)]
        if len(found) > MAX_EDGES:
            break
    return found[: MAX_EDGES + 1]


_STEP = 256
_NO_LIMIT = 1 << 30
"""What one memory supplies is bounded by its fields: the limit is on the whole picture."""


def _around(
    tx: Transaction,
    project: Project,
    reach: Reach,
    suppliers: Collection[str],
    wanted: Filter,
) -> list[Edge]:
    """Return the matching edges within ``depth`` of a node, nearest first."""
    assert wanted.around is not None, "asked for by the caller"  # noqa: S101 - an invariant
    seen: dict[Edge, None] = {}
    frontier: set[Node] = {wanted.around}
    known = set(frontier)
    for _ in range(wanted.depth):
        step = _touching(tx, project, reach, suppliers, frontier)
        fresh = [edge for edge in step if _matches(edge, wanted)]
        seen |= dict.fromkeys(fresh)
        ends = {(MEMORY, e.memory_id) for e in fresh} | {
            (e.target_kind, e.target_key) for e in fresh
        }
        frontier, known = ends - known, known | ends
        if len(seen) > MAX_EDGES:
            break
    return list(seen)[: MAX_EDGES + 1]


def _touching(
    tx: Transaction,
    project: Project,
    reach: Reach,
    suppliers: Collection[str],
    nodes: Iterable[Node],
) -> list[Edge]:
    nodes = sorted(nodes)
    own = graph.find(
        tx,
        project.repository_id,
        reach.scopes,
        [key for kind, key in nodes if kind == MEMORY and key in suppliers],
        _NO_LIMIT,
    )
    led = graph.suppliers(
        tx, project.repository_id, project.project_id, reach.scopes, nodes, _NO_LIMIT
    )
    # A node that only hidden entries supply has no edge here, as one that does not exist.
    both = {*own, *(edge for edge in led if edge.memory_id in suppliers)}
    return sorted(
        both, key=lambda e: (e.memory_id, e.type, e.target_kind, e.target_key, e.target_revision)
    )


def _matches(edge: Edge, wanted: Filter) -> bool:
    return (not wanted.types or edge.type in wanted.types) and (
        not wanted.kinds or edge.target_kind in wanted.kinds
    )
