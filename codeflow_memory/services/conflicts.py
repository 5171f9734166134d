"""Conflicts: entries that say something else under one functional key (03 §1.6).

A key has at most one holder: the accepted entry whose value stands. Proposals with another value
contend for it, and say so, for exactly as long as there is a holder.
"""

from collections.abc import Sequence
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
    if content is None:
        return []
    held = _holding(tx, scope_id, content)
    return [
        stored for stored in held if stored.memory.memory_id != but and _bars(stored, content, at)
    ]


def _holding(tx: Transaction, scope_id: int, content: Content) -> list[Stored]:
    """List the accepted values of the key of *content*, by id, whenever they hold."""
    digest = keys.digest(content)
    if digest is None or not _functional(tx, content):
        return []
    return memories.find_all(tx, [scope_id], rows.with_key(tx, scope_id, digest, Status.ACCEPTED))


def _bars(stored: Stored, content: Content, at: int) -> bool:
    return stored.memory.content is not None and keys.clash(stored.memory.content, content, at)


def share_key(tx: Transaction, a: Content | None, b: Content | None) -> bool:
    """Tell whether *a* and *b* are values of one functional key."""
    digest = keys.digest(a)
    return a is not None and digest is not None and digest == keys.digest(b) and _functional(tx, a)


def settled(mutation: Mutation, memory: Memory, holding: Sequence[Stored] | None = None) -> Memory:
    """Return *memory* with the conflicts that it has in its status, and the trust they leave it.

    Args:
        mutation: The running mutation.
        memory: The entry.
        holding: The accepted values of its key, where they were read before.
    """
    content = memory.content
    if content is None:
        return memory
    named = None if memory.supersedes is None else memory.supersedes.memory_id
    found: list[str] = []
    if memory.status is Status.PROPOSED:
        if holding is None:
            holding = _holding(mutation.tx, memory.scope_id, content)
        # What it says it would take the place of, it does not contradict unawares.
        found = [
            stored.memory.memory_id
            for stored in holding
            if stored.memory.memory_id not in {memory.memory_id, named}
            and _bars(stored, content, mutation.at)
        ]
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
    """Bring the contenders for a key in line with who holds it now.

    All of them at once: one after the other, thousands kept the other writers waiting for half a
    minute.
    """
    was, now = _held(before), _held(after)
    if was == now:
        return
    contended = {keys.digest(content): content for content in (was, now) if content is not None}
    for digest, content in contended.items():
        if digest is None or not _functional(mutation.tx, content):
            continue
        ids = rows.with_key(mutation.tx, after.scope_id, digest, Status.PROPOSED)
        holding = _holding(mutation.tx, after.scope_id, content) if ids else []
        contenders = memories.find_all(mutation.tx, [after.scope_id], ids)
        _write(
            mutation,
            after,
            [
                moved
                for stored in contenders
                for moved in [settled(mutation, stored.memory, holding)]
                if moved.conflicts_with != stored.memory.conflicts_with
            ],
        )


def _write(mutation: Mutation, holder: Memory, moved: Sequence[Memory]) -> None:
    """Write which conflicts the contenders *moved* have now; each is on record."""
    if not moved:
        return
    alike: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for memory in moved:
        alike.setdefault((memory.conflicts_with, memory.trust), []).append(memory.memory_id)
    for (named, left), ids in alike.items():
        rows.set_conflicts(mutation.tx, holder.repository_id, ids, named, left)
    scopes.touch(mutation.tx, holder.repository_id, holder.scope_id)
    mutation.record_all(
        {
            "action": "conflict" if memory.conflicts_with else "conflict-ended",
            "item": memory.memory_id,
            "repository_id": memory.repository_id,
            "scope_id": memory.scope_id,
            "to_revision": memory.revision,
            "reason": f"trust:{memory.trust}",
        }
        for memory in moved
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
