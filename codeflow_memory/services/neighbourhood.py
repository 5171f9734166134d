"""The edges around seeds: what a selection may walk, taken in bounded steps.

`Links` are the edges of one scope's accepted entries, arranged for asking. The shelf keeps them
with the entries: reading those around 100 seeds took a fifth of a selection.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeflow_memory.domain.graph import MAX_EDGES, MEMORY, Edge

_STEP = 64
"""Seeds whose edges are taken at a time; the best ones first."""

Node = tuple[str, str]
"""Kind and key of an entity."""


@dataclass(frozen=True, slots=True)
class Links:
    """The edges of one scope's accepted entries.

    Args:
        supplied: Memory id to the edges that it supplies, in order.
        leading: Entity to the edges that lead to it.
        count: How many there are.
    """

    supplied: Mapping[str, Sequence[Edge]]
    leading: Mapping[Node, Sequence[Edge]]
    count: int


def arrange(rows: Iterable[tuple[Any, ...]]) -> Links:
    """Arrange ``(memory, type, kind, key)``, in any order, for asking."""
    supplied: dict[str, list[Edge]] = {}
    leading: dict[Node, list[Edge]] = {}
    count = 0
    for of, kind, to, key in rows:
        memory_id, entity = of, (to, key)
        met = leading.get(entity)
        if met is None:
            met = leading[entity] = []
        else:
            # The strings of the first edge to an entity stand in all of them: a third of the room.
            entity = met[0][2:]
        own = supplied.get(memory_id)
        if own is None:
            own = supplied[memory_id] = []
        else:
            memory_id = own[0][0]
        edge = Edge(memory_id, kind, *entity)
        own.append(edge)
        met.append(edge)
        count += 1
    for own in supplied.values():
        own.sort()
    return Links(supplied, leading, count)


def edges(
    links: Sequence[Links], seeds: Sequence[str], eligible: Collection[str]
) -> Collection[Edge]:
    """Return the edges of *seeds*, best first, and those that *eligible* entries have to the same.

    A little more than `MAX_EDGES` may come back; the walk examines that many and says that it
    was cut.
    """
    own: list[Edge] = []
    for start in range(0, len(seeds), _STEP):
        step = sorted(seeds[start : start + _STEP])
        found = [e for seed in step for of in links for e in of.supplied.get(seed, ())]
        own += found[: MAX_EDGES + 1]
        if len(own) > MAX_EDGES:
            return own
    entities = {(e.kind, e.key) for e in own if e.kind != MEMORY}
    entities |= {(MEMORY, seed) for seed in seeds}
    far = {edge for of in links for edge in _suppliers(of, entities, eligible)}
    return far.union(own)


def _suppliers(
    links: Links, entities: Collection[Node], eligible: Collection[str]
) -> Iterable[Edge]:
    """Yield the first edges to *entities* of each kind that *eligible* entries have."""
    groups: defaultdict[str, list[Edge]] = defaultdict(list)
    for entity in entities & links.leading.keys():
        groups[entity[0]] += [e for e in links.leading[entity] if e.memory_id in eligible]
    for group in groups.values():
        yield from group if len(group) <= MAX_EDGES else sorted(group)[: MAX_EDGES + 1]
