"""Removal: many entries deleted in steps that hold the write lock little, each of them whole."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.lifecycle import Action, move
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.retention import Item
from codeflow_memory.services import deletion, entries
from codeflow_memory.services.administration import require_owner
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import holds, memories, repositories
from codeflow_memory.storage import retention as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

STEP_ENTRIES = 50
"""At most so many go in one transaction."""

STEP_SECONDS = 1.0
"""After that no further entry is begun: other writers wait for five seconds, and no longer."""

ACTION = "retention.apply"

Children = dict[str, dict[str, int]]
"""An entry's id to the ids of those that derive from it, each with its scope."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What a removal did.

    Args:
        removed: Ids of what was deleted, in that order.
        marked: Ids of descendants that lost an origin; each waits for a person's decision.
        left: ``(id, why)`` of what stayed: ``changed``, ``held`` or ``needed`` meanwhile.
    """

    removed: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()

    def then(self, other: "Removed") -> "Removed":
        """Return what this and the *other* removal after it did; what is marked is told once."""
        return Removed(
            self.removed + other.removed,
            tuple(dict.fromkeys(self.marked + other.marked)),
            self.left + other.left,
        )


def run(
    store: Store,
    access: Access,
    begin: Callable[[Mutation], Sequence[Item]],
    name: str,
    *,
    cascade: bool,
) -> Removed:
    """Delete entries for retention, as *access*.

    Args:
        store: The tenant.
        access: Who removes: an owner, or the program itself.
        begin: Returns, in the first transaction, the entries: what derives before its origins.
        name: Stands in the audit for the whole.
        cascade: Whether an entry goes from which others derive; those are marked.

    Raises:
        ForbiddenError: The caller does not own the tenant, or lost that role meanwhile.
    """
    begun: list[Sequence[Item]] = []

    def first(mutation: Mutation) -> Receipt:
        _may_remove(mutation)
        # A try that was rolled back comes again: the last one counts.
        begun.append(begin(mutation))
        return _step(mutation, begun[-1], name, cascade=cascade)

    def carried_out(work: Callable[[Mutation], Receipt]) -> Removed:
        return mutate(store, access, Operation(None, ()), work, _render, needs_room=False)

    done = carried_out(first)
    waiting = begun[-1][_count(done) :]
    while waiting:
        step = carried_out(partial(_step, items=waiting, name=name, cascade=cascade))
        waiting = waiting[_count(step) :]
        done = done.then(step)
    return done


def children_of(tx: Transaction) -> Children:
    """Return which entries derive from which, of the whole tenant."""
    children: Children = {}
    for repository_id in repositories.ids(tx):
        for child, scope_id, origin in rows.derivations(tx, repository_id):
            children.setdefault(origin, {})[child] = scope_id
    return children


def _count(done: Removed) -> int:
    return len(done.removed) + len(done.left)


def _may_remove(mutation: Mutation) -> None:
    """Refuse whoever owns the tenant no more, but not the program itself; asked in every step."""
    if mutation.access.origin is not Origin.SYSTEM:
        require_owner(mutation.access, "apply retention")


def _step(mutation: Mutation, items: Sequence[Item], name: str, *, cascade: bool) -> Receipt:
    """Delete the first of *items*; at least one is settled."""
    _may_remove(mutation)
    children = children_of(mutation.tx)
    going = {item.entry.memory_id for item in items}
    removed, marked, left = list[str](), list[str](), list[tuple[str, str]]()
    until = time.monotonic() + STEP_SECONDS
    for item in items[:STEP_ENTRIES]:
        memory_id = item.entry.memory_id
        losing = {c: s for c, s in children.get(memory_id, {}).items() if c not in going}
        stays = "needed" if losing and not cascade else _delete(mutation, item)
        if stays is None:
            removed.append(memory_id)
            marked += _mark(mutation, memory_id, losing)
        else:
            going.discard(memory_id)
            left.append((memory_id, stays))
        if time.monotonic() >= until:
            break
    if removed:
        mutation.record(ACTION, name)
    facts: dict[str, object] = {"removed": removed, "marked": marked, "left": left}
    return Receipt(ACTION, name, len(removed), facts)


def _render(_: Transaction, __: Access, receipt: Receipt) -> Removed:
    facts = {k: v for k, v in receipt.facts.items() if isinstance(v, list)}
    return Removed(
        tuple(facts["removed"]),
        tuple(facts["marked"]),
        tuple((memory_id, why) for memory_id, why in facts["left"]),
    )


def _delete(mutation: Mutation, item: Item) -> str | None:
    """Delete an entry as it was planned; return why it stays where it does."""
    entry, tx = item.entry, mutation.tx
    stored = memories.find(tx, [entry.scope_id], entry.memory_id)
    if stored is None or stored.memory.revision != entry.revision:
        return "changed"
    if holds.is_held(tx, entry.repository_id, entry.project_id, entry.memory_id):
        return "held"
    deletion.bury(mutation, stored, "retention")
    return None


def _mark(mutation: Mutation, origin: str, losing: Mapping[str, int]) -> list[str]:
    """Send to review what derived from *origin* and is in service or asks to be.

    What is out of service already is not asked about again.
    """
    marked = []
    for memory_id, scope_id in sorted(losing.items()):
        stored = memories.find(mutation.tx, [scope_id], memory_id)
        if stored is None:
            continue
        memory, reason = stored.memory, f"source-removed:{origin}"
        if memory.status is Status.ACCEPTED:
            target = move(Action.RETURN, memory.status) or memory.status
            returned = replace(memory, status=target, review_reason=reason, self_approved=False)
            done = entries.Change("return", reason="source-removed")
            entries.change(mutation, stored, returned, done)
            marked.append(memory_id)
        elif memory.status is Status.PROPOSED and memory.review_reason is None:
            memories.set_review_reason(mutation.tx, memory.repository_id, memory_id, reason)
            mutation.record(
                "source-removed",
                memory_id,
                repository_id=memory.repository_id,
                scope_id=memory.scope_id,
            )
            marked.append(memory_id)
    return marked
