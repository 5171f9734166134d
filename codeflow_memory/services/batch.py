"""Batch: many decisions in one request, each under its own rules."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import CodeflowError, DeadlineExceededError
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    anchors,
    deletion,
    memories,
    ownership,
    publication,
    review,
    views,
)
from codeflow_memory.services.anchors import Anchors
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.review import Decision
from codeflow_memory.services.store import Store
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

EDIT = "update"
PUBLISH = "publish"

TOGETHER_SECONDS = 3.0
"""That a batch may take in one transaction: other writers wait for five seconds, and no longer."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a batch.

    Args:
        action: One of `Action`, or ``update``, or ``publish``.
        memory_id: The memory.
        revision: The revision it is based on.
        decision: For decisions.
        changes: For ``update``: fields of content.
        reason: For ``delete`` and ``publish``: kept with the tombstone or the proposal.
    """

    action: str
    memory_id: str
    revision: int
    decision: Decision | None = None
    changes: Mapping[str, object] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one step: the memory's id, revision and status, or the refusal."""

    memory_id: str
    revision: int | None = None
    status: str | None = None
    error: CodeflowError | None = None


@dataclass(frozen=True, slots=True)
class _FromGit:
    """What git said before the transaction about the step's memory."""

    owners: ownership.Owners | None = None
    anchors: Anchors = field(default_factory=Anchors)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of all steps.

    Args:
        results: One a step, in order.
        applied: Whether what could apply was applied.
        batch_id: What `undo` takes to put all of it back; ``None`` where nothing was kept.
    """

    results: list[Result]
    applied: bool
    batch_id: str | None


class _Undone(Exception):  # noqa: N818 - no error: it carries the results out of the transaction
    """Leaves the transaction, so that nothing of it is kept."""

    def __init__(self, results: list[Result]) -> None:
        super().__init__()
        self.results = results


def run(
    store: Store,
    access: Access,
    steps: Sequence[Step],
    operation: Operation,
    *,
    dry_run: bool,
    atomic: bool,
) -> Outcome:
    """Carry out *steps* in order.

    Without *atomic* each good step applies, in a transaction of its own, under an operation id of
    its own; with it all or none. A dry run answers the same and keeps nothing. Whichever way, what
    applies is one batch, which can be undone as one.
    """
    if dry_run or atomic:
        return _together(store, access, steps, operation, dry_run=dry_run)
    batch_id = store.ids.new("bat")
    if operation.operation_id is not None:
        # Claims the id for this request: another one under it is refused before any step, and a
        # repetition that carries on is the same batch.
        batch_id = mutate(
            store,
            access,
            replace(operation, batch_id=batch_id),
            lambda mutation: Receipt("batch", mutation.batch_id, 0, {}),
            _render_claim,
            needs_room=_needs_room(steps),
        )
    results = []
    for position, step in enumerate(steps):
        own = _operation_of(store, operation, position, batch_id)
        try:
            results += [_alone(store, access, step, own)]
        except CodeflowError as error:
            results += [Result(step.memory_id, error=error)]
    kept = any(result.error is None for result in results)
    return Outcome(results, applied=True, batch_id=batch_id if kept else None)


def _operation_of(store: Store, operation: Operation, position: int, batch_id: str) -> Operation:
    """Name the step at *position*; a hash, because an id of full length has no room for more."""
    own_id = operation.operation_id
    if own_id is not None:
        own_id = "batch-" + store.keys.request_hash(own_id, str(position))
    return Operation(own_id, (*operation.parts, str(position)), batch_id)


def _needs_room(steps: Sequence[Step]) -> bool:
    """Tell whether a full disk refuses *steps*: deletions alone may use the ballast."""
    return any(step.action != Action.DELETE for step in steps)


def _render_claim(_tx: Transaction, _access: Access, receipt: Receipt) -> str:
    """Return the batch that a request claimed."""
    return receipt.target_id


def _alone(store: Store, access: Access, step: Step, operation: Operation) -> Result:
    known = _ask_git(store, access, step)

    def work(mutation: Mutation) -> Receipt:
        done = _apply(mutation, step, known)
        facts: dict[str, object] = {"status": done.status}
        return Receipt("batch", done.memory_id, done.revision or 0, facts)

    return mutate(store, access, operation, work, _render, needs_room=_needs_room([step]))


def _render(_tx: Transaction, _access: Access, receipt: Receipt) -> Result:
    return Result(receipt.target_id, receipt.revision, str(receipt.facts["status"]))


def _together(
    store: Store, access: Access, steps: Sequence[Step], operation: Operation, *, dry_run: bool
) -> Outcome:
    known = [_ask_git_safely(store, access, step) for step in steps]

    def work(mutation: Mutation) -> Receipt:
        # What is refused leaves no trace, not even outside the database: the guard is asked last.
        mutation.guarded = False
        results = _attempts(mutation, steps, known)
        if dry_run or any(r.error is not None for r in results):
            raise _Undone(results)
        store.guard.within(mutation.tx)
        done: list[object] = [[r.memory_id, r.revision, r.status] for r in results]
        return Receipt("batch", mutation.batch_id, 0, {"results": done})

    try:
        needs_room = _needs_room(steps)
        return mutate(store, access, operation, work, _render_all, needs_room=needs_room)
    except _Undone as undone:
        return Outcome(undone.results, applied=False, batch_id=None)


def _attempts(
    mutation: Mutation, steps: Sequence[Step], known: Sequence[_FromGit | CodeflowError]
) -> list[Result]:
    """Carry out each step that can be; a refused one leaves nothing behind.

    Raises:
        DeadlineExceededError: They hold up the other writers for too long.
    """
    results = []
    until = time.monotonic() + TOGETHER_SECONDS
    for step, about in zip(steps, known, strict=True):
        if time.monotonic() >= until:
            raise DeadlineExceededError
        if isinstance(about, CodeflowError):
            results.append(Result(step.memory_id, error=about))
            continue
        try:
            with mutation.tx.attempt():
                results.append(_apply(mutation, step, about))
        except CodeflowError as error:
            results.append(Result(step.memory_id, error=error))
    return results


def _render_all(_tx: Transaction, _access: Access, receipt: Receipt) -> Outcome:
    done = receipt.facts["results"]
    assert isinstance(done, list), "written by _together"  # noqa: S101 - an invariant
    results = [Result(memory_id, revision, status) for memory_id, revision, status in done]
    return Outcome(results, applied=True, batch_id=receipt.target_id if results else None)


def _apply(mutation: Mutation, step: Step, known: _FromGit) -> Result:
    reach = accesses.reach_everywhere(mutation.tx, mutation.access)
    stored = views.expect(mutation.tx, reach, step.memory_id, step.revision)
    if step.action == EDIT:
        memory = memories.revise_stored(mutation, reach, stored, step.changes or {}, known.anchors)
    elif step.action == PUBLISH:
        memory = publication.propose(mutation, reach, stored.memory, step.reason)
    elif step.action == Action.DELETE:
        memory = deletion.erase(mutation, stored, step.reason)
    else:
        decision = step.decision or Decision(Action(step.action))
        memory = review.carry_out(mutation, reach, stored, decision, known.owners)
    return Result(memory.memory_id, memory.revision, str(memory.status))


def _ask_git(store: Store, access: Access, step: Step) -> _FromGit:
    if step.action in {Action.APPROVE, Action.RESTORE}:
        return _FromGit(owners=ownership.read(store, access, step.memory_id))
    if step.action == EDIT:
        changes = step.changes or {}
        return _FromGit(anchors=anchors.for_revision(store, access, step.memory_id, changes))
    return _FromGit()


def _ask_git_safely(store: Store, access: Access, step: Step) -> _FromGit | CodeflowError:
    try:
        return _ask_git(store, access, step)
    except CodeflowError as error:
        return error
