"""Conflicts: entries that say something else under one functional key (03 §1.6).

A key has at most one holder: the accepted entry whose value stands. Proposals with another value
contend for it, and say so, for exactly as long as there is a holder.
"""

from dataclasses import replace

from codeflow_memory.domain import keys, trust
from codeflow_memory.domain.memory import Content, Memory, Status
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import keys as rows
from codeflow_memory.storage import memories, scopes
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored


def holders(
    tx: Transaction, scope_id: int, content: Content | None, at: int, *, but: str | None = None
) -> list[Stored]:
    """List the accepted entries that hold the key of *content* at *at*, by id.

    Args:
        tx: A transaction.
        scope_id: The audience; keys of different ones have nothing to do with each other.
        content: What would hold it.
        at: Unix microseconds.
        but: An entry that does not count: the one that has this content.
    """
    digest = keys.digest(content)
    if content is None or digest is None or not _functional(tx, content):
        return []
    ids = rows.with_key(tx, scope_id, digest, Status.ACCEPTED)
    return [
        stored
        for stored in memories.find_all(tx, [scope_id], [i for i in ids if i != but])
        if stored.memory.content is not None and keys.clash(stored.memory.content, content, at)
    ]


def share_key(tx: Transaction, a: Content | None, b: Content | None) -> bool:
    """Tell whether *a* and *b* are values of one functional key."""
    digest = keys.digest(a)
    return a is not None and digest is not None and digest == keys.digest(b) and _functional(tx, a)


def settled(mutation: Mutation, memory: Memory) -> Memory:
    """Return *memory* with the conflicts that it has in its status, and the trust they leave it."""
    content = memory.content
    if content is None:
        return memory
    named = None if memory.supersedes is None else memory.supersedes.memory_id
    found: list[str] = []
    if memory.status is Status.PROPOSED:
        contended = holders(
            mutation.tx, memory.scope_id, content, mutation.at, but=memory.memory_id
        )
        # What it says it would take the place of, it does not contradict unawares.
        found = [s.memory.memory_id for s in contended if s.memory.memory_id != named]
    standing = memory.trust if memory.standing is None else memory.standing
    judged_at = memory.created_at if memory.judged_at is None else memory.judged_at
    left = trust.effective(standing, content.kind, mutation.at - judged_at, conflicting=bool(found))
    return replace(
        memory,
        conflicts_with=tuple(found),
        trust=left,
        standing=standing,
        judged_at=judged_at,
    )


def settle_others(mutation: Mutation, before: Memory | None, after: Memory) -> None:
    """Bring the contenders for a key in line with who holds it now."""
    was, now = _held(before), _held(after)
    if was == now:
        return
    for content in (c for c in (was, now) if c is not None):
        digest = keys.digest(content)
        if digest is None or not _functional(mutation.tx, content):
            continue
        ids = rows.with_key(mutation.tx, after.scope_id, digest, Status.PROPOSED)
        for stored in memories.find_all(mutation.tx, [after.scope_id], ids):
            _settle(mutation, stored.memory)


def _settle(mutation: Mutation, memory: Memory) -> None:
    found = settled(mutation, memory)
    if found.conflicts_with == memory.conflicts_with:
        return
    rows.set_conflicts(
        mutation.tx, memory.repository_id, memory.memory_id, found.conflicts_with, found.trust
    )
    scopes.touch(mutation.tx, memory.repository_id, memory.scope_id)
    mutation.record(
        "conflict" if found.conflicts_with else "conflict-ended",
        memory.memory_id,
        repository_id=memory.repository_id,
        scope_id=memory.scope_id,
        to_revision=memory.revision,
        reason=f"trust:{found.trust}",
    )


def _held(memory: Memory | None) -> Content | None:
    """Return what an entry holds its key with; what it says beside key and validity is no matter.

    Only entries with a key are compared, so that others cost nothing.
    """
    if (
        memory is None
        or memory.status is not Status.ACCEPTED
        or keys.digest(memory.content) is None
    ):
        return None
    return memory.content


def _functional(tx: Transaction, content: Content) -> bool:
    return keys.is_functional(content, rows.functional(tx))
