"""Review: decisions on entries, each bound to the revision that it names."""

from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError
from codeflow_memory.domain.lifecycle import Action, allows, move
from codeflow_memory.domain.memory import Collection, Memory, Pair, Sensitivity, Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    anchors,
    conflicts,
    entries,
    ownership,
    repositories,
    succession,
    views,
)
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.ownership import Owners
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import approvals, citations, revisions
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt

_OWNERS_OWN = frozenset({Action.OUTDATE, Action.ARCHIVE})
"""What the owner of a private entry may do outside a review, in a run too."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a caller decides.

    Args:
        action: Every action but ``delete``.
        comment: Kept with an approval or rejection.
        reason: Kept with the revision.
        superseded_by: The successor; required by ``supersede`` alone.
    """

    action: Action
    comment: str | None = None
    reason: str | None = None
    superseded_by: str | None = None


def decide(
    store: Store,
    access: Access,
    memory_id: str,
    decision: Decision,
    base_revision: int,
    operation: Operation,
) -> View:
    """Carry out *decision* on a memory that still stands at *base_revision*.

    A decision that leads to where the memory already is changes nothing. An approval that is not
    yet enough is recorded, and the memory stays proposed at the same revision.

    Raises:
        NotFoundError: There is none for the caller.
        ForbiddenError: The caller may not decide it.
        RevisionConflictError: It, or what it supersedes, changed meanwhile.
        IllegalTransitionError: The move does not exist.
    """
    accepts = decision.action in {Action.APPROVE, Action.RESTORE}
    owners = ownership.read(store, access, memory_id) if accepts else None

    def work(mutation: Mutation) -> Receipt:
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory_id, base_revision)
        memory = carry_out(mutation, reach, stored, decision, owners)
        return views.receipt_of(mutation, str(decision.action), memory)

    return mutate(store, access, operation, work, views.render)


def carry_out(
    mutation: Mutation, reach: Reach, stored: Stored, decision: Decision, owners: Owners | None
) -> Memory:
    """Carry out *decision* inside a mutation; see `decide`."""
    if decision.action is Action.RESTORE:
        stored = replace(stored, memory=succession.reopened(mutation.tx, stored.memory))
    memory = stored.memory
    own = _may_decide(mutation, stored, decision.action)
    if decision.action is Action.SUPERSEDE:
        return _supersede(mutation, reach, stored, decision, own=own)
    target = move(decision.action, memory.status)
    if target is None:
        return memory
    if target is Status.REJECTED:
        _record(mutation, memory, decision, own=own)
    if target is Status.ACCEPTED:
        return _accept(mutation, reach, stored, decision, owners, own=own)
    if decision.action is Action.RETURN:
        approvals.withdraw(mutation.tx, memory.repository_id, memory.memory_id)
    return entries.change(
        mutation,
        stored,
        replace(
            memory,
            status=target,
            self_approved=decision.action is not Action.RETURN and (own or memory.self_approved),
            review_reason="returned" if decision.action is Action.RETURN else None,
        ),
        entries.Change(str(decision.action), reason=decision.reason, own=own),
    )


def _accept(
    mutation: Mutation,
    reach: Reach,
    stored: Stored,
    decision: Decision,
    owners: Owners | None,
    *,
    own: bool,
) -> Memory:
    memory = stored.memory
    if memory.content is not None and memory.content.sensitivity is Sensitivity.SECRET:
        raise ForbiddenError("an entry that is marked secret is never accepted")
    first = decision.action is Action.APPROVE or _unreviewed(mutation, memory)
    if first:
        _record(mutation, memory, decision, own=own)
        if not _enough(mutation, memory, owners):
            return memory
    accepted = entries.change(
        mutation,
        stored,
        replace(
            memory,
            status=Status.ACCEPTED,
            superseded_by=None,
            review_reason=_still_suspect(mutation, memory),
            self_approved=own if first else memory.self_approved,
            supersedes=memory.supersedes or _held_by(mutation, memory),
            # Whoever approves it says that it holds now: age counts from here.
            judged_at=mutation.at if first else memory.judged_at,
        ),
        entries.Change(str(decision.action), reason=decision.reason),
    )
    if first:
        succession.supersede_old(mutation, reach, accepted)
    succession.take_over(mutation, accepted)
    return accepted


def _held_by(mutation: Mutation, memory: Memory) -> Pair | None:
    """Return the entry whose functional key *memory* takes over, for the diff against it."""
    held = conflicts.holders(
        mutation.tx, memory.scope_id, memory.content, mutation.at, but=memory.memory_id
    )
    return Pair(held[0].memory.memory_id, held[0].memory.revision) if held else None


def _still_suspect(mutation: Mutation, memory: Memory) -> str | None:
    """Return why an accepted entry stands in the queue all the same: a citation does not hold.

    To accept the text says nothing of the files; only the next verification can.
    """
    found = citations.find_all(mutation.tx, memory.repository_id, [memory.memory_id])
    return anchors.suspicion([c.result for c in found])


