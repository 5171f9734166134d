"""Feedback: outcomes move an entry's trust, once for each principal and revision (03 §2)."""

from dataclasses import dataclass

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import replay, trust, views
from codeflow_memory.services.mutation import Mutation, Operation, mutate, rehearse
from codeflow_memory.services.store import Store
from codeflow_memory.storage import feedback as rows
from codeflow_memory.storage import memories as memory_rows
from codeflow_memory.storage import projects
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.feedback import Feedback
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the caller says of a memory; ``selection_id`` names where it was served."""

    helpful: bool
    note: str | None = None
    selection_id: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory's trust in basis points after a judgement, and whether the judgement counted."""

    memory_id: str
    revision: int
    trust: int
    status: Status
    counted: bool


def give(
    store: Store,
    access: Access,
    memory_id: str,
    judgement: Judgement,
    operation: Operation,
    *,
    dry_run: bool = False,
) -> Standing:
    """Record whether a memory helped; a second judgement of the same revision changes nothing.

    A dry run answers the same and keeps nothing.

    Raises:
        NotFoundError: There is none for the caller, or it is deleted.
        InvalidRequestError: The selection is none that gave the caller this memory.
    """

    def work(mutation: Mutation) -> Receipt:
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.seen(mutation.tx, reach, memory_id)
        if judgement.selection_id is not None:
            _check_selection(mutation, stored.memory, judgement.selection_id)
        return judge(mutation, stored, judgement)

    if dry_run:
        return rehearse(store, access, work, render)
    return mutate(store, access, operation, work, render)


def _check_selection(mutation: Mutation, memory: Memory, selection_id: str) -> None:
    tx = mutation.tx
    project = projects.get(tx, memory.repository_id, memory.project_id)
    reach = accesses.reach(tx, mutation.access, project)
    try:
        given = memory.memory_id in replay.served(replay.seen(tx, reach, project, selection_id))
    except NotFoundError:
        given = False
    if not given:
        raise InvalidRequestError.at("/selection_id", "no selection of yours with this memory")


def judge(mutation: Mutation, stored: Stored, judgement: Judgement) -> Receipt:
    """Record a judgement inside a mutation and move the trust."""
    memory, access, tx = stored.memory, mutation.access, mutation.tx
    if memory.content is None:
        raise NotFoundError("memory", memory.memory_id)
    accesses.require(access, Role.READER, memory.repository_id, "give feedback")
    principal = access.principal_id
    if rows.given(tx, memory.repository_id, memory.memory_id, memory.revision, principal):
        return _receipt(memory, memory.revision, memory.trust, counted=False)
    rows.insert(
        tx,
        memory.repository_id,
        memory.memory_id,
        Feedback(
            memory.revision,
            principal,
            judgement.helpful,
            mutation.at,
            judgement.selection_id,
            None if access.run is None else access.run.run_id,
            judgement.note,
        ),
    )
    moved = trust.after_feedback(mutation, stored, helpful=judgement.helpful)
    return _receipt(moved, moved.revision, moved.trust, counted=True)


def _receipt(memory: Memory, revision: int, trust: int, *, counted: bool) -> Receipt:
    facts: dict[str, object] = {
        "trust": trust,
        "status": str(memory.status),
        "counted": counted,
    }
    return Receipt("feedback", memory.memory_id, revision, facts)


def render(tx: Transaction, access: Access, receipt: Receipt) -> Standing:
    """Render the answer of a judgement from its receipt.

    Raises:
        NotFoundError: The caller has lost sight of the memory since.
    """
    # Not by status: a judgement may itself send an entry back to a review that a reader is not in.
    scope_ids = accesses.reach_everywhere(tx, access).scopes
    if memory_rows.find(tx, scope_ids, receipt.target_id) is None:
        raise NotFoundError("memory", receipt.target_id)
    facts = receipt.facts
    return Standing(
        receipt.target_id,
        receipt.revision,
        int(str(facts["trust"])),
        Status(str(facts["status"])),
        bool(facts["counted"]),
    )
