"""A home with the tenant ``local``, its first owner, and people with roles."""

import socket
import time
import timeit
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from random import Random

import pytest

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Memory
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    deletion,
    memories,
    projects,
    publication,
    registration,
    repositories,
    review,
    runs,
    search,
    selections,
    teams,
    tokens,
)
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.repositories import Settings
from codeflow_memory.services.review import Decision
from codeflow_memory.services.runs import NewRun
from codeflow_memory.services.search import Question
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.sqlite import SQLiteEngine

from . import remains
from .kept import Kept
from .postgresql import Cluster

BOTH_ENGINES = {"storage", "services", "http", "stateful", "test_worker.py"}
"""Where tests run on both engines; one marked ``files`` is about SQLite's files."""

START = 1_800_000_000_000_000
NEW = Operation(None, ())
"""A request without an idempotency key."""

_KEYS = count()
_TEXTS = count()


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

    def team(self, slug: str, *members: Access) -> str:
        """Make a team of *members*; return its id."""
        made = teams.create(self.store, self.owner, NEW, team_slug=slug, name=None)
        for member in members:
            teams.add_member(self.store, self.owner, made.team_id, member.principal_id, NEW)
        return made.team_id

    def settings(self, project, **changes) -> None:
        """Change how the project's repository is reviewed."""
        repository_id = project.repository_id
        current = repositories.show(self.store, self.owner, repository_id).repository
        repositories.update(
            self.store,
            self.owner,
            repository_id,
            Settings(**changes),
            base_revision=current.revision,
            operation=NEW,
        )

    def write(self, access: Access, project, op: str | None = None, **fields):
        """Create a memory; what is not given is made up, each time an unlike text."""
        word = sha256(str(next(_TEXTS)).encode()).hexdigest()
        raw = {
            "collection": "project",
            "kind": "guidance",
            "title": f"Title {word[:12]}",
            "body": f"Body {word[12:24]} {word[24:36]}",
        } | fields
        operation = Operation(op, (repr(sorted(raw.items())),))
        candidate = parse_candidate(raw)
        return memories.create(self.store, access, project.project_id, None, candidate, operation)

    def propose(self, access: Access, project, **fields) -> Memory:
        return self.write(access, project, **fields).memory

    def accept(self, author: Access, reviewer: Access, project, **fields) -> Memory:
        """A project memory of *author* that *reviewer* approved."""
        return self.decide(reviewer, self.propose(author, project, **fields), "approve")

    def decide(
        self, access: Access, memory: Memory, action: str, op: str | None = None, **facts
    ) -> Memory:
        """Decide a memory at the revision that it has here."""
        operation = Operation(op, (action, memory.memory_id, repr(facts)))
        decision = Decision(Action(action), **facts)
        base = memory.revision
        return review.decide(self.store, access, memory.memory_id, decision, base, operation).memory

    def revise(self, access: Access, memory: Memory, op: str | None = None, **changes) -> Memory:
        operation = Operation(op, (memory.memory_id, repr(changes)))
        base = memory.revision
        return memories.revise(
            self.store, access, memory.memory_id, changes, base, operation
        ).memory

    def delete(self, access: Access, memory: Memory, op: str | None = None, reason=None):
        operation = Operation(op, (memory.memory_id,))
        return deletion.delete(
            self.store, access, memory.memory_id, memory.revision, operation, reason=reason
        ).memory

    def publish(self, access: Access, memory: Memory, note: str | None = None) -> Memory:
        return publication.publish(
            self.store, access, memory.memory_id, memory.revision, NEW, note=note
        ).memory

    def get(self, access: Access, memory: Memory):
        return memories.get(self.store, access, memory.memory_id)

    def search(self, access: Access, project, text: str, **more):
        return search.find(self.store, access, project.project_id, None, Question(text, **more))

    def select(self, access: Access, project, **request):
        return selections.create(self.store, access, project.project_id, None, Request(**request))

    def holding(self, needle: str) -> list[str]:
        """Name what of the home holds *needle*, whatever its case: files, and the database."""
        wanted = needle.encode().lower()
        places = remains.of_home(self.tenants)
        return sorted({name for name, data in places if wanted in data.lower()})