def _unreviewed(mutation: Mutation, memory: Memory) -> bool:
    """Tell whether an entry was never in service with the text that it has.

    It went out of the queue undecided, or was edited while it was out of service: to restore it is
    to approve it, under the same rules.
    """
    return memory.content_sha256 is None or not revisions.was_accepted(
        mutation.tx, memory.repository_id, memory.memory_id, memory.content_sha256
    )


def _enough(mutation: Mutation, memory: Memory, owners: Owners | None) -> bool:
    """Tell whether the approvals of exactly this revision suffice."""
    if memory.collection is not Collection.PROJECT:
        return True
    tx = mutation.tx
    repository = repositories.get(tx, memory.repository_id)
    given = {
        a.principal
        for a in approvals.find_all(tx, memory.repository_id, memory.memory_id)
        if a.decision == "approve" and a.revision == memory.revision and not a.withdrawn
    }
    if repository.codeowners and (owners is None or owners.revision != memory.revision):
        raise ForbiddenError("CODEOWNERS cannot be read, so nothing can be approved")
    if len(given) < repository.required_approvals:
        return False
    return owners is None or not repository.codeowners or ownership.satisfied(tx, owners, given)


def _record(mutation: Mutation, memory: Memory, decision: Decision, *, own: bool) -> None:
    """Keep the decision; a second one of the same person on the same revision is no other."""
    principal, at = mutation.access.principal_id, mutation.at
    word = "reject" if decision.action is Action.REJECT else "approve"
    for known in approvals.find_all(mutation.tx, memory.repository_id, memory.memory_id):
        if (known.principal, known.revision) != (principal, memory.revision):
            continue
        if known.decision == word and not known.withdrawn:
            return
        # Steps of one batch have one time; decisions keep their order.
        at = max(at, known.at + 1)
    approvals.insert(
        mutation.tx,
        memory.repository_id,
        memory.memory_id,
        Approval(
            memory.revision, principal, word, own, withdrawn=False, at=at,
            comment=decision.comment,
        ),
    )  # fmt: skip
    mutation.record(
        f"{word}-given",
        memory.memory_id,
        repository_id=memory.repository_id,
        scope_id=memory.scope_id,
        to_revision=memory.revision,
        reason="own" if own else None,
    )


def _supersede(
    mutation: Mutation, reach: Reach, stored: Stored, decision: Decision, *, own: bool
) -> Memory:
    successor_id = decision.superseded_by
    if successor_id is None or successor_id == stored.memory.memory_id:
        raise InvalidRequestError.at("/superseded_by", "required, another memory's id")
    successor = rows.find(mutation.tx, [stored.memory.scope_id], successor_id)
    if (
        successor is None
        or not reach.sees(successor.memory)
        or successor.memory.status is not Status.ACCEPTED
    ):
        raise InvalidRequestError.at("/superseded_by", "no accepted memory of this collection")
    return succession.link(mutation, stored, successor.memory, reason=decision.reason, own=own)


def _may_decide(mutation: Mutation, stored: Stored, action: Action) -> bool:
    """Refuse a caller that may not decide; return whether it is the caller's own proposal.

    Raises:
        ForbiddenError: With the rule that refuses.
    """
    memory, access = stored.memory, mutation.access
    require_decider(access, memory, action)
    if memory.collection is Collection.PRIVATE:
        return False
    undecided = memory.status is Status.PROPOSED or (
        action is Action.RESTORE and allows(action, memory.status) and _unreviewed(mutation, memory)
    )
    return undecided and require_another(mutation, stored)


def require_another(mutation: Mutation, stored: Stored) -> bool:
    """Refuse whose own proposal it is, unless that may decide it; tell whether it is one's own.

    Raises:
        ForbiddenError: With the rule that refuses.
    """
    memory = stored.memory
    own = mutation.access.principal_id in {memory.author, stored.editor}
    if memory.collection is Collection.PRIVATE or not own:
        return False
    repository = repositories.get(mutation.tx, memory.repository_id)
    team = memory.collection is Collection.TEAM
    if team or not repositories.own_approval_allowed(mutation.tx, mutation.store, repository):
        raise ForbiddenError(
            "one's own proposal is decided by somebody else, unless the repository allows it"
        )
    return True


def require_decider(access: Access, memory: Memory, action: Action) -> None:
    """Refuse a caller who has not the right to decisions on such an entry.

    Raises:
        ForbiddenError: With the rule that refuses.
    """
    if memory.collection is Collection.PRIVATE:
        _may_decide_private(access, memory, action)
        return
    if not access.decides:
        raise ForbiddenError("an agent never decides; a person does")
    project = memory.collection is Collection.PROJECT
    role = Role.REVIEWER if project else Role.CONTRIBUTOR
    accesses.require(access, role, memory.repository_id, f"{action} memories")


def _may_decide_private(access: Access, memory: Memory, action: Action) -> None:
    own = memory.owner == access.principal_id
    if not access.decides and not (own and action in _OWNERS_OWN):
        raise ForbiddenError("an agent never decides; a person does")
    if not own and memory.owner not in access.sponsored:
        raise ForbiddenError("a private entry is decided by its owner")
    accesses.require(access, Role.CONTRIBUTOR, memory.repository_id, f"{action} memories")
