"""Expiry: an accepted entry past ``valid_to`` becomes outdated; selections skip it before that."""

from dataclasses import replace

from codeflow_memory.domain.lifecycle import Action, move
from codeflow_memory.services import entries
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.rekeying import system
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories, repositories, tenants

_STEP = 100
"""Entries in one transaction, so that writers wait little."""


def run(store: Store) -> int:
    """Mark what has expired as outdated and return how many entries that were."""
    done = 0
    with store.engine.read() as tx:
        everywhere = repositories.ids(tx)
    for repository_id in everywhere:
        while marked := _step(store, repository_id):
            done += marked
            if marked < _STEP:
                break
    return done


def _step(store: Store, repository_id: str) -> int:
    with store.engine.read() as tx:
        if not memories.expired(tx, repository_id, store.now(), 1):
            return 0
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
        found = memories.expired(tx, repository_id, mutation.at, _STEP)
        for scope_id, memory_id in found:
            stored = memories.find(tx, [scope_id], memory_id)
            target = None if stored is None else move(Action.OUTDATE, stored.memory.status)
            if stored is not None and target is not None:
                entries.change(
                    mutation,
                    stored,
                    replace(stored.memory, status=target),
                    entries.Change("outdate", reason="expired"),
                )
        return len(found)
