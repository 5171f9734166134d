"""Succession: one entry takes another's place, linked from old to new."""

from dataclasses import replace

from codeflow_memory.domain.access import Reach, Scope
from codeflow_memory.domain.errors import ProvenanceInvalidError, RevisionConflictError
from codeflow_memory.domain.lifecycle import Action, move
from codeflow_memory.domain.memory import Memory, Pair, Status
from codeflow_memory.services import entries
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
    link(mutation, stored, memory.memory_id)


def link(
    mutation: Mutation,
    stored: Stored,
    successor: str,
    *,
    reason: str | None = None,
    own: bool = False,
) -> Memory:
    """Mark an entry superseded by *successor*; *own* marks a decision on one's own proposal.

    Raises:
        IllegalTransitionError: Its status does not allow it.
    """
    target = move(Action.SUPERSEDE, stored.memory.status)
    if target is None:
        return stored.memory
    return entries.change(
        mutation,
        stored,
        replace(
            stored.memory,
            status=target,
            superseded_by=successor,
            self_approved=own or stored.memory.self_approved,
        ),
        entries.Change("supersede", reason=reason, own=own),
    )
