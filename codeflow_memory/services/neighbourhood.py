"""The edges around seeds: what a selection may walk, read in bounded steps."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from codeflow_memory.domain import provenance
from codeflow_memory.domain.graph import MAX_EDGES, MEMORY, Edge
from codeflow_memory.domain.project import Project
from codeflow_memory.storage import graph
from codeflow_memory.storage.engine import Transaction

_STEP = 64
"""Seeds whose edges are read at a time; the best ones first."""


def edges(
    tx: Transaction,
    project: Project,
    scope_ids: Sequence[int],
    seeds: Sequence[str],
    eligible: Collection[str],
) -> list[Edge]:
    """Return the edges of *seeds*, best first, and those that *eligible* entries have to the same.

    A little more than `MAX_EDGES` may come back; the walk examines that many and says that it
    was cut.
    """
    own: list[provenance.Edge] = []
    for start in range(0, len(seeds), _STEP):
        own += graph.find(
            tx, project.repository_id, scope_ids, seeds[start : start + _STEP], MAX_EDGES + 1
        )
        if len(own) > MAX_EDGES:
            return [_edge(e) for e in own]
    entities = {(e.target_kind, e.target_key) for e in own if e.target_kind != MEMORY}
    entities |= {(MEMORY, seed) for seed in seeds}
    far = _suppliers(tx, project, scope_ids, entities, eligible)
    return [_edge(e) for e in {*own, *far}]


def _suppliers(
    tx: Transaction,
    project: Project,
    scope_ids: Sequence[int],
    entities: Collection[tuple[str, str]],
    eligible: Collection[str],
) -> list[provenance.Edge]:
    """Return the first edges to *entities* of each scope and kind that *eligible* entries have.

    Others, such as those of proposals, take no place among them: who may not see these would be
    told by what is missing.
    """
    limit = MAX_EDGES + 1
    while True:
        groups: defaultdict[tuple[int, str], list[provenance.Edge]] = defaultdict(list)
        for edge in graph.suppliers(
            tx, project.repository_id, project.project_id, scope_ids, entities, limit
        ):
            groups[edge.scope_id, edge.target_kind].append(edge)
        kept = {at: [e for e in g if e.memory_id in eligible] for at, g in groups.items()}
        if all(len(g) < limit or len(kept[at]) > MAX_EDGES for at, g in groups.items()):
            return [edge for found in kept.values() for edge in found[: MAX_EDGES + 1]]
        limit *= 4


def _edge(edge: provenance.Edge) -> Edge:
    return Edge(edge.memory_id, edge.type, edge.target_kind, edge.target_key)
