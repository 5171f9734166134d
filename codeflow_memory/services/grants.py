"""Grants: the roles of principals, for the tenant or for one repository."""

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import ForbiddenError, NotFoundError
from codeflow_memory.domain.grant import StoredGrant
from codeflow_memory.services.administration import (
    get_principal,
    get_repository_id,
    require_owner,
)
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.store import Store
from codeflow_memory.storage import grants, principals
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt


def create(
    store: Store,
    access: Access,
    operation: Operation,
    *,
    principal: str,
    role: Role,
    repo: str | None,
) -> StoredGrant:
    """Give a principal a role; a grant that is there already is returned as it is.

    Tokens that were made before keep the roles they were made with.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such principal or repository.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "give roles")
        holder = get_principal(mutation.tx, principal)
        where = None if repo is None else get_repository_id(mutation.tx, mutation.access, repo)
        made = give(mutation, holder.principal_id, role, where)
        return Receipt("grant.create", made.grant_id, 1, _facts(made))

    return mutate(store, access, operation, work, _render)


def page(
    store: Store, access: Access, *, principal: str | None, after: str | None, limit: int
) -> Page[StoredGrant]:
    """List grants, oldest first, of one principal or of all.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such principal.
    """
    require_owner(access, "list roles")
    with store.engine.read() as tx:
        holder = None if principal is None else get_principal(tx, principal).principal_id
        rows = grants.list_all(tx, principal_id=holder, after=after, limit=limit + 1)
    return cut(rows, limit, lambda g: g.grant_id)


def remove(store: Store, access: Access, grant_id: str, operation: Operation) -> str:
    """Take a grant back; every token of its principal is narrowed at once. Return its id.

    Raises:
        ForbiddenError: The caller does not own the tenant, or nobody would own it afterwards.
        NotFoundError: There is no such grant.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "take roles back")
        found = grants.find(mutation.tx, grant_id)
        if found is None:
            raise NotFoundError("grant", grant_id)
        grants.delete(mutation.tx, grant_id)
        if principals.first_owner(mutation.tx) is None:
            raise ForbiddenError("the last owner of a tenant keeps the role")
        mutation.record(
            "grant.delete",
            grant_id,
            repository_id=found.repository_id,
            reason=f"{found.principal_id} {found.role}",
        )
        return Receipt("grant.delete", grant_id, 1, {})

    return mutate(store, access, operation, work, lambda _, __, r: r.target_id, needs_room=False)


def give(
    mutation: Mutation, principal_id: str, role: Role, repository_id: str | None
) -> StoredGrant:
    """Give a role within a mutation; the caller's right to it was checked."""
    found = grants.find_same(mutation.tx, principal_id, role, repository_id)
    if found is not None:
        return found
    made = StoredGrant(
        grant_id=mutation.store.ids.new("grt"),
        principal_id=principal_id,
        role=role,
        repository_id=repository_id,
        granted_by=mutation.access.principal_id,
        granted_at=mutation.at,
    )
    grants.insert(mutation.tx, made)
    mutation.record(
        "grant.create",
        made.grant_id,
        repository_id=repository_id,
        reason=f"{principal_id} {role}",
    )
    return made


def _facts(grant: StoredGrant) -> dict[str, object]:
    return {
        "principal_id": grant.principal_id,
        "role": str(grant.role),
        "repository_id": grant.repository_id,
        "granted_by": grant.granted_by,
        "granted_at": grant.granted_at,
    }


def _render(_: Transaction, __: Access, receipt: Receipt) -> StoredGrant:
    facts = receipt.facts
    where = facts["repository_id"]
    return StoredGrant(
        grant_id=receipt.target_id,
        principal_id=str(facts["principal_id"]),
        role=Role(str(facts["role"])),
        repository_id=None if where is None else str(where),
        granted_by=str(facts["granted_by"]),
        granted_at=int(str(facts["granted_at"])),
    )
