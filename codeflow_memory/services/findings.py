"""Findings: what is in service is read again whenever the scanner's catalogue has changed.

An entry that came in before a rule was known would be served for ever. What a person approved
stays: that decision is worth more than a pattern. The rest waits for one, out of every context and
search.
"""

from codeflow_memory.domain import findings
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.domain.scanning import catalogue
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.rekeying import system
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    approvals,
    inspection,
    lights,
    memories,
    repositories,
    scopes,
    tenants,
)
from codeflow_memory.storage.engine import Transaction

STEP = 50
"""Entries of one reading."""


def run(store: Store) -> int:
    """Hold what today's rules find in entries that nobody approved; return how many it were.

    Cut off, it begins again: only at its end the store says by which catalogue it was read.
    """
    with store.engine.read() as tx:
        if tenants.scanned_by(tx) == catalogue():
            return 0
        accepted = [
            (scope.scope_id, row.memory_id)
            for repository_id in repositories.ids(tx)
            for scope in inspection.scopes(tx, repository_id)
            for row in lights.in_statuses(tx, [scope.scope_id], [Status.ACCEPTED])
        ]
    held = 0
    for start in range(0, len(accepted), STEP):
        for scope_id, memory in _found(store, accepted[start : start + STEP]):
            held += _hold(store, scope_id, memory)
    with store.engine.write() as tx:
        tenants.set_scanned_by(tx, catalogue())
    return held


def _found(store: Store, places: list[tuple[int, str]]) -> list[tuple[int, Memory]]:
    """Return the entries in which a rule holds; texts are read outside of any transaction."""
    with store.engine.read() as tx:
        read = [
            (scope_id, stored.memory)
            for scope_id, memory_id in places
            for stored in memories.find_all(tx, [scope_id], [memory_id])
            if _concerned(tx, stored.memory)
        ]
    return [
        (scope_id, memory)
        for scope_id, memory in read
        if memory.content is not None and findings.rules_of(memory.content)
    ]


def _concerned(tx: Transaction, memory: Memory) -> bool:
    if memory.status is not Status.ACCEPTED or findings.is_flagged(memory.review_reason):
        return False
    given = approvals.find_all(tx, memory.repository_id, memory.memory_id)
    return not any(approval.decision == "approve" for approval in given)


def _hold(store: Store, scope_id: int, memory: Memory) -> bool:
    """Say why an entry is held back; nothing happens when it was changed since it was read."""
    store.guard.before()
    with store.engine.write() as tx:
        now = memories.find(tx, [scope_id], memory.memory_id)
        if now is None or now.memory.revision != memory.revision or not _concerned(tx, now.memory):
            return False
        store.guard.within(tx)
        mutation = Mutation(
            store,
            tx,
            system(store),
            store.ids.new("op"),
            store.ids.new("bat"),
            tenants.moment(tx, store.now()),
        )
        rules = () if memory.content is None else findings.rules_of(memory.content)
        memories.set_review_reason(
            tx, memory.repository_id, memory.memory_id, findings.FLAGGED + ",".join(rules)
        )
        scopes.touch(tx, memory.repository_id, scope_id)
        mutation.record(
            "flagged",
            memory.memory_id,
            repository_id=memory.repository_id,
            scope_id=scope_id,
            to_revision=memory.revision,
        )
        return True