class Cast:
    """Callers by name, each made when first used: a token takes three synced writes."""

    _ROLES = {  # noqa: RUF012 - read only
        "ann": Role.CONTRIBUTOR,
        "abe": Role.CONTRIBUTOR,
        "bob": Role.REVIEWER,
        "bea": Role.REVIEWER,
        "max": Role.MAINTAINER,
        "reader": Role.READER,
    }

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Access:
        if name not in self._ROLES:
            raise AttributeError(name)
        access = self._world.person(name, self._ROLES[name])
        setattr(self, name, access)
        return access


@pytest.fixture
def cast(world):
    return Cast(world)


@pytest.fixture
def project(world):
    return world.project()


def pytest_generate_tests(metafunc):
    """Run what uses a database twice: on each engine."""
    if "engine_name" not in metafunc.fixturenames:
        return
    names = ["sqlite", "postgresql"] if is_of_both(metafunc.definition) else ["sqlite"]
    metafunc.parametrize("engine_name", names, scope="module")


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL for this process of the tests, started by the first test that needs it."""
    made = Cluster()
    made.start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def new_server(engine_name, request):
    """Make a database, and return its URL; ``None`` where files are meant."""
    made = []

    def make() -> str | None:
        if engine_name == "sqlite":
            return None
        cluster = request.getfixturevalue("cluster")
        made.append(cluster.make())
        return cluster.url(made[-1])

    yield make
    for name in made:
        request.getfixturevalue("cluster").drop(name)


@pytest.fixture
def server(engine_name, request):
    """The URL of a database of this test's own; ``None`` where files are meant."""
    if engine_name == "sqlite":
        yield None
        return
    cluster = request.getfixturevalue("cluster")
    name = cluster.make()
    yield cluster.url(name)
    cluster.drop(name)


@pytest.fixture(scope="module")
def new_kept(engine_name, request):
    """Make a place for states of homes, in a folder that is given."""
    made = []

    def make(folder: Path) -> Kept:
        cluster = None if engine_name == "sqlite" else request.getfixturevalue("cluster")
        made.append(Kept(folder, cluster))
        return made[-1]

    yield make
    for kept in made:
        kept.drop()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def home(tmp_path, server):
    """An empty home; its databases are files, or schemas of a database of its own."""
    made = Home(tmp_path / "home", server)
    made.make()
    return made


@pytest.fixture
def tenants(home, clock):
    made = Tenants(home, now=clock, random_bytes=Random(7).randbytes)  # noqa: S311 - repeatable on purpose
    yield made
    made.close()


@pytest.fixture
def world(tenants, clock):
    tenants.create("local")
    return World(tenants, clock)


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory, new_server):
    """A world on the real clock, for a module that serves it: tenants ``local`` and ``birch``."""
    home = Home(tmp_path_factory.mktemp("shared") / "home", new_server())
    home.make()
    made = Tenants(
        home,
        now=lambda: time.time_ns() // 1000,
        random_bytes=Random(11).randbytes,  # noqa: S311 - repeatable on purpose
    )
    for slug in ("local", "birch"):
        made.create(slug)
    yield World(made, Clock())
    made.close()


def is_of_both(item: pytest.Item) -> bool:
    """Tell whether a test is of a folder of both engines, and not of one of them by its word."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return folder in BOTH_ENGINES and item.get_closest_marker("files") is None


@pytest.fixture(autouse=True)
def _on_both_engines(request, monkeypatch):
    """Let no test have files that has neither both engines nor says that it is about one."""
    if is_of_both(request.node) and not {"engine_name", "cluster"} & set(request.fixturenames):
        monkeypatch.setattr(SQLiteEngine, "_open", _refuse_to_open)


def _refuse_to_open(*_):
    raise AssertionError("take `engine_name` by a fixture, or say that it is about `files`")


@pytest.fixture(scope="session", autouse=True)
def _this_machine_only():
    """Refuse every connection that leaves the loopback interface."""
    plain = socket.socket.connect

    def connect(self, address):
        host = address[0] if isinstance(address, tuple) else ""
        if host and host not in {"localhost", "::1"} and not host.startswith("127."):
            raise AssertionError(f"a test must not connect to {host}")
        return plain(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        yield


@pytest.fixture
def least_seconds():
    """Time a work, for bounds that only a work of another order passes: a busy machine does not."""

    def timed(work) -> float:
        return min(timeit.repeat(work, number=1, repeat=3, timer=time.thread_time))

    return timed
