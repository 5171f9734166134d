"""The accepted entries that a caller sees of one project, kept while nothing changes.

Filters look at every entry. Reading 5,000 of them costs more than all else in a selection, so each
scope's entries are kept with the scope's generation, which is read in the same transaction: a
change by any process is seen at once, and a scope is never shared between audiences.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.memory import Status
from codeflow_memory.storage import memories, scopes
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Light

MAX_ENTRIES = 50_000
"""Kept at most, over all scopes of a tenant: about 30 MB."""


class Shelf:
    """Keeps the accepted entries of scopes, the least recently used go first."""

    def __init__(self, maximum: int = MAX_ENTRIES) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[int, Mapping[str, Light]]] = OrderedDict()
        self._entries = 0

    def accepted(self, tx: Transaction, reach: Reach) -> dict[str, Light]:
        """Return the accepted entries of *reach*, by id."""
        wanted = [s for s in reach.scopes if s not in reach.held_scopes]
        generations = scopes.generations(tx, wanted)
        found: dict[str, Light] = {}
        for scope_id in wanted:
            found.update(self._of_scope(tx, scope_id, generations.get(scope_id, 0)))
        return found

    def _of_scope(self, tx: Transaction, scope_id: int, generation: int) -> Mapping[str, Light]:
        with self._lock:
            kept = self._kept.get(scope_id)
            if kept is not None and kept[0] == generation:
                self._kept.move_to_end(scope_id)
                return kept[1]
        rows = {row.memory_id: row for row in memories.light(tx, [scope_id], [Status.ACCEPTED])}
        self._keep(scope_id, generation, rows)
        return rows

    def _keep(self, scope_id: int, generation: int, rows: Mapping[str, Light]) -> None:
        with self._lock:
            old = self._kept.pop(scope_id, None)
            self._entries += len(rows) - (0 if old is None else len(old[1]))
            self._kept[scope_id] = (generation, rows)
            while self._entries > self._maximum and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._entries -= len(gone)


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
