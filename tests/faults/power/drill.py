"""Workloads as ladders: the home before each step, and what it must show before and after.

A step is one acknowledged operation with an operation id of its own. Given a home that shows its
state before or after, it brings it to the state after: that is what "a retry converges" means, and
every harness that breaks a step runs it again.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .disk import Files
from .recording import Recording
from .survey import Commits, content_of, digest_of, lay_out, opened

DATABASE = "memory.sqlite"

Run = Callable[[Path, str | None], None]
"""Gets the home and the name of the VFS; leaves every connection closed."""


def _nothing(_home: Path) -> None:
    """Check nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation.

    Args:
        name: What failures call it.
        run: Does it.
        commits: In how many transactions it is done; a mutation in exactly one.
        rests: In how many of its last states a retry may leave the store; of a mutation in one.
    """

    name: str
    run: Run
    commits: int = 1
    rests: int = 1


@dataclass(frozen=True, slots=True)
class Workload:
    """A home to begin with, and operations on it in their order.

    Args:
        name: What the harnesses call it.
        prepare: Fills an empty folder and leaves nothing open.
        steps: The operations.
        images: How many distinct power-loss images it gives at least.
        check: Raises AssertionError unless what follows from the memories is there. It is asked
            after every undisturbed step; a disturbed home is compared with such a one, row by row.
        answers: Whether a step reads its receipt before it reports an error.
        standing: Raises AssertionError unless the files beside the database are what they may be
            at any moment, whatever happened.
    """

    name: str
    prepare: Callable[[Path], None]
    steps: tuple[Step, ...]
    images: int
    answers: bool = False
    check: Callable[[Path], None] = _nothing
    standing: Callable[[Path], None] = _nothing

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Rung:
    """A step, the files it finds, and the states that its commits lead through, in order.

    A mutation is one commit, so it has two states; an import or a migration may have more.
    """

    workload: Workload
    step: Step
    files: Files
    states: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.workload}, {self.step.name}"

    @property
    def before(self) -> str:
        """The state that the step finds."""
        return self.states[0]

    @property
    def after(self) -> str:
        """The state that the step leads to."""
        return self.states[-1]

    @property
    def rest(self) -> tuple[str, ...]:
        """The states in which a retry may leave the store."""
        return self.states[-self.step.rests :]


def state_of(home: Path) -> str:
    """Return a hash of every row of the database, or what is wrong with it."""
    with opened(home / DATABASE) as connection:
        verdict = connection.pragma("quick_check")
        if verdict != "ok":
            return f"damaged: {verdict}"
        return digest_of(connection)


def difference(home: Path, other: Path) -> list[str]:
    """Name the tables whose rows differ, for a failure's message."""
    contents = []
    for place in (home, other):
        with opened(place / DATABASE) as connection:
            contents.append(content_of(connection))
    ours, theirs = contents
    return sorted(t for t in ours.keys() | theirs.keys() if ours.get(t) != theirs.get(t))


def ladder(workload: Workload, folder: Path) -> list[Rung]:
    """Run *workload* once, undisturbed, and note every rung."""
    home = folder / "ladder"
    home.mkdir(parents=True)
    workload.prepare(home)
    rungs = []
    for step in workload.steps:
        recording = Recording(home)
        with recording.running() as vfs:
            step.run(home, vfs)
        states = tuple(Commits(recording, folder, DATABASE).states)
        assert len(states) == step.commits + 1, (
            f"{workload}: {step.name}: {len(states) - 1} commits"
        )
        assert states[0] != states[-1], f"{workload}: {step.name} changes nothing"
        assert states[-1] == state_of(home), f"{workload}: {step.name}"
        workload.check(home)
        rungs.append(Rung(workload, step, recording.before, states))
    return rungs


def recorded(workload: Workload, folder: Path) -> Recording:
    """Run *workload* once under the recording VFS; each step is acknowledged when it returns."""
    home = folder / "recorded"
    home.mkdir(parents=True)
    workload.prepare(home)
    recording = Recording(home)
    with recording.running() as vfs:
        for step in workload.steps:
            step.run(home, vfs)
            recording.acknowledge()
    return recording


@contextmanager
def laid_out(files: Files, home: Path) -> Iterator[Path]:
    """Put *files* into the fresh folder *home*, which goes when the block succeeds."""
    lay_out(files, home)
    yield home
    shutil.rmtree(home)
