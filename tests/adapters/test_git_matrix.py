"""Every hostile repository against every operation of the product that reads git.

Each cell is carried out. An operation may answer or refuse; it may not run anything but git, open
anything outside of the repository, connect, take longer than two seconds of a processor or wait
until its child is stopped, or say a word of what lies outside.
"""

import os
import re
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from codeflow_memory.adapters import git_process
from codeflow_memory.adapters.citations import check_citation, make_anchor
from codeflow_memory.adapters.codeowners import read_codeowners
from codeflow_memory.adapters.git import Repository, open_repository
from codeflow_memory.adapters.git_process import git_program
from codeflow_memory.adapters.guidance import read_guidance
from codeflow_memory.cli import places
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.citations import Citation
from codeflow_memory.domain.errors import CodeflowError, DeadlineExceededError
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import (
    learning,
    memories,
    ownership,
    registration,
    selections,
    verification,
)
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.verification import Wanted

from .hostile.configured import CONFIGURED
from .hostile.contents import CONTENTS
from .hostile.leading_out import LEADING_OUT
from .hostile.trap import PRIVATE, Trap
from .hostile.watch import watched

SECONDS = 2.0
"""Of a processor, for one operation: its own and that of the children it waited for."""

BACK = "/victim/.git/worktrees/x/gitdir"
"""Where a worktree's ``.git`` leads, this one file says whether that place knows the worktree.

It is read to refuse all the rest.
"""

NEW = Operation(None, ())
CITED = Citation("src/app.py", 1, 2)
_WORDS = count()


@dataclass(frozen=True)
class Scene:
    """A trap that is registered, with an entry that cites it from before it was sprung."""

    trap: Trap
    world: Any
    store: Any
    author: Any
    project: Any
    memory_id: str

    @property
    def repository(self) -> Repository:
        return open_repository(self.trap.path)

    @property
    def head(self) -> str:
        return self.repository.head().commit or self.trap.commit


def create(scene: Scene) -> object:
    raw = {
        "collection": "project",
        "kind": "guidance",
        "title": f"Rule {next(_WORDS)}",
        "body": f"Body {next(_WORDS)} of an entry.",
        "paths": ["src/app.py"],
        "sources": ["file:src/app.py#L1-L2", f"commit:{scene.trap.commit}"],
    }
    return memories.create(
        scene.store, scene.author, scene.project.project_id, None, parse_candidate(raw), NEW
    )


def register(scene: Scene) -> object:
    clone = learning.clone_of(open_repository(scene.trap.path, within=scene.trap.path))
    return registration.register(scene.store, scene.world.owner, clone, NEW)


OPERATIONS: dict[str, Callable[[Scene], object]] = {
    "identity": lambda s: s.repository.facts(),
    "head": lambda s: s.repository.head(),
    "default branch": lambda s: s.repository.default_branch(),
    "names of commits": lambda s: [
        s.repository.resolve(name)
        for name in ("HEAD", "main", "origin/HEAD", s.trap.commit[:8], "--all", "-x", "1" * 40)
    ],
    "ancestry": lambda s: s.repository.is_ancestor(s.trap.commit, s.head),
    "ancestors of many": lambda s: s.repository.ancestors_among([s.trap.commit], s.head),
    "tree": lambda s: s.repository.tree(s.head),
    "a file": lambda s: s.repository.blob(s.head, "src/app.py"),
    "files": lambda s: s.repository.contents([b for _, b in s.repository.tree(s.head)][:50]),
    "whether there is": lambda s: s.repository.has(s.head, "AGENTS.md"),
    "last change": lambda s: s.repository.last_commit("src/app.py", s.head),
    "guidance": lambda s: read_guidance(s.repository, s.head),
    "owners of code": lambda s: read_codeowners(s.repository),
    "an anchor": lambda s: make_anchor(s.repository, CITED, s.head),
    "a citation": lambda s: check_citation(
        s.repository, CITED, make_anchor(s.repository, CITED, s.trap.commit), s.head
    ),
    "the folder of a command": lambda s: places.get_clone(s.trap.path),
    "a registration": register,
    "a new entry": create,
    "a selection at a head": lambda s: selections.create(
        s.store, s.author, s.project.project_id, None, Request(head=s.head, branch="main")
    ),
    "owners of an entry": lambda s: ownership.read(s.store, s.author, s.memory_id),
    "verification": lambda s: verification.verify(
        s.store, s.author, s.project.project_id, None, Wanted(commit=s.trap.commit), NEW
    ),
    "verification of a checkout": lambda s: verification.verify_checkout(
        s.store, s.author, s.trap.path
    ),
    "learning": lambda s: learning.learn(s.store, s.world.owner, s.trap.path, None, dry_run=True),
}


