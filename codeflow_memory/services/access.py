"""Access: who a token names, what the caller reaches, and what it may do there."""

from collections.abc import Iterable
from dataclasses import replace

from codeflow_memory.adapters.secrets import same
from codeflow_memory.domain.access import (
    RANK,
    Access,
    Grant,
    Origin,
    Reach,
    Role,
    RunBinding,
    Scope,
)
from codeflow_memory.domain.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from codeflow_memory.domain.memory import Collection
from codeflow_memory.domain.project import Project
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals, projects, runs, scopes, teams, tokens
from codeflow_memory.storage.engine import Transaction

_NOBODY = "0" * 64


def authenticate(store: Store, token_id: str, secret: str) -> Access:
    """Return the caller that a token names.

    An unknown, expired and revoked token, and one with a wrong secret, take the same steps.

    Raises:
        UnauthenticatedError: The token does not name a caller.
    """
    expected = store.keys.token_hash(secret)
    with store.engine.read() as tx:
        found = tokens.nearest(tx, token_id)
        known = same(expected, found.secret_hash if found else _NOBODY)
        meant = same(token_id, found.token_id if found else _NOBODY)
        access = _access(store, tx, found) if found is not None and known and meant else None
    # Not raised inside: an error there costs a connection, which whoever guesses should not.
    if found is None or access is None:
        raise UnauthenticatedError
    store.uses.note(token_id, found.last_used_at, store.now())
    return access


def refresh(store: Store, tx: Transaction, access: Access) -> Access:
    """Return *access* as it stands in this transaction.

    Raises:
        UnauthenticatedError: Its token was revoked, expired or lost its principal meanwhile.
    """
    if access.token_id is None:
        return access
    found = tokens.find(tx, access.token_id)
    if found is None:
        raise UnauthenticatedError
    return replace(_access(store, tx, found), origin=access.origin)


def of_principal(store: Store, tx: Transaction, principal_id: str, origin: Origin) -> Access:
    """Return the access of a principal with all its grants: for the owner of the home's files.

    Raises:
        UnauthenticatedError: There is no such principal, or it was removed.
    """
    principal = principals.find(tx, principal_id)
    if principal is None or principal.removed_at is not None:
        raise UnauthenticatedError
    return Access(
        tenant=store.tenant,
        principal_id=principal_id,
        person=principal.kind == "user",
        grants=frozenset(principals.grants(tx, principal_id)),
        teams=frozenset(teams.of_principal(tx, principal_id)),
        origin=origin,
        sponsored=frozenset(principals.sponsored(tx, principal_id)),
    )


def _access(store: Store, tx: Transaction, token: tokens.Token) -> Access:
    latest = max(store.now(), tokens.latest_at(tx))
    if token.revoked_at is not None or (token.expires_at or latest + 1) <= latest:
        raise UnauthenticatedError
    whole = of_principal(
        store, tx, token.principal_id, Origin.BACKGROUND if token.background else Origin.USER
    )
    access = replace(
        whole,
        grants=narrowed(tokens.grants(tx, token.token_id), whole.grants),
        token_id=token.token_id,
    )
    if token.run_id is None or token.run_repository_id is None:
        agent = not access.person and not token.background
        return replace(access, origin=Origin.AGENT) if agent else access
    run = runs.find(tx, token.run_repository_id, token.run_id)
    if run is None or run.ended_at is not None:
        raise UnauthenticatedError
    binding = RunBinding(
        run.run_id, run.repository_id, run.project_id, run.branch, run.agent, run.team_id
    )
    origin = Origin.BACKGROUND if token.background else Origin.AGENT
    return replace(access, run=binding, origin=origin)


def narrowed(made_with: Iterable[Grant], held: Iterable[Grant]) -> frozenset[Grant]:
    """Return what a token's own roles and its principal's present grants both allow.

    Later grants do not widen a token, and a grant taken away narrows it at once.
    """
    held = tuple(held)
    out: set[Grant] = set()
    for own in made_with:
        for grant in held:
            if None not in {own.repository_id, grant.repository_id} and (
                own.repository_id != grant.repository_id
            ):
                continue
            if Role.OPERATOR in {own.role, grant.role} and own.role is not grant.role:
                continue
            role = min(own.role, grant.role, key=lambda r: RANK[r])
            out.add(Grant(role, own.repository_id or grant.repository_id))
    return frozenset(out)


def require(access: Access, role: Role, repository_id: str | None, to: str) -> None:
    """Refuse a caller that may not do what *to* says.

    Raises:
        ForbiddenError: The caller's role is below *role*.
    """
    if not access.may(role, repository_id):
        raise ForbiddenError(f"to {to}, the role {role} is required")


def reach(tx: Transaction, access: Access, project: Project) -> Reach:
    """Return what *access* sees of one project."""
    found = (
        scopes.of_project(tx, project.repository_id, project.project_id, _audiences(access))
        if access.may(Role.READER, project.repository_id)
        and (access.run is None or access.run.project_id == project.project_id)
        else []
    )
    return _reach(access, found)


def reach_everywhere(tx: Transaction, access: Access) -> Reach:
    """Return what *access* sees of the tenant: for ids that name no project."""
    found = [
        s
        for s in scopes.of_audiences(tx, _audiences(access))
        if access.may(Role.READER, s.repository_id)
        and (access.run is None or access.run.project_id == s.project_id)
    ]
    return _reach(access, found)


def _audiences(access: Access) -> list[str]:
    return [
        "project",
        f"private:{access.principal_id}",
        *(f"team:{team}" for team in access.teams),
        *(f"private:{agent}" for agent in access.sponsored),
    ]


def _reach(access: Access, found: Iterable[Scope]) -> Reach:
    by_id = {s.scope_id: s for s in found}
    held = {
        s.scope_id
        for s in by_id.values()
        if s.audience.removeprefix("private:") in access.sponsored
    }
    return Reach(access, by_id, frozenset(held))


def get_project(tx: Transaction, access: Access, project_id: str, repo: str | None) -> Project:
    """Return the project that an id, or a slug with or without *repo*, names for the caller.

    Raises:
        NotFoundError: There is none that the caller sees.
        ForbiddenError: The caller's run is bound to another project.
    """
    found = [
        p for p in projects.named(tx, project_id, repo) if access.may(Role.READER, p.repository_id)
    ]
    if len(found) != 1:
        raise NotFoundError("project", project_id)
    if access.run is not None and access.run.project_id != found[0].project_id:
        raise ForbiddenError("the run's token is bound to another project")
    return found[0]


def own_scope(
    tx: Transaction, access: Access, project: Project, collection: Collection, team_id: str | None
) -> Scope:
    """Return the scope that the caller writes to, made when it is the first of its audience."""
    match collection:
        case Collection.PROJECT:
            audience = "project"
        case Collection.TEAM:
            audience = f"team:{team_id}"
        case Collection.PRIVATE:
            audience = f"private:{access.principal_id}"
    return scopes.ensure(tx, project.repository_id, project.project_id, audience)
