"""Principals: the people and agents of a tenant."""

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.labels import label
from codeflow_memory.domain.principal import Principal
from codeflow_memory.services.administration import get_principal, require_owner
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.store import Store
from codeflow_memory.storage import grants, passwords, principals, teams, tokens
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

USER = "user"
AGENT = "agent"


def create(
    store: Store, access: Access, operation: Operation, *, name: str, kind: str
) -> Principal:
    """Make a principal without any role; the caller sponsors an agent.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        InvalidRequestError: The name is taken, by a removed principal too, or has not the form.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "make principals")
        made = add(mutation, name=name, kind=kind)
        return Receipt("principal.create", made.principal_id, 1, {})

    return mutate(store, access, operation, work, _render)


def page(store: Store, access: Access, *, after: str | None, limit: int) -> Page[Principal]:
    """List the principals that may act, oldest first.

    Raises:
        ForbiddenError: The caller does not own the tenant.
    """
    require_owner(access, "list principals")
    with store.engine.read() as tx:
        rows = principals.list_all(tx, after=after, limit=limit + 1)
    return cut(rows, limit, lambda p: p.principal_id)


def remove(store: Store, access: Access, principal: str, operation: Operation) -> Principal:
    """Remove a principal: it loses its roles, teams, tokens and password at once.

    Its name stays taken.

    Raises:
        ForbiddenError: The caller does not own the tenant, or this is its last owner.
        NotFoundError: There is no such principal.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "remove principals")
        tx, found = mutation.tx, get_principal(mutation.tx, principal)
        if [o.principal_id for o in principals.owners(tx, limit=2)] == [found.principal_id]:
            raise ForbiddenError("the last owner of a tenant cannot be removed")
        principals.remove(tx, found.principal_id, mutation.at)
        tokens.revoke_of_principal(tx, found.principal_id, mutation.at)
        passwords.delete(tx, found.principal_id)
        grants.delete_of_principal(tx, found.principal_id)
        teams.leave_all(tx, found.principal_id)
        mutation.record("principal.remove", found.principal_id)
        return Receipt("principal.remove", found.principal_id, 1, {})

    return mutate(store, access, operation, work, _render, needs_room=False)


def add(mutation: Mutation, *, name: str, kind: str | None, pointer: str = "/name") -> Principal:
    """Make a principal within a mutation; the caller's right to it was checked.

    Raises:
        InvalidRequestError: See `create`; also when *kind* is not told.
    """
    name = label(pointer, name)
    if kind not in {USER, AGENT}:
        raise InvalidRequestError.at("/kind", f"must be {USER} or {AGENT}")
    if principals.find_by_name(mutation.tx, name) is not None:
        raise InvalidRequestError.at(pointer, "is taken")
    made = Principal(
        principal_id=mutation.store.ids.new("prn"),
        name=name,
        kind=kind,
        sponsor_id=mutation.access.principal_id if kind == AGENT else None,
        created_at=mutation.at,
        removed_at=None,
    )
    principals.insert(mutation.tx, made)
    mutation.record("principal.create", made.principal_id)
    return made


def _render(tx: Transaction, _: Access, receipt: Receipt) -> Principal:
    found = principals.find(tx, receipt.target_id)
    if found is None:
        raise NotFoundError("principal", receipt.target_id)
    return found
