"""Connections: what a seed's evidence and places lend to entries that share them.

A *hop* is one edge of the graph. ``derived_from`` joins two memories in one hop; a file, commit,
run or branch that two memories both name joins them in two. Nothing goes further.

Source: Code Flow, "Search and graph".
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
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


class Hop(NamedTuple):
    """One edge of the way from a seed: its type and the entity that it leads to or comes from."""

    type: str
    entity: str


class Connection(NamedTuple):
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
    inside = [
        edge
        for edge in set(edges)
        if edge[0] in allowed and (edge[2] != MEMORY or edge[3] in allowed)
    ]
    near, beyond = _outward({(MEMORY, seed): rank for rank, seed in enumerate(ranked)}, inside)
    examined = [edge for _, edge in (*near, *beyond)]
    truncated = len(examined) > max_edges
    if truncated:
        # Only a cut asks for an order: what is found rests on which edges there are.
        examined = [edge for _, edge in (*sorted(near), *sorted(beyond))][:max_edges]
    neighbours: defaultdict[_Node, list[_Step]] = defaultdict(list)
    for memory_id, kind, to, key in examined:
        supplier, entity = (MEMORY, memory_id), (to, key)
        neighbours[supplier].append((kind, entity))
        neighbours[entity].append((kind, supplier))
    best = _best_offers(neighbours, {seed: seeds[seed] for seed in ranked})
    found = {
        target: Connection(-negated, seed, tuple(Hop(kind, node[1]) for kind, node in way))
        for target, (negated, _, seed, way) in sorted(best.items())
    }
    return Connections(found, truncated=truncated)


_Node = tuple[str, str]
_Step = tuple[str, _Node]
_Lent = tuple[float, int, str, tuple[_Step, ...]]
"""What is offered to a memory, the best offer least: minus the boost, hops, seed, way."""

_Ranked = list[tuple[int, Edge]]


def _outward(ranks: Mapping[_Node, int], edges: Iterable[Edge]) -> tuple[_Ranked, _Ranked]:
    """Rank the edges that can matter: those of seeds, and those of what these lead to."""
    far = len(ranks)
    near: _Ranked = []
    rest: list[tuple[Edge, _Node, _Node]] = []
    reached: dict[_Node, int] = {}
    for edge in edges:
        source, target = (MEMORY, edge[0]), edge[2:]
        rank = min(ranks.get(source, far), ranks.get(target, far))
        if rank == far:
            rest.append((edge, source, target))
            continue
        near.append((rank, edge))
        reached[source] = min(rank, reached.get(source, far))
        reached[target] = min(rank, reached.get(target, far))
    beyond: _Ranked = []
    for edge, source, target in rest:
        rank = min(reached.get(source, far), reached.get(target, far))
        if rank < far:
            beyond.append((rank, edge))
    return near, beyond


def _best_offers(
    neighbours: Mapping[_Node, Sequence[_Step]], seeds: Mapping[str, float]
) -> dict[str, _Lent]:
    """Return the best that seeds offer to each memory, over one hop or two.

    Through one entity only its two best seeds can be a memory's best: the second for the first.
    """
    one = {seed: -round(ONE_HOP_SHARE * score, _DECIMALS) for seed, score in seeds.items()}
    two = {seed: -round(TWO_HOP_SHARE * score, _DECIMALS) for seed, score in seeds.items()}
    best: dict[str, _Lent] = {}
    for node, steps in neighbours.items():
        arrivals: list[_Lent] = [
            (two[seed], 2, seed, ((kind, node),))
            for kind, (side, seed) in steps
            if side == MEMORY and seed in two
        ]
        if node[0] == MEMORY:
            near = [(one[seed], 1, seed, way) for _, _, seed, way in arrivals]
            _offer(best, node[1], near)
        if arrivals and len(steps) > 1:
            _lend(best, steps, _two_best(sorted(arrivals)))
    return best


def _lend(best: dict[str, _Lent], steps: Sequence[_Step], lenders: Sequence[_Lent]) -> None:
    """Offer each memory among *steps* what *lenders* bring to the entity that all of them name."""
    for step in steps:
        side, target = step[1]
        if side == MEMORY:
            least = best[target][0] if target in best else 0.0
            offers = [
                (boost, hops, seed, (*way, step))
                for boost, hops, seed, way in lenders
                if boost <= least
            ]
            _offer(best, target, offers)


def _offer(best: dict[str, _Lent], target: str, offers: Iterable[_Lent]) -> None:
    """Keep the best for *target*; nobody lends to itself."""
    for lent in offers:
        if lent[2] != target and (target not in best or lent < best[target]):
            best[target] = lent


def _two_best(arrivals: Iterable[_Lent]) -> list[_Lent]:
    """Return the first arrival of each of the first two seeds."""
    first: dict[str, _Lent] = {}
    for arrival in arrivals:
        first.setdefault(arrival[2], arrival)
    return list(first.values())[:2]
