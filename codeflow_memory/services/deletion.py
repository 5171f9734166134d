"""Deletion: a tombstone takes an entry's place, and no word of its text stays."""

from dataclasses import replace

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import ForbiddenError, LegalHoldError
from codeflow_memory.domain.lifecycle import Action, move
from codeflow_memory.domain.memory import Collection, Memory, Tombstone
from codeflow_memory.services import access as accesses
from codeflow_memory.services import entries, views
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import approvals, citations, feedback, holds, manifests, revisions
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt


def delete(
    store: Store,
    access: Access,
    memory_id: str,
    base_revision: int,
    operation: Operation,
    *,
    reason: str | None = None,
) -> View:
    """Delete a memory and return its tombstone; works on a full disk too.

    Of *reason* a code stays, no free text. What is deleted already stays as it is.

    Raises:
        NotFoundError: There is none for the caller.
        ForbiddenError: It is another's, and the caller is no maintainer.
        RevisionConflictError: It changed since *base_revision*.
        LegalHoldError: A hold keeps it.
    """

    def work(mutation: Mutation) -> Receipt:
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory_id, base_revision)
        stone = erase(mutation, stored, reason)
        return views.receipt_of(mutation, "delete", stone)

    return mutate(store, access, operation, work, views.render, needs_room=False)


def erase(mutation: Mutation, stored: Stored, reason: str | None) -> Memory:
    """Delete an entry for the caller, in this transaction; see `delete`."""
    _may_delete(mutation.access, stored.memory)
    return bury(mutation, stored, reason)


def bury(mutation: Mutation, stored: Stored, reason: str | None) -> Memory:
    """Put the tombstone in place and take the text out of every table, in this transaction.

    The one way for every deletion; whether the caller may delete this was decided before.

    Raises:
        LegalHoldError: A hold keeps the entry.
    """
    memory, tx = stored.memory, mutation.tx
    target = move(Action.DELETE, memory.status)
    if target is None:
        return memory
    if holds.is_held(tx, memory.repository_id, memory.project_id, memory.memory_id):
        raise LegalHoldError([memory.memory_id])
    code = entries.code_of(reason)
    stone = entries.change(
        mutation,
        stored,
        replace(
            memory,
            status=target,
            content=None,
            content_sha256=None,
            verification=None,
            superseded_by=None,
            review_reason=None,
            conflicts_with=(),
            tombstone=Tombstone(
                mutation.access.principal_id, mutation.at, code, memory.sensitivity
            ),
        ),
        entries.Change("delete", reason=code),
    )
    where = (memory.repository_id, memory.memory_id)
    revisions.erase(tx, *where, entries.REASON_CODES)
    approvals.erase_comments(tx, *where)
    feedback.erase_notes(tx, *where)
    citations.delete(tx, *where)
    manifests.erase_free_text(tx, *where)
    return stone


def _may_delete(access: Access, memory: Memory) -> None:
    accesses.require(access, Role.CONTRIBUTOR, memory.repository_id, "delete memories")
    if access.principal_id in {memory.author, memory.owner}:
        return
    if memory.collection is Collection.PRIVATE:
        raise ForbiddenError("a private entry is deleted by its owner")
    accesses.require(access, Role.MAINTAINER, memory.repository_id, "delete others' memories")
    if memory.collection is Collection.TEAM and memory.team_id not in access.teams:
        raise ForbiddenError("a team entry is deleted within its team")
