"""A registered repository that git really made, under a root, and those who write about it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Memory
from codeflow_memory.services import memories, repositories, review, verification
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.repositories import Settings
from codeflow_memory.services.review import Decision
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.verification import Report, Wanted
from codeflow_memory.storage import citations

_NUMBERS = count(1)
LINES = "".join(f"line {number}\n" for number in range(1, 21))


def operation(operation_id: str | None = None) -> Operation:
    return Operation(operation_id, ())


@dataclass
class Git:
    """A repository in a folder, with a clock of its own so that commits have an order."""

    path: Path
    time: int = 1_700_000_000

    def __call__(self, *arguments: object) -> str:
        self.time += 60
        who = {
            f"GIT_{role}_{fact}": value
            for role in ("AUTHOR", "COMMITTER")
            for fact, value in (
                ("NAME", "A"),
                ("EMAIL", "a@example.org"),
                ("DATE", f"@{self.time} +0000"),
            )
        }
        done = subprocess.run(  # noqa: S603 - the vector is the test's own
            ["git", *map(str, arguments)],  # noqa: S607 - whichever git the machine has
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": str(self.path), "LC_ALL": "C", **who},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def save(self, files: Mapping[str, str], message: str = "change") -> str:
        """Write, commit everything and return the commit."""
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", message)
        return self("rev-parse", "HEAD")


@dataclass
class Site:
    """A repository, its project, and what tests do with them."""

    world: Any
    git: Git
    project: Any
    ann: Access
    bob: Access

    @property
    def store(self):
        return self.world.store

    def write(self, access: Access | None = None, **fields: object) -> Memory:
        """Write a memory; a private one of Ann's, accepted at once, unless told otherwise."""
        number = next(_NUMBERS)
        raw = {
            "kind": "fact",
            "title": f"Fact {number}",
            "body": f"What is true about the thing with the number {number}.",
            "collection": "private",
        }
        return memories.create(
            self.store,
            access or self.ann,
            self.project.project_id,
            None,
            parse_candidate(raw | fields),
            operation(),
        ).memory

    def propose(self, **fields: object) -> Memory:
        return self.write(collection="project", **fields)

    def decide(self, access: Access, memory: Memory, action: Action = Action.APPROVE) -> Memory:
        decision = Decision(action)
        return review.decide(
            self.store, access, memory.memory_id, decision, memory.revision, operation()
        ).memory

    def accepted(self, **fields: object) -> Memory:
        return self.decide(self.bob, self.propose(**fields))

    def revise(self, memory: Memory, access: Access | None = None, **changes: object) -> Memory:
        return memories.revise(
            self.store,
            access or self.ann,
            memory.memory_id,
            changes,
            memory.revision,
            operation(),
        ).memory

    def now(self, memory: Memory, access: Access | None = None) -> Memory:
        return memories.get(self.store, access or self.ann, memory.memory_id).memory

    def verify(
        self,
        commit: str | None = None,
        access: Access | None = None,
        *,
        ids: set[str] | None = None,
        operation_id: str | None = None,
    ) -> Report:
        wanted = Wanted(commit, None if ids is None else frozenset(ids))
        return verification.verify(
            self.store,
            access or self.ann,
            self.project.project_id,
            None,
            wanted,
            operation(operation_id),
        )

    def results(self, memory: Memory, *arguments: object, **more: Any) -> list[tuple[str, str]]:
        found = self.verify(*arguments, **more).findings
        return [(f.citation, str(f.result)) for f in found if f.memory_id == memory.memory_id]

    def rows(self, memory: Memory) -> dict[str, Any]:
        with self.store.engine.read() as tx:
            found = citations.find_all(tx, memory.repository_id, [memory.memory_id])
        return {c.source: c for c in found}

    def setting(self, **settings: object) -> None:
        shown = repositories.show(self.store, self.world.owner, self.project.repository_id)
        repositories.update(
            self.store,
            self.world.owner,
            self.project.repository_id,
            Settings(**settings),
            base_revision=shown.repository.revision,
            operation=operation(),
        )

    def unreadable(self) -> None:
        """Take the checkout away."""
        self.git.path.rename(self.git.path.with_name("gone"))

    def readable(self) -> None:
        """Put it back."""
        self.git.path.with_name("gone").rename(self.git.path)


@pytest.fixture
def roots(tmp_path):
    folder = tmp_path / "repos"
    folder.mkdir()
    return folder


@pytest.fixture
def tenants(home, roots, clock):
    made = Tenants(home, now=clock, roots=(roots,))
    yield made
    made.close()


@pytest.fixture
def git(roots):
    """Return a function that makes an empty repository on the branch ``main``."""

    def make(name: str = "repo") -> Git:
        made = Git(roots / name)
        made.path.mkdir()
        made("init", "-q", "-b", "main", ".")
        return made

    return make


@pytest.fixture
def site(world, git):
    made = git()
    made.save({"src/app.py": LINES, "src/other.py": "nothing of note here\n"}, "first")
    repository = world.repository(key="app", paths=(str(made.path),)).repository
    project = world.project("core", repository.repository_id)
    ann = world.person("ann", Role.CONTRIBUTOR)
    bob = world.person("bob", Role.REVIEWER)
    return Site(world, made, project, ann, bob)
