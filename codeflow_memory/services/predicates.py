"""Predicates: which of them have one value at a time, for a whole tenant (02 §3, 08 §4)."""

from collections.abc import Sequence

from codeflow_memory.domain import keys
from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import Fault, ForbiddenError, InvalidRequestError
from codeflow_memory.services import access as accesses
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import keys as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

MOST = 500
"""Functional predicates of a tenant."""

NAME_LENGTH = 200


def find(store: Store, access: Access) -> tuple[str, ...]:
    """List the functional predicates, by name.

    Raises:
        ForbiddenError: The caller reads no memory anywhere, such as an operator.
    """
    with store.engine.read() as tx:
        access = accesses.refresh(store, tx, access)
        where = {g.repository_id for g in access.grants}
        if access.run is not None:
            where = {access.run.repository_id}
        if not any(access.may(Role.READER, repository_id) for repository_id in where):
            raise ForbiddenError("to read the predicates, the role reader is required")
        return tuple(rows.functional(tx))


def replace(
    store: Store, access: Access, names: Sequence[str], operation: Operation
) -> tuple[str, ...]:
    """Make exactly *names* the functional predicates; return them, folded, by name.

    What was accepted stays as it is: two values of a key that only now is functional are told apart
    by the next write of that key.

    Raises:
        ForbiddenError: The caller maintains not the whole tenant.
        InvalidRequestError: A name is empty, too long or a part of a key, or there are too many.
    """
    folded = _folded(names)

    def work(mutation: Mutation) -> Receipt:
        accesses.require(mutation.access, Role.MAINTAINER, None, "change predicates")
        if not mutation.access.decides:
            raise ForbiddenError("to change predicates, a person is required")
        rows.set_functional(mutation.tx, folded)
        mutation.record("predicates", mutation.store.tenant)
        return Receipt("predicates", mutation.store.tenant, 0, {"functional": folded})

    return mutate(store, access, operation, work, _render)


def _render(_tx: Transaction, _access: Access, receipt: Receipt) -> tuple[str, ...]:
    names = receipt.facts["functional"]
    assert isinstance(names, list), "written by replace"  # noqa: S101 - an invariant
    return tuple(names)


def _folded(names: Sequence[str]) -> list[str]:
    if len(names) > MOST:
        raise InvalidRequestError.at("/functional", f"at most {MOST} names")
    folded = [keys.fold(name) for name in names]
    faults = [
        Fault(f"/functional/{at}", f"a name of 1 to {NAME_LENGTH} characters without | and .")
        for at, name in enumerate(folded)
        if not 0 < len(name) <= NAME_LENGTH or keys.predicate(name) != name or "\0" in name
    ]
    if faults:
        raise InvalidRequestError(faults)
    return sorted(set(folded))
