"""One mutation, one transaction: receipt, rules, rows, audit, receipt, commit (01 §5)."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import (
    ContentionError,
    OperationReusedError,
    StorageFullError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkpoints
from codeflow_memory.services.store import Store
from codeflow_memory.storage import audit, receipts, tenants
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

T = TypeVar("T")

TRIES = 3
"""How often a mutation is begun whose transaction the engine ended by itself."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What names a request, so that a repetition is known.

    Args:
        operation_id: The caller's; ``None`` lets the server make one.
        parts: Method, path, ``If-Match`` and body: what must be equal in a repetition.
        batch_id: The batch that it is a part of; ``None`` makes it one of its own.
    """

    operation_id: str | None
    parts: tuple[str | bytes, ...]
    batch_id: str | None = None


@dataclass(slots=True)
class Mutation:
    """The state of one running mutation.

    ``access`` is the caller as it stands inside the transaction; ``at`` never steps back behind an
    earlier mutation of the tenant. Unless ``guarded``, the caller asks the store's guard itself.
    ``due`` is set by the row of the audit after which a checkpoint follows.
    """

    store: Store
    tx: Transaction
    access: Access
    operation_id: str
    batch_id: str
    at: int
    guarded: bool = True
    due: bool = False

    def record(self, action: str, item: str, **facts: object) -> None:
        """Append an audit row; *facts* are fields of `audit.Entry`.

        A row with a scope says that a record changes: then an import becomes final.
        """
        self.record_all([{"action": action, "item": item, **facts}])

    def record_all(self, facts: Iterable[Mapping[str, object]]) -> None:
        """Append an audit row for each of *facts*, in their order; see `record`."""
        entries = [
            audit.Entry(
                at=self.at,
                principal_id=self.access.principal_id,
                origin=str(self.access.origin),
                batch_id=self.batch_id,
                **each,  # type: ignore[arg-type] # the names are Entry's own
            )
            for each in facts
        ]
        if self.guarded and any(entry.scope_id is not None for entry in entries):
            self.store.guard.within(self.tx)
        last = audit.append_all(self.tx, entries, self.store.keys.audit_hash)
        # Whether a multiple of it lies among the new rows.
        self.due = self.due or last % checkpoints.EVERY_ROWS < len(entries)


Work = Callable[[Mutation], Receipt]
Render = Callable[[Transaction, Access, Receipt], T]


def mutate(
    store: Store,
    access: Access,
    operation: Operation,
    work: Work,
    render: Render[T],
    *,
    needs_room: bool = True,
) -> T:
    """Run *work* as one mutation and return what *render* makes of its receipt.

    A repetition of an operation changes nothing and renders the stored receipt, so both answers are
    equal. An error from storage is no proof of a rollback: the receipt is read before it is
    answered. What the engine undid, or lost with its connection, is tried again as the same
    operation: behind the lock, where the receipt stands if it was committed after all.

    Args:
        store: The tenant.
        access: The caller; resolved again inside the transaction.
        operation: What names the request.
        work: Changes rows and returns what was done; runs with the write lock held.
        render: Reads the answer in the same transaction.
        needs_room: ``False`` for deletions and revocations, which may use the ballast of a full
            disk.

    Raises:
        BusyError: Another writer was at work for too long, or the engine is away.
        UnauthenticatedError: The token was revoked or expired meanwhile.
        OperationReusedError: The operation id belongs to another request.
        ImportConflictError: An older document and the database disagree.
    """
    store.guard.before()
    if needs_room:
        _leave_the_ballast(store)
    operation_id = store.keys.operation_id(operation.operation_id or store.ids.new("op"))
    named = _Named(operation_id, operation.batch_id or store.ids.new("bat"))
    request_hash = store.keys.request_hash(*operation.parts)
    resolved: list[Access] = []

    def resolve(tx: Transaction) -> Access:
        resolved.append(accesses.refresh(store, tx, access))
        return resolved[-1]

    def once() -> T:
        return _attempt(store, resolve, named, request_hash, work, render)

    def attempt() -> T:
        return _persistent(once, lambda: len(resolved))

    try:
        return attempt()
    except (StorageFullError, StoreUnusableError) as error:
        settled = _settled(store, resolved, operation_id, request_hash, render)
        if settled is not None:
            return settled[0]
        full = isinstance(error, StorageFullError)
        if needs_room or not full or not store.home.release_ballast():
            raise
    return attempt()


def rehearse(store: Store, access: Access, work: Work, render: Render[T]) -> T:
    """Answer as `mutate` would, and keep nothing: no row, no receipt, no end of an import.

    Raises:
        CodeflowError: Whatever *work* refuses.
    """
    answers: list[T] = []

    def tried(mutation: Mutation) -> Receipt:
        mutation.guarded = False
        receipt = work(mutation)
        answers.append(render(mutation.tx, mutation.access, receipt))
        raise _Rehearsed

    with suppress(_Rehearsed):
        mutate(store, access, Operation(None, ()), tried, render)
    return answers[-1]


class _Rehearsed(Exception):  # noqa: N818 - no error: it leaves the transaction
    """Leaves a transaction of which nothing is kept."""


def _persistent(once: Callable[[], T], begun: Callable[[], int]) -> T:
    """Do *once* again after its transaction ended by itself, unless it did not even begin."""
    for _ in range(TRIES - 1):
        before = begun()
        try:
            return once()
        except (ContentionError, UnreachableError):
            if begun() == before:
                raise
    return once()


def _leave_the_ballast(store: Store) -> None:
    """Refuse what needs room while the ballast is spent, and nothing sets it aside again.

    Else ordinary writes would take the room that was given back for deletions and revocations.

    Raises:
        StorageFullError: The disk has no room for it yet.
    """
    if store.home.is_ballast_spent():
        store.home.fill_ballast()
        if store.home.is_ballast_spent():
            raise StorageFullError


@dataclass(frozen=True, slots=True)
class _Named:
    """The ids of a mutation: of its receipt, and of the batch that its rows belong to."""

    operation_id: str
    batch_id: str


def _attempt(
    store: Store,
    resolve: Callable[[Transaction], Access],
    named: _Named,
    request_hash: str,
    work: Work,
    render: Render[T],
) -> T:
    with store.engine.write() as tx:
        caller = resolve(tx)
        known = _known(tx, caller, named.operation_id, request_hash)
        if known is not None:
            return render(tx, caller, known)
        at = tenants.moment(tx, store.now())
        mutation = Mutation(store, tx, caller, named.operation_id, named.batch_id, at)
        receipt = work(mutation)
        receipts.insert(
            tx,
            caller.principal_id,
            named.operation_id,
            receipt,
            request_hash=request_hash,
            at=mutation.at,
        )
        answer = render(tx, caller, receipt)
    if mutation.due:
        checkpoints.write_or_log(store)
    return answer


def _known(tx: Transaction, access: Access, operation_id: str, request_hash: str) -> Receipt | None:
    found = receipts.find(tx, access.principal_id, operation_id)
    if found is None:
        return None
    if found[0] != request_hash:
        raise OperationReusedError
    return replace(found[1], again=True)


def _settled(
    store: Store, callers: list[Access], operation_id: str, request_hash: str, render: Render[T]
) -> tuple[T] | None:
    """Read, on a fresh connection, whether a failed mutation was committed after all.

    An attempt that never came to its caller wrote nothing; nobody may have an older receipt.
    """
    for caller in callers:
        store.engine.close()
        with suppress(StorageFullError, StoreUnusableError), store.engine.read() as tx:
            receipt = _known(tx, caller, operation_id, request_hash)
            if receipt is not None:
                return (render(tx, caller, receipt),)
    return None
