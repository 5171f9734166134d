"""Succession: one entry takes another's place, linked from old to new."""

from dataclasses import replace

from codeflow_memory.domain import keys
from codeflow_memory.domain.access import Reach, Scope
from codeflow_memory.domain.errors import ProvenanceInvalidError, RevisionConflictError
from codeflow_memory.domain.lifecycle import Action, move
from codeflow_memory.domain.memory import Content, Memory, Pair, Status
from codeflow_memory.services import conflicts, entries
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import memories, revisions
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored


def check_successor(tx: Transaction, reach: Reach, scope: Scope, old: Pair) -> None:
    """Refuse a ``supersedes`` that names nothing the author sees in the same audience.

    Raises:
        ProvenanceInvalidError: No such memory, or it no longer stands.
        RevisionConflictError: It stands at another revision.
    """
    stored = memories.find(tx, [scope.scope_id], old.memory_id)
    if stored is None or not reach.sees(stored.memory, before=stored.before):
        raise ProvenanceInvalidError("/supersedes", "no such memory in this collection")
    if stored.memory.status not in {Status.ACCEPTED, Status.OUTDATED}:
        raise ProvenanceInvalidError("/supersedes", "it is not in service any more")
    if stored.memory.revision != old.revision:
        raise RevisionConflictError(
            old.memory_id, expected=old.revision, current=stored.memory.revision
        )


def supersede_old(mutation: Mutation, reach: Reach, memory: Memory) -> None:
    """Supersede what *memory*, just accepted, takes the place of.

    Raises:
        RevisionConflictError: The old entry changed since *memory* was written.
    """
    old = memory.supersedes
    if old is None:
        return
    if revisions.times_accepted(mutation.tx, memory.repository_id, memory.memory_id) > 1:
        # It took that place when it was first accepted; what became of the old one since, and was
        # decided by somebody, is not decided again.
        return
    stored = memories.find(mutation.tx, reach.scopes, old.memory_id)
    current = 0 if stored is None else stored.memory.revision
    if stored is None or current != old.revision:
        raise RevisionConflictError(old.memory_id, expected=old.revision, current=current)
    link(mutation, stored, memory)


def take_over(mutation: Mutation, memory: Memory) -> None:
    """Supersede whoever else holds the functional key of *memory*, which was just accepted."""
    if memory.status is not Status.ACCEPTED:
        return
    for stored in conflicts.holders(
        mutation.tx, memory.scope_id, memory.content, mutation.at, but=memory.memory_id
    ):
        link(mutation, stored, memory)


def link(
    mutation: Mutation,
    stored: Stored,
    successor: Memory,
    *,
    reason: str | None = None,
    own: bool = False,
) -> Memory:
    """Mark an entry superseded by *successor*; *own* marks a decision on one's own proposal.

    Where both are values of one functional key, the old one ceases to hold.

    Raises:
        IllegalTransitionError: Its status does not allow it.
    """
    old = stored.memory
    target = move(Action.SUPERSEDE, old.status)
    if target is None:
        return old
    content = _closed(mutation, old.content, successor.content)
    return entries.change(
        mutation,
        stored,
        replace(
            old,
            status=target,
            superseded_by=successor.memory_id,
            content=content,
            content_sha256=None if content is None else content.sha256(),
            self_approved=own or old.self_approved,
        ),
        entries.Change("supersede", reason=reason, own=own),
    )


def reopened(tx: Transaction, memory: Memory) -> Memory:
    """Return a superseded entry with the validity that it had before it was superseded."""
    content = memory.content
    if content is None or memory.status is not Status.SUPERSEDED:
        return memory
    for revision in reversed(revisions.find_all(tx, memory.repository_id, memory.memory_id)):
        if revision.status is not Status.SUPERSEDED:
            before = None if revision.content is None else revision.content.valid_to
            content = replace(content, valid_to=before)
            return replace(memory, content=content, content_sha256=content.sha256())
    return memory


def _closed(mutation: Mutation, old: Content | None, new: Content | None) -> Content | None:
    if old is None or new is None or not conflicts.share_key(mutation.tx, old, new):
        return old
    return replace(old, valid_to=keys.closed_at(old, new, mutation.at))
