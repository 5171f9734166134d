"""Who acts, with which roles and from which origin; and what that lets them see and do.

`Access` is an argument of every service call. What is out of its reach does not exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.memory import Collection, Memory, Sensitivity, Status


class Role(StrEnum):
    """A role, granted for the tenant or for one repository. ``operator`` reads no memory."""

    READER = "reader"
    CONTRIBUTOR = "contributor"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"
    OWNER = "owner"
    OPERATOR = "operator"


RANK: Mapping[Role, int] = {
    Role.OPERATOR: 0,
    Role.READER: 1,
    Role.CONTRIBUTOR: 2,
    Role.REVIEWER: 3,
    Role.MAINTAINER: 4,
    Role.OWNER: 5,
}
"""Each role may do what the ones below it may; ``operator`` stands apart, below them all."""


class Origin(StrEnum):
    """Where a write comes from: a fact of token and route, never of the body."""

    USER = "user"
    AGENT = "agent"
    BACKGROUND = "background"
    REPOSITORY = "repository"
    IMPORT = "import"
    LEGACY = "legacy"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Grant:
    """A role for one repository, or for the whole tenant when ``repository_id`` is ``None``."""

    role: Role
    repository_id: str | None = None


@dataclass(frozen=True, slots=True)
class RunBinding:
    """What a run's token is bound to; it can only narrow what its maker may do."""

    run_id: str
    repository_id: str
    project_id: str
    branch: str | None
    agent: str
    team_id: str | None


@dataclass(frozen=True, slots=True)
class Access:
    """A caller: the tenant and principal that a token names, its live roles, teams and origin.

    ``sponsored`` are the agent principals that this person made.
    """

    tenant: str
    principal_id: str
    person: bool
    grants: frozenset[Grant]
    teams: frozenset[str]
    origin: Origin
    sponsored: frozenset[str] = frozenset()
    run: RunBinding | None = None
    token_id: str | None = None

    def rank(self, repository_id: str | None) -> int:
        """Return the rank of the best role on *repository_id*; -1 when there is none.

        ``None`` asks for tenant-wide roles only. A run has none outside its repository.
        """
        if self.run is not None and repository_id != self.run.repository_id:
            return -1
        return max(
            (RANK[g.role] for g in self.grants if g.repository_id in {None, repository_id}),
            default=-1,
        )

    def may(self, role: Role, repository_id: str | None) -> bool:
        """Tell whether the caller has at least *role* on *repository_id* (``None``: tenant)."""
        return self.rank(repository_id) >= RANK[role]

    @property
    def operates(self) -> bool:
        """Tell whether the caller may back up, restore and read health."""
        return self.run is None and any(
            g.repository_id is None and g.role in {Role.OPERATOR, Role.OWNER} for g in self.grants
        )

    @property
    def decides(self) -> bool:
        """Tell whether the caller may decide proposals at all: a person outside any run.

        Not by a token for background work: what comes from there waits for somebody, and a job
        that could let it in would be nobody.
        """
        return self.administers and self.origin is not Origin.BACKGROUND

    @property
    def administers(self) -> bool:
        """Tell whether the caller may look after the tenant at all: a person outside any run."""
        return self.person and self.run is None


@dataclass(frozen=True, slots=True)
class Scope:
    """An audience within one project: ``project``, ``team:<id>`` or ``private:<principal>``."""

    scope_id: int
    repository_id: str
    project_id: str
    audience: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What one caller may see, computed once per operation.

    Args:
        access: The caller.
        scopes: Scope id to scope; only those the caller reads.
        held_scopes: The private scopes of agents that the caller sponsors: of these only
            ``proposed`` entries are visible, because the sponsor decides them.
    """

    access: Access
    scopes: Mapping[int, Scope]
    held_scopes: frozenset[int] = frozenset()

    def sees(self, memory: Memory, *, before: Status | None = None) -> bool:
        """Tell whether *memory* exists for the caller.

        Args:
            memory: An entry of any scope.
            before: For a tombstone, the status it was deleted from: a tombstone is shown to
                those who could read the memory.
        """
        scope = self.scopes.get(memory.scope_id)
        if scope is None:
            return False
        status = before if memory.status is Status.DELETED and before else memory.status
        secret = memory.sensitivity is Sensitivity.SECRET
        if secret and memory.owner != self.access.principal_id:
            return False
        if memory.scope_id in self.held_scopes:
            return memory.status is Status.PROPOSED
        if memory.collection is not Collection.PROJECT:
            return True
        held = status in {Status.PROPOSED, Status.REJECTED}
        return not held or self.access.may(Role.CONTRIBUTOR, memory.repository_id)
