"""Teams: who shares team memories."""

from dataclasses import dataclass

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.labels import label, slug
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.team import Team
from codeflow_memory.services.administration import get_principal, get_team, require_owner
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals, teams
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt


@dataclass(frozen=True, slots=True)
class Membership:
    """That a principal belongs, or no longer belongs, to a team; both are ids."""

    team_id: str
    principal_id: str


def create(
    store: Store, access: Access, operation: Operation, *, team_slug: str, name: str | None
) -> Team:
    """Make a team without members; its name is its slug where none is given.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        InvalidRequestError: The slug is taken, or slug or name have not the form.
    """
    team_slug = slug("/slug", team_slug)
    name = team_slug if name is None else label("/name", name)

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "make teams")
        if teams.find_by_slug(mutation.tx, team_slug) is not None:
            raise InvalidRequestError.at("/slug", "is taken")
        made = Team(mutation.store.ids.new("team"), team_slug, name, mutation.at)
        teams.insert(mutation.tx, made)
        mutation.record("team.create", made.team_id)
        return Receipt("team.create", made.team_id, 1, {})

    return mutate(store, access, operation, work, _render)


def page(store: Store, access: Access, *, after: str | None, limit: int) -> Page[Team]:
    """List teams, oldest first.

    Raises:
        ForbiddenError: The caller does not own the tenant.
    """
    require_owner(access, "list teams")
    with store.engine.read() as tx:
        rows = teams.list_all(tx, after=after, limit=limit + 1)
    return cut(rows, limit, lambda t: t.team_id)


def remove(store: Store, access: Access, team: str, operation: Operation) -> str:
    """Remove a team that no entry and no run ever named; return its id.

    Raises:
        ForbiddenError: The caller does not own the tenant, or the team is in use.
        NotFoundError: There is no such team.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "remove teams")
        found = get_team(mutation.tx, team)
        if teams.in_use(mutation.tx, found.team_id):
            raise ForbiddenError("a team that has entries or runs stays; take its members out")
        teams.delete(mutation.tx, found.team_id)
        mutation.record("team.delete", found.team_id)
        return Receipt("team.delete", found.team_id, 1, {})

    return mutate(store, access, operation, work, lambda _, __, r: r.target_id, needs_room=False)


def add_member(
    store: Store, access: Access, team: str, principal: str, operation: Operation
) -> Membership:
    """Put a principal into a team; one that is in it already stays.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such team or principal.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "change teams")
        tx = mutation.tx
        found, member = get_team(tx, team), get_principal(tx, principal)
        if teams.add_member(tx, found.team_id, member.principal_id, mutation.at):
            mutation.record("team.add_member", found.team_id, reason=member.principal_id)
        return _receipt("team.add_member", found.team_id, member.principal_id)

    return mutate(store, access, operation, work, _membership)


def remove_member(
    store: Store, access: Access, team: str, principal: str, operation: Operation
) -> Membership:
    """Take a principal out of a team: it sees nothing of the team's from now on.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such team, or the principal is not in it.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "change teams")
        tx = mutation.tx
        found, member = get_team(tx, team), get_principal(tx, principal)
        if not teams.remove_member(tx, found.team_id, member.principal_id):
            raise NotFoundError("member", principal)
        mutation.record("team.remove_member", found.team_id, reason=member.principal_id)
        return _receipt("team.remove_member", found.team_id, member.principal_id)

    return mutate(store, access, operation, work, _membership, needs_room=False)


def members(
    store: Store, access: Access, team: str, *, after: str | None, limit: int
) -> Page[Principal]:
    """List the members of a team, oldest first.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such team.
    """
    require_owner(access, "list teams")
    with store.engine.read() as tx:
        found = get_team(tx, team)
        ids = teams.members(tx, found.team_id, after=after, limit=limit + 1)
        rows = [p for i in ids if (p := principals.find(tx, i)) is not None]
    return cut(rows, limit, lambda p: p.principal_id)


def _render(tx: Transaction, _: Access, receipt: Receipt) -> Team:
    return get_team(tx, receipt.target_id)


def _receipt(action: str, team_id: str, principal_id: str) -> Receipt:
    return Receipt(action, team_id, 1, {"principal_id": principal_id})


def _membership(_: Transaction, __: Access, receipt: Receipt) -> Membership:
    return Membership(receipt.target_id, str(receipt.facts["principal_id"]))