@pytest.fixture(scope="module")
def people(shared_world):
    return shared_world, shared_world.person("ann", Role.MAINTAINER)


@pytest.fixture
def scene(people, trap, git):
    world, author = people
    victim = git("victim")
    victim.save({"secret": PRIVATE, "AGENTS.md": f"# Rules\n\n{PRIVATE}\n"})
    (trap.outside / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n")
    os.mkfifo(trap.outside / "pipe")
    store = replace(world.store, roots=(trap.path,))
    clone = replace(learning.clone_of(open_repository(trap.path)), key=f"trap-{next(_WORDS)}")
    seen = registration.register(store, world.owner, clone, NEW).repository
    project = world.project(f"p{next(_WORDS)}", seen.repository_id)
    world.settings(project, codeowners=True)
    made = Scene(trap, world, store, author, project, "")
    return replace(made, memory_id=create(made).memory.memory_id)


def spent() -> float:
    """Return the processor's seconds of this thread and of the children that have ended."""
    own, children = (resource.getrusage(of) for of in (THREAD, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


THREAD = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


def carry_out(scene: Scene) -> dict[str, object]:
    """Do every operation under watch; return what each answered, or its refusal."""
    victim = scene.trap.outside.parent / "victim"
    answers: dict[str, object] = {}
    for name, operation in OPERATIONS.items():
        began = spent()
        with watched() as seen:
            try:
                answers[name] = operation(scene)
            except CodeflowError as refusal:
                answers[name] = refusal
            except places.NotThereError as refusal:
                answers[name] = refusal
        assert spent() - began < SECONDS, name
        # A child that waits takes no time of a processor, and is stopped in the end.
        assert not isinstance(answers[name], DeadlineExceededError), name
        assert set(seen.ran) <= {git_program()}, name
        assert seen.connected == [], name
        outside = seen.opened_in(scene.trap.outside) + seen.opened_in(victim)
        assert [path for path in outside if not path.endswith(BACK)] == [], name
        assert PRIVATE not in repr(answers[name]) + str(answers[name]), name
    assert not scene.trap.canary.exists()
    return answers


def is_refused(answer: object) -> bool:
    return isinstance(answer, CodeflowError | places.NotThereError)


SPRINGS: dict[str, Callable[[Trap, Path], None]] = {
    **{
        f"configured: {name}": (lambda trap, _, text=text: trap.config(text))
        for name, text in CONFIGURED.items()
    },
    **{f"leading out: {name}": spring for name, spring in LEADING_OUT.items()},
    **{
        f"contents: {name}": (lambda trap, _, spring=spring: spring(trap))
        for name, spring in CONTENTS.items()
    },
}


def test_there_are_many_hostile_repositories_and_all_that_reads_git_is_asked():
    assert len(SPRINGS) >= 80
    assert len(OPERATIONS) >= 20


@pytest.mark.parametrize("name", SPRINGS)
def test_no_operation_runs_reaches_out_connects_or_hangs(scene, name):
    SPRINGS[name](scene.trap, scene.trap.outside.parent / "victim")

    answers = carry_out(scene)

    if name.startswith("configured: "):
        assert [asked for asked, answer in answers.items() if is_refused(answer)] == []


def test_a_repository_without_a_trap_is_answered_in_every_operation(scene):
    """Control: what is always refused would pass every test above."""
    answers = carry_out(scene)

    assert [asked for asked, answer in answers.items() if is_refused(answer)] == []
    assert answers["a file"] == b"one\ntwo\nthree\n"
    assert answers["a citation"].result == "valid"
    assert answers["verification"].findings[0].result == "valid"


def test_an_operation_that_waits_is_found(scene, tmp_path, monkeypatch):
    """Control: a git that does nothing until it is stopped."""
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(git_process.ask.__kwdefaults__, "timeout_seconds", 0.2)

    with pytest.raises(AssertionError, match="identity"):
        carry_out(scene)


def test_the_watch_sees_what_is_opened_run_and_connected(tmp_path):
    """Control: a watch that sees nothing would pass every test above."""
    (tmp_path / "secret").write_text(PRIVATE)
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with socket.create_server(("127.0.0.1", 0)) as server, watched() as seen:
        os.close(os.open(tmp_path / "link", os.O_RDONLY))
        (tmp_path / "secret").read_text()
        list(os.scandir(tmp_path))
        subprocess.run([git_program(), "--version"], check=True, capture_output=True)  # noqa: S603 - git
        socket.create_connection(server.getsockname()).close()

    assert len(seen.opened_in(tmp_path)) == 3
    assert seen.ran == [git_program()]
    assert len(seen.connected) > 0


def test_nothing_that_the_environment_says_of_git_counts(scene, monkeypatch):
    script, outside = scene.trap.script, scene.trap.outside
    (outside / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(script))
    for name, text in {
        "GIT_TRACE": str(scene.trap.canary),
        "GIT_TRACE2_EVENT": str(scene.trap.canary),
        "GIT_DIR": str(outside.parent / "victim/.git"),
        "GIT_WORK_TREE": str(outside),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(outside.parent / "victim/.git/objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(script),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={script}'",
        "GIT_EXEC_PATH": str(outside),
        "HOME": str(outside),
        "XDG_CONFIG_HOME": str(outside),
    }.items():
        monkeypatch.setenv(name, text)

    answers = carry_out(scene)

    assert [asked for asked, answer in answers.items() if is_refused(answer)] == []
    assert answers["a file"] == b"one\ntwo\nthree\n"


ASKED_BY_ITSELF = """
import sys
from pathlib import Path
from codeflow_memory.adapters.citations import check_citation, make_anchor
from codeflow_memory.adapters.codeowners import read_codeowners
from codeflow_memory.adapters.git import open_repository
from codeflow_memory.adapters.guidance import read_guidance
from codeflow_memory.domain.citations import Citation

print("begun", flush=True)
repository = open_repository(Path(sys.argv[1]))
head = repository.head().commit
repository.facts()
repository.resolve("main")
repository.ancestors_among([head], head)
repository.contents([blob for _, blob in repository.tree(head)])
repository.last_commit("src/app.py", head)
read_guidance(repository, head)
read_codeowners(repository)
cited = Citation("src/app.py", 1, 2)
check_citation(repository, cited, make_anchor(repository, cited, head), head)
"""

_CALLS = "trace=execve,execveat,connect,openat"


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_sees_git_run_nothing_connect_and_nothing_outside_opened(trap, tmp_path):
    """The children too: what they open and run, the interpreter cannot tell."""
    for name in ("submodule", "every hook", "attributes", "worktree config", "rewritten urls"):
        CONTENTS[name](trap)
    os.mkfifo(trap.outside / "pipe")
    trap.config("".join(CONFIGURED.values()))
    log = tmp_path / "calls"
    command = [sys.executable, "-c", ASKED_BY_ITSELF, str(trap.path)]

    done = subprocess.run(  # noqa: S603 - this interpreter under strace, no shell
        ["strace", "-f", "-qq", "-s", "4096", "-e", _CALLS, "-o", log, *command],  # noqa: S607 - as above
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "begun\n"), done.stderr
    calls = log.read_text("utf-8", "replace")
    ran = re.findall(r'execve\("([^"]+)".* = 0$', calls, re.MULTILINE)
    assert set(ran[1:]) == {git_program()}
    assert len(ran) > 10
    assert re.findall(r"connect\(.*AF_INET.*", calls) == []
    assert re.findall(rf'openat\([^"]*"{re.escape(str(trap.outside))}.*', calls) == []
    assert not trap.canary.exists()
