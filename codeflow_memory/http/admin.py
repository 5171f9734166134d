"""``/api/admin``: principals, teams, grants and tokens, for the tenant's owner."""

from typing import Annotated, Any

from litestar import Controller, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.http import admin_bodies as wire
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import CHANGES, READS
from codeflow_memory.http.turning import Cursor, Limit, turn
from codeflow_memory.services import grants, principals, teams, tokens

OfPrincipal = Annotated[str | None, QueryParameter(description="Id or name of a principal")]


class PrincipalController(Controller):
    """The people and agents of the tenant."""

    path = "/api/admin/principals"
    tags = ("admin",)

    @post(responses=refusals(*CHANGES))
    async def create(
        self, data: JSONBody[wire.NewPrincipalBody], change: NamedDependency[Change]
    ) -> Response[wire.PrincipalBody]:
        """Make a principal without any role; the caller sponsors an agent."""
        made = await change.run(principals.create, change.operation, name=data.name, kind=data.kind)
        return _answer(wire.principal(made), 201)

    @get(responses=refusals(*READS))
    async def find(
        self, call: NamedDependency[Call], cursor: Cursor = None, limit: Limit = None
    ) -> Response[wire.PrincipalsBody]:
        """List the principals that may act, oldest first."""
        items, after = await turn(call, "admin/principals", {}, principals.page, cursor, limit)
        return _page([wire.principal(row) for row in items], after)

    @delete("/{principal_id:str}", status_code=200, responses=refusals(*CHANGES))
    async def remove(
        self, principal_id: FromPath[str], change: NamedDependency[Change]
    ) -> Response[wire.PrincipalBody]:
        """Remove a principal: its roles, teams and tokens are gone at once."""
        gone = await change.run(principals.remove, principal_id, change.operation)
        return _answer(wire.principal(gone))


class TeamController(Controller):
    """The teams of the tenant and their members."""

    path = "/api/admin/teams"
    tags = ("admin",)

    @post(responses=refusals(*CHANGES))
    async def create(
        self, data: JSONBody[wire.NewTeamBody], change: NamedDependency[Change]
    ) -> Response[wire.TeamBody]:
        """Make a team without members."""
        made = await change.run(teams.create, change.operation, team_slug=data.slug, name=data.name)
        return _answer(wire.team(made), 201)

    @get(responses=refusals(*READS))
    async def find(
        self, call: NamedDependency[Call], cursor: Cursor = None, limit: Limit = None
    ) -> Response[wire.TeamsBody]:
        """List teams, oldest first."""
        items, after = await turn(call, "admin/teams", {}, teams.page, cursor, limit)
        return _page([wire.team(row) for row in items], after)

    @delete("/{team_id:str}", status_code=200, responses=refusals(*CHANGES))
    async def remove(
        self, team_id: FromPath[str], change: NamedDependency[Change]
    ) -> Response[wire.RemovedBody]:
        """Remove a team that no entry and no run names."""
        return _answer({"id": await change.run(teams.remove, team_id, change.operation)})

    @post("/{team_id:str}/members", responses=refusals(*CHANGES))
    async def add_member(
        self,
        team_id: FromPath[str],
        data: JSONBody[wire.MemberBody],
        change: NamedDependency[Change],
    ) -> Response[wire.MembershipBody]:
        """Put a principal into a team."""
        made = await change.run(teams.add_member, team_id, data.principal, change.operation)
        return _membership(made, 201)

    @get("/{team_id:str}/members", responses=refusals(*READS))
    async def members(
        self,
        team_id: FromPath[str],
        call: NamedDependency[Call],
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[wire.PrincipalsBody]:
        """List the members of a team, oldest first."""
        route = f"admin/teams/{team_id}/members"
        items, after = await turn(call, route, {}, teams.members, cursor, limit, team_id)
        return _page([wire.principal(row) for row in items], after)

    @delete("/{team_id:str}/members/{principal:str}", status_code=200, responses=refusals(*CHANGES))
    async def remove_member(
        self, team_id: FromPath[str], principal: FromPath[str], change: NamedDependency[Change]
    ) -> Response[wire.MembershipBody]:
        """Take a principal out of a team."""
        gone = await change.run(teams.remove_member, team_id, principal, change.operation)
        return _membership(gone)


class GrantController(Controller):
    """Roles that were given."""

    path = "/api/admin/grants"
    tags = ("admin",)

    @post(responses=refusals(*CHANGES))
    async def create(
        self, data: JSONBody[wire.NewGrantBody], change: NamedDependency[Change]
    ) -> Response[wire.GrantBody]:
        """Give a role; one that is there already is returned. Older tokens are not widened."""
        made = await change.run(
            grants.create,
            change.operation,
            principal=data.principal,
            role=data.role,
            repo=data.repository,
        )
        return _answer(wire.grant(made), 201)

    @get(responses=refusals(*READS))
    async def find(
        self,
        call: NamedDependency[Call],
        principal: OfPrincipal = None,
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[wire.GrantsBody]:
        """List grants, oldest first, of one principal or of all."""
        narrowed = {"principal": principal}
        items, after = await turn(call, "admin/grants", narrowed, grants.page, cursor, limit)
        return _page([wire.grant(row) for row in items], after)

    @delete("/{grant_id:str}", status_code=200, responses=refusals(*CHANGES))
    async def remove(
        self, grant_id: FromPath[str], change: NamedDependency[Change]
    ) -> Response[wire.RemovedBody]:
        """Take a role back; every token of its principal is narrowed at once."""
        return _answer({"id": await change.run(grants.remove, grant_id, change.operation)})


class TokenController(Controller):
    """Bearer tokens."""

    path = "/api/admin/tokens"
    tags = ("admin",)

    @post(responses=refusals(*CHANGES))
    async def create(
        self, data: JSONBody[wire.NewTokenBody], change: NamedDependency[Change]
    ) -> Response[wire.TokenBody]:
        """Make a token, its principal and that one's grant where they are missing.

        The bearer text is told once; a repetition of the request answers without it.
        """
        if data.tenant not in {None, change.access.tenant}:
            raise NotFoundError("tenant", str(data.tenant))
        made = await change.run(tokens.create, data.to_token(), change.operation)
        return _answer(wire.token(made), 201)

    @get(responses=refusals(*READS))
    async def find(
        self,
        call: NamedDependency[Call],
        principal: OfPrincipal = None,
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[wire.TokensBody]:
        """List tokens without their secrets, by id, of one principal or of all."""
        narrowed = {"principal": principal}
        items, after = await turn(call, "admin/tokens", narrowed, tokens.page, cursor, limit)
        return _page([wire.token(row) for row in items], after)

    @delete("/{token_id:str}", status_code=200, responses=refusals(*CHANGES))
    async def revoke(
        self, token_id: FromPath[str], change: NamedDependency[Change]
    ) -> Response[wire.TokenBody]:
        """Revoke a token: it names nobody from now on."""
        return _answer(wire.token(await change.run(tokens.revoke, token_id, change.operation)))


def _answer(body: object, status_code: int = 200) -> Response[Any]:
    return Response(body, status_code=status_code)


def _page(items: list[dict[str, object]], after: str | None) -> Response[Any]:
    return Response({"items": items, "next_cursor": after})


def _membership(made: teams.Membership, status_code: int = 200) -> Response[Any]:
    return _answer({"team_id": made.team_id, "principal_id": made.principal_id}, status_code)


ROUTES = (PrincipalController, TeamController, GrantController, TokenController)
