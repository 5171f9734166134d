"""Erasure of one principal: its own data goes, what the team shares gets a pseudonym (07 §2).

It runs in several transactions, the first of which takes every right away, so that nothing is added
meanwhile; one that was cut off is taken up by asking for it again. What was approved stays so: the
pseudonym, a principal that can never act, takes the subject's place wherever it is named, but in
the audit, whose rows are signed and hold ids, no names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.erasure import Erasure
from codeflow_memory.domain.errors import ForbiddenError, LegalHoldError, NotFoundError
from codeflow_memory.domain.principal import Principal
from codeflow_memory.services import deletion
from codeflow_memory.services.administration import require_owner
from codeflow_memory.services.legacy_mapping import NOBODY
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import (
    attribution,
    audit,
    erasures,
    grants,
    holds,
    memories,
    passwords,
    principals,
    repositories,
    teams,
    tokens,
)
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

STEP_ENTRIES = 50
STEP_SELECTIONS = 500
"""At most so many go in one transaction, so that writers wait little."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of data that is a principal's own.

    Args:
        name: What a receipt calls it.
        count: Counts it, given the principal's id.
        erase: Deletes some of it and returns how many; 0 once nothing is left.
    """

    name: str
    count: Callable[[Transaction, str], int]
    erase: Callable[[Mutation, str], int]


def run(store: Store, access: Access, principal: str) -> Erasure:
    """Erase a principal, or bring its erasure to an end; works on a full disk too.

    Raises:
        ForbiddenError: The caller does not own the tenant, or this is the caller or the last owner.
        NotFoundError: There is no such principal, or it is a pseudonym.
        LegalHoldError: One of its own entries is held; those that were not are gone already when
            the hold came meanwhile.
    """
    begun = _mutate(store, access, partial(_begin, principal=principal))
    subject_id = begun.subject_id or ""
    for part in PARTS:
        while _mutate_count(store, access, partial(_erase, part=part, subject_id=subject_id)):
            pass
    return _mutate(store, access, partial(_finish, erasure_id=begun.erasure_id))


def preview(store: Store, access: Access, principal: str) -> dict[str, int]:
    """Return what `run` would find of a principal, by kind; nothing is written.

    Raises:
        ForbiddenError: See `run`.
        NotFoundError: See `run`.
        LegalHoldError: See `run`.
    """
    require_owner(access, "erase principals")
    with store.engine.read() as tx:
        return _counts(tx, _subject(tx, access, principal))


def _begin(mutation: Mutation, principal: str) -> Receipt:
    """Take every right from the subject, and write down what there is of it."""
    require_owner(mutation.access, "erase principals")
    tx, at = mutation.tx, mutation.at
    subject = _subject(tx, mutation.access, principal)
    begun = erasures.find_of(tx, subject.principal_id)
    if begun is not None:
        return Receipt("erasure", begun.erasure_id, 1, {})
    counts = _counts(tx, subject)
    pseudonym_id = mutation.store.ids.new("prn")
    name = f"erased-{pseudonym_id.partition('_')[2].lower()}"
    principals.insert(tx, Principal(pseudonym_id, name, subject.kind, None, at, at))
    principals.remove(tx, subject.principal_id, at)
    tokens.revoke_of_principal(tx, subject.principal_id, at)
    passwords.delete(tx, subject.principal_id)
    grants.delete_of_principal(tx, subject.principal_id)
    teams.leave_all(tx, subject.principal_id)
    erasure_id = mutation.store.ids.new("ers")
    by = mutation.access.principal_id
    erasures.insert(
        tx, Erasure(erasure_id, subject.principal_id, pseudonym_id, by, at, None, counts)
    )
    mutation.record("erasure.begin", erasure_id)
    return Receipt("erasure", erasure_id, 1, {})


def _erase(mutation: Mutation, part: Part, subject_id: str) -> Receipt:
    require_owner(mutation.access, "erase principals")
    return Receipt("erasure.part", part.name, part.erase(mutation, subject_id), {})


def _finish(mutation: Mutation, erasure_id: str) -> Receipt:
    """Put the pseudonym in the subject's place, and forget the subject."""
    require_owner(mutation.access, "erase principals")
    tx, erasure = mutation.tx, erasures.find(mutation.tx, erasure_id)
    if erasure is None:
        raise NotFoundError("erasure", erasure_id)
    subject = principals.find(tx, erasure.subject_id or "")
    if subject is not None:
        for repository_id in repositories.ids(tx):
            attribution.move(tx, repository_id, _names(subject), erasure.pseudonym_id)
        attribution.move_in_tenant(tx, subject.principal_id, erasure.pseudonym_id)
        erasures.finish(tx, erasure_id, mutation.at)
        attribution.delete(tx, subject.principal_id)
        mutation.record("erasure.finish", erasure_id)
    return Receipt("erasure", erasure_id, 1, {})


