"""Undo: puts back what a batch changed, exactly and as new revisions (03 §3).

Nothing is taken out of any history: an undo is itself a batch, and can be undone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from codeflow_memory.domain import findings
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    IllegalTransitionError,
    LaterChange,
    NotFoundError,
    UndoConflictError,
)
from codeflow_memory.domain.lifecycle import MOVES, Action
from codeflow_memory.domain.memory import Collection, Content, Memory, Status
from codeflow_memory.domain.revision import Revision
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    anchors,
    conflicts,
    entries,
    governance,
    memories,
    review,
    views,
)
from codeflow_memory.services.mutation import Mutation, Operation, Work, mutate, rehearse
from codeflow_memory.services.store import Store
from codeflow_memory.storage import approvals, batches, revisions
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.batches import Change
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt

_WITHDRAWN = {Status.ACCEPTED: Status.ARCHIVED, Status.PROPOSED: Status.OUTDATED}
"""Where an entry goes whose making is undone: out of service, and its text stays to be read."""

_ACTION = {
    Status.PROPOSED: Action.RETURN,
    Status.ACCEPTED: Action.RESTORE,
    Status.REJECTED: Action.REJECT,
    Status.OUTDATED: Action.OUTDATE,
    Status.SUPERSEDED: Action.SUPERSEDE,
    Status.ARCHIVED: Action.ARCHIVE,
}
"""The decision that leads to a status: undoing into it needs the same right."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """One entry that was put back: the revisions before and after."""

    memory_id: str
    from_revision: int
    to_revision: int


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did; ``batch_id`` names the undo itself, ``of_batch`` what it took back."""

    batch_id: str
    of_batch: str
    reverted: tuple[Reverted, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """What a batch did to one entry from its first change to its last."""

    stored: Stored
    first: Change
    last: Change


def undo(
    store: Store, access: Access, operation: Operation, *, batch: str | None, item: str | None
) -> Undone:
    """Undo a batch, the last change of an entry, or without either the caller's last batch.

    <<<<<<< HEAD
    Where an entry took another's place by that change, both are put back. Text, status, validity
    and links of each are what they were; what was made is taken out of service. All of it, or none.
    =======
    Text, status, validity and links of each entry are what they were; what was made is taken out
    of service, and with an entry goes back what it superseded or was superseded by. All of it, or
    none.
    >>>>>>> w-fresh5

    Raises:
        NotFoundError: No such batch or entry for the caller, or nothing to undo.
        ForbiddenError: A run or agent asks, the change is another's, or a step back is a decision
            that the caller may not make.
        UndoConflictError: Something was changed since.
        IllegalTransitionError: There is no way back, as from a deletion.
    """
    return mutate(store, access, operation, _undoing(batch, item), _render)


def preview(store: Store, access: Access, *, batch: str | None, item: str | None) -> Undone:
    """Tell what `undo` would do, or refuse as it would; nothing is kept, so neither its batch."""
    return rehearse(store, access, _undoing(batch, item), _render)


def _undoing(batch: str | None, item: str | None) -> Work:
    def work(mutation: Mutation) -> Receipt:
        _require_person(mutation.access)
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        batch_id, steps = _found(mutation.tx, mutation.access, reach, batch, item)
        _check_standing(mutation.tx, reach, steps)
        done = [_revert(mutation, step) for step in reversed(steps)]
        _check_keys(mutation, reach, done)
        mutation.record(batches.UNDONE, batch_id)
        return Receipt(
            batches.UNDO,
            mutation.batch_id,
            0,
            {
                "of_batch": batch_id,
                "reverted": [[r.memory_id, r.from_revision, r.to_revision] for r in done],
            },
        )

    return work


def _require_person(access: Access) -> None:
    if not access.decides:
        raise ForbiddenError("an agent undoes nothing; a person does")


def _render(tx: Transaction, access: Access, receipt: Receipt) -> Undone:
    reach = accesses.reach_everywhere(tx, access)
    listed: Iterable[tuple[str, int, int]] = receipt.facts["reverted"]  # type: ignore[assignment] # as written above
    reverted = [Reverted(*each) for each in listed]
    if receipt.again:
        seen = {
            stored.memory.memory_id
            for stored in rows.find_all(tx, reach.scopes, {r.memory_id for r in reverted})
            if reach.sees(stored.memory, before=stored.before)
        }
        reverted = [r for r in reverted if r.memory_id in seen]
    return Undone(receipt.target_id, str(receipt.facts["of_batch"]), tuple(reverted))


def _found(
    tx: Transaction, access: Access, reach: Reach, batch: str | None, item: str | None
) -> tuple[str, list[_Step]]:
    """Return the batch that is meant, and what of it is undone, in the order in which it began."""
    own = access.principal_id
    if item is not None:
        stored = views.seen(tx, reach, item)
        latest = revisions.find(tx, stored.memory.repository_id, item, stored.memory.revision)
        batch_id = latest and batches.of_revision(
            tx, latest.actor, latest.at, item, stored.memory.revision
        )
        if not batch_id:
            raise NotFoundError("change to undo in memory", item)
    else:
        batch_id = batch or batches.last_of(tx, own)
        if batch_id is None:
            raise NotFoundError("change to undo")
    changed = batches.changes(tx, batch_id)
    if item is not None:
        joined = _joined(tx, reach, changed, item)
        changed = [c for c in changed if c.memory_id in joined]
    steps = _steps(tx, reach, changed)
    # A batch with an entry out of the caller's sight is, to the caller, none.
    if not steps or len(steps) != len({c.memory_id for c in changed}):
        raise NotFoundError("batch", batch_id)
    if changed[0].principal_id != own and not _reviews(access, steps):
        raise ForbiddenError("another's changes are undone by a reviewer, in project entries alone")
    return batch_id, steps


def _joined(tx: Transaction, reach: Reach, changed: list[Change], item: str) -> set[str]:
    """Return an entry and what the same batch put in its place, or it in the place of.

    A link has two ends: with one alone put back, nobody would hold what both stand for.
    """
    found = rows.find_all(tx, reach.scopes, {c.memory_id for c in changed})
    successors = {s.memory.memory_id: s.memory.superseded_by for s in found}
    old = {memory_id for memory_id, successor in successors.items() if successor == item}
    return {item, *old} | {s for s in (successors.get(item),) if s is not None}


def _steps(tx: Transaction, reach: Reach, changed: list[Change]) -> list[_Step]:
    stored = {
        s.memory.memory_id: s
        for s in rows.find_all(tx, reach.scopes, {c.memory_id for c in changed})
        if reach.sees(s.memory, before=s.before)
    }
    steps: dict[str, _Step] = {}
    for change in changed:
        if change.memory_id in steps:
            steps[change.memory_id] = replace(steps[change.memory_id], last=change)
        elif change.memory_id in stored:
            steps[change.memory_id] = _Step(stored[change.memory_id], change, change)
    return list(steps.values())


def _reviews(access: Access, steps: list[_Step]) -> bool:
    return all(
        step.stored.memory.collection is Collection.PROJECT
        and access.may(Role.REVIEWER, step.stored.memory.repository_id)
        for step in steps
    )


def _check_standing(tx: Transaction, reach: Reach, steps: list[_Step]) -> None:
    """Refuse to write over what came after; what an undo took back since is no change.

    Raises:
        UndoConflictError: With every later change that the caller may read.
    """
    changed = [step for step in steps if not _stands(tx, step)]
    if changed:
        raise UndoConflictError(
            [
                LaterChange(r.memory_id, r.revision, r.action, to_rfc3339(r.at))
                for step in changed
                for r in views.readable(tx, reach, step.stored.memory)
                if r.revision > step.last.to_revision
            ]
        )


def _check_keys(mutation: Mutation, reach: Reach, done: Iterable[Reverted]) -> None:
    """Refuse to bring back the holder of a functional key that has another holder now.

    Raises:
        UndoConflictError: With the revision of each that took the key since.
    """
    tx = mutation.tx
    others: list[LaterChange] = []
    for stored in rows.find_all(tx, reach.scopes, {r.memory_id for r in done}):
        memory = stored.memory
        if memory.status is not Status.ACCEPTED:
            continue
        for held in conflicts.holders(
            tx, memory.scope_id, memory.content, mutation.at, but=memory.memory_id
        ):
            other = held.memory
            latest = views.readable(tx, reach, other)[-1]
            others.append(
                LaterChange(other.memory_id, other.revision, latest.action, to_rfc3339(latest.at))
            )
    if others:
        raise UndoConflictError(others)


def _stands(tx: Transaction, step: _Step) -> bool:
    """Tell whether an entry is as the batch left it."""
    memory = step.stored.memory
    if memory.revision == step.last.to_revision:
        return True
    left = revisions.find(tx, memory.repository_id, memory.memory_id, step.last.to_revision)
    return left is not None and (left.status, left.superseded_by, left.content_sha256) == (
        memory.status,
        memory.superseded_by,
        memory.content_sha256,
    )


def _revert(mutation: Mutation, step: _Step) -> Reverted:
    memory = step.stored.memory
    if step.first.from_revision is None:
        written = _withdraw(mutation, step)
    else:
        target = revisions.find(
            mutation.tx, memory.repository_id, memory.memory_id, step.first.from_revision
        )
        written = _put_back(mutation, step, target)
    return Reverted(memory.memory_id, memory.revision, written.revision)


def _withdraw(mutation: Mutation, step: _Step) -> Memory:
    """Take an entry out of service that the batch made."""
    memory = step.stored.memory
    target = _WITHDRAWN.get(memory.status)
    if target is None:
        raise IllegalTransitionError(source=memory.status, target=Status.ARCHIVED)
    memories.may_edit(mutation.access, step.stored)
    return entries.change(
        mutation,
        step.stored,
        replace(memory, status=target, review_reason=None),
        entries.Change(batches.UNDO, reason=step.first.batch_id),
    )


def _put_back(mutation: Mutation, step: _Step, target: Revision | None) -> Memory:
    """Write what an entry was before the batch, under the rules of the step that leads there.

    Raises:
        IllegalTransitionError: It was deleted, or no move leads back.
    """
    stored, memory = step.stored, step.stored.memory
    content = None if target is None else target.content
    if target is None or content is None or memory.content is None:
        raise IllegalTransitionError(source=memory.status, target=Status.PROPOSED)
    if target.status is not memory.status and target.status not in MOVES[memory.status]:
        raise IllegalTransitionError(source=memory.status, target=target.status)
    same_text = content == memory.content
    if target.status is not memory.status or target.status is Status.ACCEPTED:
        review.require_decider(mutation.access, memory, _ACTION[target.status])
    others = step.last.principal_id != mutation.access.principal_id
    if others and (memory.status, target.status) == (Status.PROPOSED, Status.ACCEPTED):
        # What one took out oneself, one puts back. What another took out, its author would let in
        # against that decision.
        review.require_another(mutation, stored)
    if not same_text:
        memories.may_edit(mutation.access, stored)
    if not same_text or target.status is Status.PROPOSED:
        approvals.withdraw(mutation.tx, memory.repository_id, memory.memory_id)
    written = entries.change(
        mutation,
        stored,
        replace(
            memory,
            status=target.status,
            superseded_by=target.superseded_by,
            content=content,
            content_sha256=target.content_sha256,
            review_reason=_reason(mutation.tx, memory, target.status, content),
            self_approved=memory.self_approved and target.status is not Status.PROPOSED,
        ),
        entries.Change(
            batches.UNDO,
            reason=step.first.batch_id,
            editor=_editor(mutation.tx, memory, target),
        ),
        text_hash=governance.hash_text(mutation.store, content),
    )
    if not same_text:
        anchors.keep(mutation, written, anchors.Anchors(), renew=True)
    return written


def _reason(tx: Transaction, memory: Memory, status: Status, content: Content) -> str | None:
    """Return why what comes back waits, or is held back although it is accepted.

    An import may bring what is accepted and flagged at once; only a person's approval clears that.
    """
    if status is Status.PROPOSED:
        return "undone"
    if status is not Status.ACCEPTED or _approved(tx, memory):
        return None
    rules = findings.rules_of(content)
    return findings.FLAGGED + ",".join(rules) if rules else None


def _approved(tx: Transaction, memory: Memory) -> bool:
    return any(
        given.decision == "approve"
        for given in approvals.find_all(tx, memory.repository_id, memory.memory_id)
    )


def _editor(tx: Transaction, memory: Memory, target: Revision) -> str:
    """Return who first wrote the text that comes back: nobody may pass it off as another's."""
    for revision in revisions.find_all(tx, memory.repository_id, memory.memory_id):
        if revision.content_sha256 == target.content_sha256:
            return revision.actor
    return target.actor
