"""Connections: what a seed's evidence and places lend to entries that share them.

A *hop* is one edge of the graph. ``derived_from`` joins two memories in one hop; a file, commit,
run or branch that two memories both name joins them in two. Nothing goes further.

Source: Code Flow, "Search and graph".
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

MAX_EDGES = 1_000
ONE_HOP_SHARE = 0.15
TWO_HOP_SHARE = 0.05
"""Of the seed's score."""

MEMORY = "memory"
_DECIMALS = 6


class Edge(NamedTuple):
    """A relationship from the memory that supplies it to an entity.

    ``kind`` and ``key`` name the entity: a memory by its id, a file by its path. A tuple, because
    thousands are hashed and sorted: a dataclass took four times as long.
    """

    memory_id: str
    type: str
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge of the way from a seed: its type and the entity that it leads to or comes from."""

    type: str
    entity: str


@dataclass(frozen=True, slots=True)
class Connection:
    """What a memory gains, from which seed and over which hops (one or two, from the seed)."""

    boost: float
    seed: str
    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Connections:
    """Memory id to connection; ``truncated`` when edges were left unexamined."""

    found: Mapping[str, Connection]
    truncated: bool


def connect(
    seeds: Mapping[str, float],
    edges: Iterable[Edge],
    *,
    eligible: Collection[str],
    max_edges: int = MAX_EDGES,
) -> Connections:
    """Find what the seeds lend to the memories they are connected with.

    Memories outside *eligible* are not in the graph at all: they lend nothing, gain nothing, and
    no way runs over an edge that they supply or that leads to them.

    Args:
        seeds: Memory id to score, above 0.
        edges: Relationships of the seeds and of the entities that these lead to, in any order;
            others change nothing. Those of suppliers that are not eligible are as if not there.
        eligible: Memories that passed the filter.
        max_edges: Greatest number of edges examined: those of the best seeds first, then those
            one hop further, nearest to the best seeds first.

    Returns:
        Each eligible memory that gains, seeds included, with its best connection: the greatest
        boost, then the fewest hops, then the least seed and way. Nobody lends to itself.
    """
    allowed = frozenset(eligible)
    ranked = sorted(seeds.keys() & allowed, key=lambda seed: (-seeds[seed], seed))
    ends = {
        edge: ((MEMORY, edge.memory_id), (edge.kind, edge.key))
        for edge in edges
        if edge.memory_id in allowed and (edge.kind != MEMORY or edge.key in allowed)
    }
    order = _outward({(MEMORY, seed): rank for rank, seed in enumerate(ranked)}, ends)
    neighbours: defaultdict[_Node, set[_Step]] = defaultdict(set)
    for edge in order[:max_edges]:
        supplier, entity = ends[edge]
        neighbours[supplier].add((edge.type, entity))
        neighbours[entity].add((edge.type, supplier))
    best: dict[str, _Lent] = {}
    for target, lent in _offers(neighbours, {seed: seeds[seed] for seed in ranked}):
        best[target] = min(lent, best.get(target, lent))
    found = {
        target: Connection(-negated, seed, tuple(Hop(kind, node[1]) for kind, node in way))
        for target, (negated, _, seed, way) in sorted(best.items())
    }
    return Connections(found, truncated=len(order) > max_edges)


_Node = tuple[str, str]
_Step = tuple[str, _Node]
_Lent = tuple[float, int, str, tuple[_Step, ...]]
"""What is offered to a memory, the best offer least: minus the boost, hops, seed, way."""


def _outward(ranks: Mapping[_Node, int], ends: Mapping[Edge, tuple[_Node, _Node]]) -> list[Edge]:
    """Order the edges that can matter: of the seeds by rank, then of what these lead to."""
    far = len(ranks)
    near: list[tuple[int, Edge]] = []
    rest: list[Edge] = []
    reached: dict[_Node, int] = {}
    for edge, (source, target) in ends.items():
        rank = min(ranks.get(source, far), ranks.get(target, far))
        if rank == far:
            rest.append(edge)
            continue
        near.append((rank, edge))
        reached[source] = min(rank, reached.get(source, far))
        reached[target] = min(rank, reached.get(target, far))
    beyond: list[tuple[int, Edge]] = []
    for edge in rest:
        source, target = ends[edge]
        rank = min(reached.get(source, far), reached.get(target, far))
        if rank < far:
            beyond.append((rank, edge))
    return [edge for _, edge in (*sorted(near), *sorted(beyond))]


def _offers(
    neighbours: Mapping[_Node, Collection[_Step]], seeds: Mapping[str, float]
) -> Iterator[tuple[str, _Lent]]:
    """Yield what seeds offer to memories over one hop and over two.

    Through one entity only its two best seeds can be a memory's best: the second for the first.
    """
    for node, steps in neighbours.items():
        arrivals: list[_Lent] = sorted(
            (-round(TWO_HOP_SHARE * seeds[seed], _DECIMALS), 2, seed, ((kind, node),))
            for kind, (side, seed) in steps
            if side == MEMORY and seed in seeds
        )
        for _, _, seed, way in arrivals:
            if node[0] == MEMORY and node[1] != seed:
                yield node[1], (-round(ONE_HOP_SHARE * seeds[seed], _DECIMALS), 1, seed, way)
        lenders = _two_best(arrivals)
        for kind, (side, target) in steps:
            if side == MEMORY:
                for boost, hops, seed, way in lenders:
                    if seed != target:
                        yield target, (boost, hops, seed, (*way, (kind, (side, target))))


def _two_best(arrivals: Iterable[_Lent]) -> list[_Lent]:
    """Return the first arrival of each of the first two seeds."""
    first: dict[str, _Lent] = {}
    for arrival in arrivals:
        first.setdefault(arrival[2], arrival)
    return list(first.values())[:2]