def _subject(tx: Transaction, access: Access, principal: str) -> Principal:
    found = principals.named(tx, principal)
    if found is None or erasures.is_pseudonym(tx, found.principal_id):
        raise NotFoundError("principal", principal)
    if [o.principal_id for o in principals.owners(tx, limit=2)] == [found.principal_id]:
        raise ForbiddenError("the last owner of a tenant cannot be erased")
    if found.principal_id == access.principal_id:
        raise ForbiddenError("an owner is erased by another owner")
    held = [
        memory_id
        for repository_id, scope_id, memory_id in _entries(tx, found.principal_id)
        if _is_held(tx, repository_id, scope_id, memory_id)
    ]
    if held:
        raise LegalHoldError(held)
    return found


def _is_held(tx: Transaction, repository_id: str, scope_id: int, memory_id: str) -> bool:
    stored = memories.find(tx, [scope_id], memory_id)
    return stored is not None and holds.is_held(
        tx, repository_id, stored.memory.project_id, memory_id
    )


def _names(subject: Principal) -> list[str]:
    """Return what stands for a principal; an import kept names, but two of these are nobody's."""
    reserved = {NOBODY, audit.SYSTEM}
    return [subject.principal_id, *({subject.name} - reserved)]


def _counts(tx: Transaction, subject: Principal) -> dict[str, int]:
    """Count what there is of a principal: what goes, and what stays under the pseudonym."""
    counts = {part.name: part.count(tx, subject.principal_id) for part in PARTS}
    counts["tokens"] = len(
        tokens.list_all(tx, principal_id=subject.principal_id, after=None, limit=1 << 30)
    )
    counts["attributed"] = sum(
        attribution.count(tx, repository_id, _names(subject))
        for repository_id in repositories.ids(tx)
    )
    return counts


def _entries(tx: Transaction, principal_id: str) -> list[tuple[str, int, str]]:
    return [
        (repository_id, scope_id, memory_id)
        for repository_id in repositories.ids(tx)
        for scope_id, memory_id in erasures.entries(tx, repository_id, principal_id)
    ]


def _delete_entries(mutation: Mutation, principal_id: str) -> int:
    found = _entries(mutation.tx, principal_id)[:STEP_ENTRIES]
    for _, scope_id, memory_id in found:
        stored = memories.find(mutation.tx, [scope_id], memory_id)
        if stored is not None:
            deletion.bury(mutation, stored, "erasure")
    return len(found)


def _count_selections(tx: Transaction, principal_id: str) -> int:
    ids = repositories.ids(tx)
    return sum(erasures.count_selections(tx, each, principal_id) for each in ids)


def _delete_selections(mutation: Mutation, principal_id: str) -> int:
    for repository_id in repositories.ids(mutation.tx):
        gone = erasures.delete_selections(mutation.tx, repository_id, principal_id, STEP_SELECTIONS)
        if gone:
            mutation.record("erasure.selections", repository_id, repository_id=repository_id)
            return gone
    return 0


PARTS = (
    Part("memories", lambda tx, who: len(_entries(tx, who)), _delete_entries),
    Part("selections", _count_selections, _delete_selections),
)
"""What goes, in this order. Sessions, turns and traces become rows of it when there are any."""


def _mutate(store: Store, access: Access, work: Callable[[Mutation], Receipt]) -> Erasure:
    return mutate(store, access, Operation(None, ()), work, _render, needs_room=False)


def _mutate_count(store: Store, access: Access, work: Callable[[Mutation], Receipt]) -> int:
    return mutate(
        store, access, Operation(None, ()), work, lambda _, __, r: r.revision, needs_room=False
    )


def _render(tx: Transaction, _: Access, receipt: Receipt) -> Erasure:
    found = erasures.find(tx, receipt.target_id)
    if found is None:
        raise NotFoundError("erasure", receipt.target_id)
    return found
