"""The accepted entries that a caller sees of one project, kept while nothing changes.

Filters look at every entry. Reading 5,000 of them costs more than all else in a selection, so each
scope's entries and their edges are kept with the scope's generation, which is read in the same
transaction: a change by any process is seen at once, and a scope is never shared between audiences.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codeflow_memory.domain import ranking
from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.eligibility import Arranged, Traits, arrange
from codeflow_memory.domain.memory import Sensitivity, Status
from codeflow_memory.services import neighbourhood
from codeflow_memory.services.neighbourhood import Links
from codeflow_memory.storage import graph, lights, scopes
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.lights import Light

MAX_ENTRIES = 50_000
"""Kept at most, over all scopes of a tenant: about 45 MB."""

MAX_LINKS = 100_000
"""Edges kept at most, over all scopes of a tenant: about 30 MB."""

MAX_TOGETHER = 16
"""Kept at most: the scopes of a reach together, which hold no entries of their own."""


@dataclass(frozen=True, slots=True)
class Visible:
    """Accepted entries.

    Args:
        by_id: The entries, by id.
        arranged: Their ids, by what filters read of them; a part for each scope.
        long: `codeflow_memory.domain.ranking.lengths` of them.
        flagged: Ids of those that a finding of the scanner holds back until somebody reviews them.
        first_expiry: The least ``valid_to`` among them, Unix microseconds; ``None`` without any.
        generations: Scope to the generation at which its entries were these.
    """

    by_id: Mapping[str, Light]
    arranged: tuple[Arranged, ...]
    long: Mapping[str, int]
    flagged: frozenset[str]
    first_expiry: int | None
    generations: Mapping[int, int]

    def expired(self, at: int) -> bool:
        """Tell whether any of them has ceased to hold by *at*."""
        return self.first_expiry is not None and self.first_expiry <= at


def of_rows(rows: Iterable[Light], generations: Mapping[int, int]) -> Visible:
    """Arrange *rows*, those of some scopes at these *generations*, for filtering."""
    # A secret is never accepted; one that came so by other ways is nobody's to find.
    by_id = {row.memory_id: row for row in rows if row.sensitivity != Sensitivity.SECRET}
    traits = (
        (r.memory_id, Traits(r.kind, r.sensitivity, r.valid_to, r.paths, r.branches, r.cited))
        for r in by_id.values()
    )
    arranged = arrange(traits)
    expiries = [mark.valid_to for mark in arranged.marks if mark.valid_to is not None]
    long = ranking.lengths({row.memory_id: row.characters for row in by_id.values()})
    flagged = frozenset(row.memory_id for row in by_id.values() if row.flagged)
    return Visible(by_id, (arranged,), long, flagged, min(expiries, default=None), generations)


class Shelf:
    """Keeps the accepted entries of scopes, the least recently used go first."""

    def __init__(self, maximum: int = MAX_ENTRIES) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[int, Visible]] = OrderedDict()
        self._links: OrderedDict[int, tuple[int, Links]] = OrderedDict()
        self._together: OrderedDict[tuple[tuple[int, int], ...], Visible] = OrderedDict()
        self._entries = 0

    def accepted(self, tx: Transaction, reach: Reach) -> Visible:
        """Return the accepted entries of *reach*."""
        wanted = scope_ids(reach)
        key = tuple(scopes.generations(tx, wanted).items())
        if len(key) == 1:
            return self._of_scope(tx, *key[0])
        with self._lock:
            together = self._together.get(key)
            if together is not None:
                self._together.move_to_end(key)
                return together
        together = _joined([self._of_scope(tx, *of_scope) for of_scope in key])
        with self._lock:
            self._together[key] = together
            while len(self._together) > MAX_TOGETHER:
                self._together.popitem(last=False)
        return together

    def links(
        self, tx: Transaction, repository_id: str, generations: Mapping[int, int]
    ) -> list[Links]:
        """Return the edges of the accepted entries of each scope, at these *generations*."""
        return [
            self._links_of(tx, repository_id, scope_id, generation)
            for scope_id, generation in generations.items()
        ]

    def _links_of(
        self, tx: Transaction, repository_id: str, scope_id: int, generation: int
    ) -> Links:
        with self._lock:
            kept = self._links.get(scope_id)
            if kept is not None and kept[0] == generation:
                self._links.move_to_end(scope_id)
                return kept[1]
        made = neighbourhood.arrange(graph.of_accepted(tx, repository_id, scope_id))
        with self._lock:
            self._links[scope_id] = (generation, made)
            self._links.move_to_end(scope_id)
            while len(self._links) > 1 and self._edges() > MAX_LINKS:
                self._links.popitem(last=False)
        return made

    def _edges(self) -> int:
        return sum(links.count for _, links in self._links.values())

    def _of_scope(self, tx: Transaction, scope_id: int, generation: int) -> Visible:
        with self._lock:
            kept = self._kept.get(scope_id)
            if kept is not None and kept[0] == generation:
                self._kept.move_to_end(scope_id)
                return kept[1]
        rows = lights.in_statuses(tx, [scope_id], [Status.ACCEPTED])
        made = of_rows(rows, {scope_id: generation})
        self._keep(scope_id, generation, made)
        return made

    def _keep(self, scope_id: int, generation: int, made: Visible) -> None:
        with self._lock:
            for key in [key for key in self._together if scope_id in dict(key)]:
                del self._together[key]
            old = self._kept.pop(scope_id, None)
            self._entries += len(made.by_id) - (0 if old is None else len(old[1].by_id))
            self._kept[scope_id] = (generation, made)
            while self._entries > self._maximum and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._entries -= len(gone.by_id)


def _joined(parts: list[Visible]) -> Visible:
    by_id: dict[str, Light] = {}
    long: dict[str, int] = {}
    for part in parts:
        by_id.update(part.by_id)
        long.update(part.long)
    firsts = [part.first_expiry for part in parts if part.first_expiry is not None]
    arranged = tuple(one for part in parts for one in part.arranged)
    generations = {s: g for part in parts for s, g in part.generations.items()}
    flagged = frozenset[str]().union(*(part.flagged for part in parts))
    return Visible(by_id, arranged, long, flagged, min(firsts, default=None), generations)


def scope_ids(reach: Reach) -> list[int]:
    """Return the scopes whose accepted entries the caller reads, in order."""
    return sorted(s for s in reach.scopes if s not in reach.held_scopes)


def commits(rows: Iterable[Light]) -> frozenset[str]:
    """Return the commits that entries name among their branches."""
    return frozenset(
        item.removeprefix("commit:")
        for row in rows
        for item in row.branches
        if item.startswith("commit:")
    )
