"""Homes and stores of the real product, with a clock and identifiers that a step owns.

Every step opens the tenant anew, so that a retry that starts afresh leads to the same bytes, and
states can be compared by a hash.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.services import grants, legacy_guard, principals, projects, registration
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import principals as principal_rows
from codeflow_memory.storage import receipts
from codeflow_memory.storage.home import BALLAST, Home

from .consistency import STEMS, WORDS
from .drill import Step

NOW = 1_767_225_600_000_000
"""Unix microseconds; a step is one second later than the one before it."""

REVIEWER = "rita"
KEY = bytes(range(32))
REPOSITORY, PROJECT = "faults", "core"


class StepIds:
    """Identifiers that depend on the step and on nothing that an earlier attempt used up."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._counts: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        """Return the next identifier; every attempt of a mutation begins with its batch."""
        if prefix == "bat":
            self._counts.clear()
        self._counts[prefix] += 1
        return f"{prefix}_{self._step:013d}{self._counts[prefix]:013d}"


def clock(step: int) -> Callable[[], int]:
    """Return the clock of a step, which stands."""
    return lambda: NOW + step * 1_000_000


def no_randomness(count: int) -> bytes:
    """Return the same bytes every time, where the product asks for random ones."""
    # But for the eight of a temporary file's name: what a crash left must not be in the way.
    return os.urandom(count) if count == _NAME_BYTES else bytes(count)


_NAME_BYTES = 8


@contextmanager
def opened_tenants(path: Path, vfs: str | None, step: int) -> Iterator[Tenants]:
    """Open a home as a server does, and close it again."""
    home = Home(path)
    with home.shared():
        opened = Tenants(
            home,
            now=clock(step),
            random_bytes=no_randomness,
            vfs=vfs,
            guard_of=legacy_guard.guard_of(home),
        )
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def opened_store(path: Path, vfs: str | None, step: int) -> Iterator[Store]:
    """Open the tenant of a home, and close it again."""
    with opened_tenants(path, vfs, step) as tenants:
        # The stemmers keep what they know from step to step; nothing else is shared.
        yield replace(tenants.get(LOCAL), ids=StepIds(step), words=WORDS, stems=STEMS)


@dataclass(frozen=True, slots=True)
class Call:
    """What a step has at hand: the store, its owner, and the operation's name."""

    store: Store
    owner: Access
    operation: Operation

    @property
    def reviewer(self) -> Access:
        """The access of the second person."""
        with self.store.engine.read() as tx:
            found = principal_rows.named(tx, REVIEWER)
            assert found is not None
            return accesses.of_principal(self.store, tx, found.principal_id, Origin.USER)

    def made(self, name: str) -> str:
        """Return the id of what the step *name* made."""
        with self.store.engine.read() as tx:
            found = receipts.find(tx, self.owner.principal_id, self.store.keys.operation_id(name))
        assert found is not None, f"the step {name} was not run"
        return found[1].target_id


def call_of(store: Store, name: str) -> Call:
    """Return what an operation called *name* has at hand."""
    with store.engine.read() as tx:
        owner = principal_rows.first_owner(tx)
        assert owner is not None
        access = accesses.of_principal(store, tx, owner.principal_id, Origin.USER)
    return Call(store, access, Operation(name, (name,)))


Work = Callable[[Call], object]


def steps_of(*works: Work) -> tuple[Step, ...]:
    """Make steps; a function's name is its operation id too."""
    return tuple(step_of(number, work) for number, work in enumerate(works, start=1))


def step_of(number: int, work: Work) -> Step:
    """Make one step, the *number*-th of its workload."""
    name = work.__name__

    def run(path: Path, vfs: str | None) -> None:
        with _secrets_of(number), opened_store(path, vfs, number) as store:
            work(call_of(store, name))

    return Step(name.replace("_", " "), run)


@contextmanager
def _secrets_of(step: int) -> Iterator[None]:
    """Make the secrets of tokens the step's own: a retry must lead to the same rows."""
    with mock.patch.object(os, "urandom", lambda count: bytes([step]) * count):
        yield


def make_home(path: Path) -> None:
    """Make a home without a tenant."""
    Home(path).make()
    (path / "key").write_bytes(KEY)
    # A real ballast has two megabytes, in every image; here it has only to be there.
    (path / BALLAST).write_bytes(b"ballast")


def prepare(path: Path) -> None:
    """Make a home whose tenant has two people, a repository and a project."""
    make_home(path)
    with opened_tenants(path, None, 0) as tenants:
        tenants.create(LOCAL)
    for work in (_make_the_reviewer, _give_the_role, _register, _make_the_project):
        step_of(0, work).run(path, None)


def _make_the_reviewer(call: Call) -> None:
    principals.create(call.store, call.owner, call.operation, name=REVIEWER, kind="user")


def _give_the_role(call: Call) -> None:
    grants.create(
        call.store, call.owner, call.operation, principal=REVIEWER, role=Role.REVIEWER, repo=None
    )


def _register(call: Call) -> None:
    registration.register(
        call.store, call.owner, registration.Clone(key=REPOSITORY), call.operation
    )


def _make_the_project(call: Call) -> None:
    new = projects.NewProject(slug=PROJECT)
    projects.create(call.store, call.owner, REPOSITORY, new, call.operation)
