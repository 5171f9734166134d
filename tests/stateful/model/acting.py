"""The real side: a home with its cast, and one call for each thing that somebody does."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind, Pair, Sensitivity
from codeflow_memory.services import access as accesses
from codeflow_memory.services import projects, registration, runs, teams, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.registration import Clone
from codeflow_memory.services.runs import NewRun
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

from ..grounds import Ground
from .believed import Caller, Wish

START = 1_800_000_000_000_000
STEP = 1_000_000
NEW = Operation(None, ())
CAST = (
    ("owner", Role.OWNER, "user"),
    ("max", Role.MAINTAINER, "user"),
    ("rev", Role.REVIEWER, "user"),
    ("con", Role.CONTRIBUTOR, "user"),
    ("red", Role.CONTRIBUTOR, "user"),
    ("rea", Role.READER, "user"),
    ("bot", Role.CONTRIBUTOR, "agent"),
    ("eve", Role.REVIEWER, "user"),
)


@dataclass
class Clock:
    """Stands until it is moved."""

    at: int = START

    def __call__(self) -> int:
        return self.at


@dataclass
class Cast:
    """A prepared home and what its people are called in it."""

    home: Home
    tokens: dict[str, str]
    callers: dict[str, Caller]
    project: str
    repository: str
    team: str


def opened(home: Home, clock: Clock, seed: int) -> Tenants:
    source = Random(seed).randbytes  # noqa: S311 - repeatable on purpose
    return Tenants(home, now=clock, random_bytes=source)


def prepare(home: Home) -> Cast:
    """Fill the empty home that every example starts from a copy of."""
    tenants = opened(home, Clock(), 1)
    store = tenants.create("local")
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        owner = accesses.of_principal(store, tx, first.principal_id, Origin.USER)
    texts: dict[str, str] = {}
    callers: dict[str, Caller] = {}
    for name, role, kind in CAST:
        made = tokens.create(store, owner, NewToken(name, kind, role), NEW)
        texts[name] = made.text
        roles = {(str(role), None)}
        callers[name] = Caller(name, made.principal.principal_id, kind == "user", roles)
    callers["owner"].sponsored = {callers["bot"].principal}
    team = teams.create(store, owner, NEW, team_slug="red", name=None).team_id
    teams.add_member(store, owner, team, "red", NEW)
    callers["red"].teams.add(team)
    clone = registration.register(store, owner, Clone(key="first"), NEW)
    repository = clone.repository.repository_id
    made = projects.create(store, owner, repository, NewProject("core"), NEW)
    tenants.close()
    return Cast(home, texts, callers, made.project.project_id, repository, team)


class Acting:
    """An opened copy of the prepared home."""

    def __init__(self, cast: Cast, ground: Ground, name: str = "home") -> None:
        self._ground = ground
        self._home = ground.copy(cast.home, name)
        self.clock = Clock(START + STEP)
        self.tenants = opened(self._home, self.clock, 2)
        self.store = self.tenants.get("local")
        self.tokens = dict(cast.tokens)

    def close(self) -> None:
        self.tenants.close()
        self._ground.remove(self._home)

    def sign_in(self, name: str) -> Access:
        parts = parse_token(self.tokens[name])
        return accesses.authenticate(self.store, parts.token_id, parts.secret)

    def do(self, name: str, service: Callable, *arguments, **options):
        """Call a service as *name*; services of administration take keywords."""
        return service(self.store, self.sign_in(name), *arguments, **options)

    def start_run(self, name: str, project: str) -> str:
        started = self.do(name, runs.start, NewRun("claude-code", project=project), NEW)
        self.tokens["run"] = started.text
        return started.run.run_id


NAMES = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heron")
"""A word for each text, so that no two are nearly equal."""


def title(text: int) -> str:
    return f"{NAMES[text]} {NAMES[text]}wise"


def body(text: int) -> str:
    return f"{NAMES[text]}less {NAMES[text]}ward {NAMES[text]}like common"


def candidate(wish: Wish) -> Candidate:
    """Write a wish as the product takes it."""
    content = Content(
        kind=Kind.GUIDANCE,
        title=title(wish.text),
        body=body(wish.text),
        paths=wish.paths,
        derived_from=tuple(Pair(i, r) for i, r in wish.derived),
        sensitivity=Sensitivity(wish.sensitivity),
    )
    old = None if wish.supersedes is None else Pair(*wish.supersedes)
    return Candidate(content, Collection(wish.collection), wish.team, None, old)
