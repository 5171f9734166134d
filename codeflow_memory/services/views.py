"""Views: a memory as one caller sees it, at the revision that was asked for."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from codeflow_memory.domain import queue
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.errors import NotFoundError, RevisionConflictError
from codeflow_memory.domain.memory import Collection, Memory, Pair, Sensitivity, Status, describe
from codeflow_memory.domain.revision import Revision
from codeflow_memory.services import access as accesses
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import approvals, memories, revisions
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt


@dataclass(frozen=True, slots=True)
class View:
    """A memory as one caller sees it.

    Args:
        memory: At the revision that was asked for.
        resolved: For each ``derived_from`` pair, whether the named revision is the current one of
            a memory that the caller sees and that still stands.
        approvals: Decisions, oldest first.
        duplicate: The answer to a write that said nothing new.
    """

    memory: Memory
    resolved: tuple[bool, ...] = ()
    approvals: tuple[Approval, ...] = ()
    duplicate: bool = False


def seen(tx: Transaction, reach: Reach, memory_id: str) -> Stored:
    """Return an entry within *reach*.

    Raises:
        NotFoundError: Absent or out of reach.
    """
    stored = memories.find(tx, reach.scopes, memory_id)
    if stored is None or not reach.sees(stored.memory, before=stored.before):
        raise NotFoundError("memory", memory_id)
    return stored


def expect(tx: Transaction, reach: Reach, memory_id: str, base_revision: int) -> Stored:
    """Return an entry within *reach* that still stands at *base_revision*.

    Raises:
        NotFoundError: Absent or out of reach.
        RevisionConflictError: It is at another revision; carries what stands now.
    """
    stored = seen(tx, reach, memory_id)
    if stored.memory.revision != base_revision:
        raise RevisionConflictError(
            memory_id,
            expected=base_revision,
            current=stored.memory.revision,
            content=describe(stored.memory),
        )
    return stored


def view(tx: Transaction, reach: Reach, memory: Memory) -> View:
    """Add to *memory* what depends on the caller."""
    return views(tx, reach, [memory])[0]


def views(tx: Transaction, reach: Reach, shown: Sequence[Memory]) -> list[View]:
    """Add to each of the memories *shown* what depends on the caller."""
    decided = approvals.of_each(tx, [(m.repository_id, m.memory_id) for m in shown])
    return [_view(tx, reach, *of_one) for of_one in zip(shown, decided, strict=True)]


def _view(tx: Transaction, reach: Reach, memory: Memory, decided: Sequence[Approval]) -> View:
    pairs = () if memory.content is None else memory.content.derived_from
    if memory.superseded_by is not None and not _sees(tx, reach, memory.superseded_by):
        memory = replace(memory, superseded_by=None)
    if memory.conflicts_with:
        # Who sponsors an agent sees of its entries those that wait, and not what they contradict.
        seen_ids = tuple(other for other in memory.conflicts_with if _sees(tx, reach, other))
        memory = replace(memory, conflicts_with=seen_ids)
    memory = replace(memory, review_reason=_told(tx, reach, memory.review_reason))
    return View(memory, resolved(tx, reach, pairs), tuple(decided))


def _told(tx: Transaction, reach: Reach, reason: str | None) -> str | None:
    """Return why an entry waits, without an id of what the caller does not see."""
    word, _, named = (reason or "").partition(":")
    return word if word in queue.NAMING and not _sees(tx, reach, named) else reason


def _sees(tx: Transaction, reach: Reach, memory_id: str) -> bool:
    stored = memories.find(tx, reach.scopes, memory_id)
    return stored is not None and reach.sees(stored.memory, before=stored.before)


UNRESOLVED = frozenset({Status.OUTDATED, Status.SUPERSEDED, Status.DELETED})
"""What no longer stands: a pair that names it is not resolved."""


def resolved(tx: Transaction, reach: Reach, pairs: tuple[Pair, ...]) -> tuple[bool, ...]:
    """Tell for each pair whether it is current and stands; hidden and stale look alike."""
    if not pairs:
        return ()
    standing = {
        Pair(s.memory.memory_id, s.memory.revision)
        for s in memories.find_all(tx, reach.scopes, {p.memory_id for p in pairs})
        if reach.sees(s.memory) and s.memory.status not in UNRESOLVED
    }
    return tuple(pair in standing for pair in pairs)


def readable(tx: Transaction, reach: Reach, memory: Memory) -> list[Revision]:
    """List the revisions of *memory*, which the caller sees, that are its to read, oldest first."""
    found = revisions.find_all(tx, memory.repository_id, memory.memory_id)
    served = {r.content_sha256 for r in found if r.status is Status.ACCEPTED}
    return [r for r in found if _is_open(reach, memory, r, served)]


def _is_open(
    reach: Reach, memory: Memory, revision: Revision, served: AbstractSet[str | None]
) -> bool:
    """Tell whether a revision is the caller's to read.

    The one that stands is, to whom the entry is visible. One that was marked secret is its owner's,
    whatever became of the entry since. A reader of the project sees of the earlier ones the texts
    that were in service, *served* by their hashes, and no draft.
    """
    content = revision.content
    if content is None or revision.revision == memory.revision:
        return True
    if content.sensitivity is Sensitivity.SECRET and memory.owner != reach.access.principal_id:
        return False
    return (
        memory.collection is not Collection.PROJECT
        or revision.content_sha256 in served
        or reach.access.may(Role.CONTRIBUTOR, memory.repository_id)
    )


def as_it_was(tx: Transaction, reach: Reach, memory: Memory, revision: int) -> Memory:
    """Return *memory* with status and content of *revision*; its tombstone once it is deleted.

    Raises:
        NotFoundError: There is no such revision for the caller.
    """
    if not 1 <= revision <= memory.revision:
        raise NotFoundError("revision", str(revision))
    if revision == memory.revision or memory.content is None:
        return memory
    for found in readable(tx, reach, memory):
        if found.revision == revision:
            return with_revision(memory, found)
    raise NotFoundError("revision", str(revision))


def with_revision(memory: Memory, found: Revision) -> Memory:
    """Return *memory* with what *found*, a revision of it, keeps."""
    return replace(
        memory,
        revision=found.revision,
        status=found.status,
        superseded_by=found.superseded_by,
        content=found.content,
        content_sha256=found.content_sha256,
        updated_at=found.at,
    )


def render(tx: Transaction, access: Access, receipt: Receipt) -> View:
    """Render the answer of a mutation from its receipt: the recorded revision, or the tombstone.

    Raises:
        NotFoundError: The caller has lost sight of it since.
    """
    reach = accesses.reach_everywhere(tx, access)
    stored = memories.find(tx, reach.scopes, receipt.target_id)
    # Who decides or marks an entry is answered, though it may be out of its sight from then on.
    if stored is None or (receipt.again and not reach.sees(stored.memory, before=stored.before)):
        raise NotFoundError("memory", receipt.target_id)
    shown = view(tx, reach, as_it_was(tx, reach, stored.memory, receipt.revision))
    return _then(shown, receipt)


def _then(shown: View, receipt: Receipt) -> View:
    """Return *shown* with what stands beside a revision as it was when the receipt was made."""
    trust, at = receipt.facts.get("trust"), receipt.facts.get("at")
    memory, approvals_then = shown.memory, shown.approvals
    if isinstance(at, int):
        approvals_then = tuple(a for a in shown.approvals if a.at <= at)
        check = memory.verification
        if check is not None and check.at > at:
            memory = replace(memory, verification=None)
    if isinstance(trust, int):
        contended: Any = receipt.facts.get("conflicts", ())
        memory = replace(memory, trust=trust, conflicts_with=tuple(contended))
    return replace(
        shown,
        memory=memory,
        approvals=approvals_then,
        duplicate=bool(receipt.facts.get("duplicate")),
    )


def receipt_of(
    mutation: Mutation, action: str, memory: Memory, *, duplicate: bool = False
) -> Receipt:
    """Record what was done to *memory*, and what stood beside its revision then."""
    facts: dict[str, object] = {"at": mutation.at, "trust": memory.trust}
    if memory.conflicts_with:
        facts["conflicts"] = list(memory.conflicts_with)
    if duplicate:
        facts["duplicate"] = True
    return Receipt(action, memory.memory_id, memory.revision, facts)
