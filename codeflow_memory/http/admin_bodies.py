"""The wire format of administration: principals, teams, grants and tokens."""

from typing import Literal

from pydantic import BaseModel, Field

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.grant import StoredGrant
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.team import Team
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.services.tokens import Issued, NewToken, parse_ttl

Kind = Literal["user", "agent"]

_PRINCIPAL = "prn_01KABCDEFGHJKMNPQRSTVWXYZ0"


class NewPrincipalBody(Input):
    """A person or an agent to make."""

    name: str = Field(examples=["ann"])
    kind: Kind


class NewTeamBody(Input):
    """A team to make; its name is its slug where none is given."""

    slug: str = Field(examples=["payments"])
    name: str | None = Field(None, examples=["Payments"])


class MemberBody(Input):
    """Whom to put into a team: an id or a name."""

    principal: str = Field(min_length=1, max_length=200, examples=["ann"])


class NewGrantBody(Input):
    """A role to give, for one repository or, without it, for the whole tenant."""

    principal: str = Field(min_length=1, max_length=200, examples=["ann"])
    role: Role
    repository: str | None = Field(None, max_length=4096, examples=["shop"])


class NewTokenBody(Input):
    """A token to make; a principal that does not exist is made, then ``kind`` is required."""

    principal: str = Field(min_length=1, max_length=200, examples=["ann"])
    role: Role
    kind: Kind | None = None
    repository: str | None = Field(None, max_length=4096, examples=["shop"])
    ttl: int | str | None = Field(None, examples=["12h"])
    background: bool = False
    tenant: str | None = Field(None, max_length=63, description="The caller's own, if at all")

    def to_token(self) -> NewToken:
        """Leave the wire format.

        Raises:
            InvalidRequestError: The time to live has not the form.
        """
        return NewToken(
            principal=self.principal,
            kind=self.kind,
            role=self.role,
            repo=self.repository,
            ttl_seconds=None if self.ttl is None else parse_ttl("/ttl", str(self.ttl)),
            background=self.background,
        )


class PrincipalBody(BaseModel):
    """A person or an agent; ``sponsor_id`` made the agent."""

    id: str = Field(examples=[_PRINCIPAL])
    name: str
    kind: Kind
    sponsor_id: str | None
    created_at: str
    removed_at: str | None


class PrincipalsBody(BaseModel):
    """A page of principals."""

    items: list[PrincipalBody]
    next_cursor: str | None


class TeamBody(BaseModel):
    """A team."""

    id: str = Field(examples=["team_01KABCDEFGHJKMNPQRSTVWXYZ0"])
    slug: str
    name: str
    created_at: str


class TeamsBody(BaseModel):
    """A page of teams."""

    items: list[TeamBody]
    next_cursor: str | None


class MembershipBody(BaseModel):
    """That a principal was put into, or taken out of, a team."""

    team_id: str
    principal_id: str


class GrantBody(BaseModel):
    """A role; ``repository_id`` is null for the whole tenant."""

    id: str = Field(examples=["grt_01KABCDEFGHJKMNPQRSTVWXYZ0"])
    principal_id: str
    role: Role
    repository_id: str | None
    granted_by: str
    granted_at: str


class GrantsBody(BaseModel):
    """A page of grants."""

    items: list[GrantBody]
    next_cursor: str | None


class RoleBody(BaseModel):
    """A role that a token was made with; ``repository_id`` is null for the whole tenant."""

    role: Role
    repository_id: str | None


class TokenBody(BaseModel):
    """A token; the bearer text is in the first answer to its making only."""

    id: str
    token: str | None = Field(examples=["cfm_local_4fJ..._..."])
    principal: str = Field(examples=[_PRINCIPAL])
    name: str = Field(examples=["ann"])
    kind: Kind
    roles: list[RoleBody]
    background: bool
    run_id: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class TokensBody(BaseModel):
    """A page of tokens."""

    items: list[TokenBody]
    next_cursor: str | None


class RemovedBody(BaseModel):
    """What was removed."""

    id: str


def principal(row: Principal) -> dict[str, object]:
    """Write a principal; see `PrincipalBody`."""
    return {
        "id": row.principal_id,
        "name": row.name,
        "kind": row.kind,
        "sponsor_id": row.sponsor_id,
        "created_at": to_rfc3339(row.created_at),
        "removed_at": _time(row.removed_at),
    }


def team(row: Team) -> dict[str, object]:
    """Write a team; see `TeamBody`."""
    return {
        "id": row.team_id,
        "slug": row.slug,
        "name": row.name,
        "created_at": to_rfc3339(row.created_at),
    }


def grant(row: StoredGrant) -> dict[str, object]:
    """Write a grant; see `GrantBody`."""
    return {
        "id": row.grant_id,
        "principal_id": row.principal_id,
        "role": str(row.role),
        "repository_id": row.repository_id,
        "granted_by": row.granted_by,
        "granted_at": to_rfc3339(row.granted_at),
    }


def token(issued: Issued) -> dict[str, object]:
    """Write a token; see `TokenBody`."""
    row = issued.token
    return {
        "id": row.token_id,
        "token": issued.text,
        "principal": row.principal_id,
        "name": issued.principal.name,
        "kind": issued.principal.kind,
        "roles": [
            {"role": str(role.role), "repository_id": role.repository_id} for role in issued.roles
        ],
        "background": row.background,
        "run_id": row.run_id,
        "created_at": to_rfc3339(row.created_at),
        "expires_at": _time(row.expires_at),
        "revoked_at": _time(row.revoked_at),
        "last_used_at": _time(row.last_used_at),
    }


def _time(at: int | None) -> str | None:
    return None if at is None else to_rfc3339(at)
