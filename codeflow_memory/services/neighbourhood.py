"""The edges around seeds: what a selection may walk, read in bounded steps."""

from collections.abc import Sequence

from codeflow_memory.domain.graph import MAX_EDGES, MEMORY, Edge
from codeflow_memory.storage import graph
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.projects import Project

_STEP = 64
"""Seeds whose edges are read at a time; the best ones first."""


def edges(
    tx: Transaction, project: Project, scope_ids: Sequence[int], seeds: Sequence[str]
) -> list[Edge]:
    """Return the edges of *seeds*, best first, and those of what they lead to.

    A little more than `MAX_EDGES` may come back; the walk examines that many and says that it
    was cut.
    """
    own: list[graph.Edge] = []
    for start in range(0, len(seeds), _STEP):
        own += graph.find(
            tx, project.repository_id, scope_ids, seeds[start : start + _STEP], MAX_EDGES + 1
        )
        if len(own) > MAX_EDGES:
            return [_edge(e) for e in own]
    entities = {(e.target_kind, e.target_key) for e in own if e.target_kind != MEMORY}
    entities |= {(MEMORY, seed) for seed in seeds}
    far = graph.suppliers(
        tx, project.repository_id, project.project_id, scope_ids, entities, MAX_EDGES + 1
    )
    return [_edge(e) for e in {*own, *far}]


def _edge(edge: graph.Edge) -> Edge:
    return Edge(edge.memory_id, edge.type, edge.target_kind, edge.target_key)
