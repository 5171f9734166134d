"""A home with the tenant ``local``, its first owner, and people with roles."""

from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

import pytest

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.services import access as accesses
from codeflow_memory.services import projects, registration, runs, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.runs import NewRun
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

START = 1_800_000_000_000_000
NEW = Operation(None, ())
"""A request without an idempotency key."""

_KEYS = count()


@dataclass
class Clock:
    """A clock that stands until it is moved; microseconds."""

    at: int = START

    def __call__(self) -> int:
        return self.at


@dataclass
class World:
    """One tenant and those who act in it."""

    tenants: Tenants
    clock: Clock
    tenant: str = "local"
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def store(self):
        return self.tenants.get(self.tenant)

    @property
    def owner(self) -> Access:
        """The first owner, as the owner of the home's files acts."""
        with self.store.engine.read() as tx:
            first = principals.first_owner(tx)
            return accesses.of_principal(self.store, tx, first.principal_id, Origin.USER)

    def token(self, name: str, role: Role, kind: str = "user", **more):
        """Make a token; return what its maker sees."""
        new = NewToken(principal=name, kind=kind, role=role, **more)
        return tokens.create(self.store, self.owner, new, NEW)

    def person(self, name: str, role: Role = Role.CONTRIBUTOR, kind: str = "user", **more):
        """The access of a fresh token of *name*."""
        return self.sign_in(self.token(name, role, kind, **more).text)

    def sign_in(self, text: str) -> Access:
        parts = parse_token(text)
        return accesses.authenticate(self.store, parts.token_id, parts.secret)

    def again(self, access: Access) -> Access:
        """The same caller as the store knows it now."""
        with self.store.engine.read() as tx:
            return accesses.refresh(self.store, tx, access)

    def repository(self, access: Access | None = None, **facts):
        clone = Clone(**facts or {"key": f"key-{next(_KEYS)}"})
        return registration.register(self.store, access or self.owner, clone, NEW)

    def project(self, slug: str = "core", repo: str | None = None):
        repo = repo or self.repository().repository.repository_id
        made = projects.create(self.store, self.owner, repo, NewProject(slug), NEW)
        return made.project

    def run(self, access: Access, project, **more):
        project_id = None if project is None else project.project_id
        new = replace(NewRun(agent="claude-code", project=project_id), **more)
        return runs.start(self.store, access, new, NEW)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tenants(tmp_path, clock):
    home = Home(tmp_path / "home")
    home.make()
    made = Tenants(home, now=clock, random_bytes=Random(7).randbytes)  # noqa: S311 - repeatable on purpose
    yield made
    made.close()


@pytest.fixture
def world(tenants, clock):
    tenants.create("local")
    return World(tenants, clock)
