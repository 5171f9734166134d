"""Decay: the trust of temporal entries falls with their age (03 §2)."""

from codeflow_memory.services import trust
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.rekeying import system
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories, repositories, tenants
from codeflow_memory.storage import trust as rows

_STEP = 100
"""Entries in one transaction, so that writers wait little."""


def run(store: Store) -> int:
    """Bring the trust of what ages up to date and return how many entries that moved."""
    with store.engine.read() as tx:
        everywhere = repositories.ids(tx)
    moved = 0
    for repository_id in everywhere:
        after: str | None = ""
        while after is not None:
            after, count = _step(store, repository_id, after)
            moved += count
    return moved


def _step(store: Store, repository_id: str, after: str) -> tuple[str | None, int]:
    """Take the next entries; return the last id, or ``None`` at the end, and how many moved."""
    with store.engine.read() as tx:
        if not rows.temporal(tx, repository_id, after, 1):
            return None, 0
    store.guard.before()
    with store.engine.write() as tx:
        store.guard.within(tx)
        mutation = Mutation(
            store,
            tx,
            system(store),
            store.ids.new("op"),
            store.ids.new("bat"),
            tenants.moment(tx, store.now()),
        )
        found = rows.temporal(tx, repository_id, after, _STEP)
        moved = 0
        for scope_id, memory_id in found:
            stored = memories.find(tx, [scope_id], memory_id)
            if stored is not None:
                moved += trust.after_time(mutation, stored).trust != stored.memory.trust
    return (found[-1][1] if len(found) == _STEP else None), moved
