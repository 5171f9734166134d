"""One child process of the git program per question, where no repository can reach it.

The child never sees the repository's own git directory. It runs in a *blank* one, made for this one
question, with a configuration of ours, and is given nothing of the repository but its object store,
by path. So no configuration, include, hook, attribute, alias or remote of the repository exists
for it: there is nothing to override and nothing to forget.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, Timer

from codeflow_memory.domain.errors import (
    DeadlineExceededError,
    InvalidRequestError,
    LimitExceededError,
)

try:
    import resource
except ImportError:  # Windows has no resource limits of this kind.
    resource = None  # type: ignore[assignment]  # the module or its absence, asked below

TIMEOUT_SECONDS = 5.0
"""A question that takes longer is given up; a warm one takes 2 to 5 ms."""

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""Room for the tree of about half a million files."""

MAX_MEMORY_BYTES = 1024 * 1024 * 1024
"""Private memory of a child; mapped pack files do not count toward it."""

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tbigFileThreshold = 8m
\tdeltaBaseCacheLimit = 32m
[gc]
\tauto = 0
[protocol]
\tallow = never
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a child ended: its exit status, and its standard output in full."""

    status: int
    output: bytes


def git_program() -> str:
    """Find the git program.

    Raises:
        InvalidRequestError: It is not installed.
    """
    program = shutil.which("git")
    if program is None:
        raise InvalidRequestError.at("/repo", "repositories cannot be read: git is not installed")
    return program


def ask(
    arguments: Sequence[str],
    *,
    objects: Path | None = None,
    shallow: Iterable[str] = (),
    given: bytes = b"",
    max_bytes: int = MAX_OUTPUT_BYTES,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Answer:
    """Run git once and return what it wrote.

    Args:
        arguments: After the program's name; whoever calls has validated every part that comes
            from outside and put ``--end-of-options`` before it.
        objects: The object store to read; ``None`` for a question that needs none.
        shallow: Commits at which history was cut, full hashes.
        given: What the child reads from standard input.
        max_bytes: Longest output accepted.
        timeout_seconds: Longest time allowed, from the start of the child to its end.

    Raises:
        DeadlineExceededError: The child was stopped after *timeout_seconds*.
        InvalidRequestError: git is not installed.
        LimitExceededError: The output is longer than *max_bytes*.
    """
    program = git_program()
    with tempfile.TemporaryDirectory(prefix="codeflow-git-") as folder:
        blank = Path(folder)
        _make_blank(blank, shallow)
        environment = _environment(program, blank, objects)
        return _run(
            [program, *arguments],
            environment,
            given,
            max_bytes=max_bytes,
            timeout_seconds=timeout_seconds,
        )


def _make_blank(blank: Path, shallow: Iterable[str]) -> None:
    (blank / "refs").mkdir()
    (blank / "objects").mkdir()
    (blank / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
    (blank / "config").write_text(_CONFIG, "ascii")
    boundary = "".join(f"{commit}\n" for commit in shallow)
    if boundary:
        (blank / "shallow").write_text(boundary, "ascii")


def _environment(program: str, blank: Path, objects: Path | None) -> dict[str, str]:
    """Build the child's whole environment; nothing is inherited but what Windows cannot do without.

    The blank directory already leaves nothing to execute. Each line that closes a door again is
    there for the day on which one of the others is lost.
    """
    environment = {
        "PATH": str(Path(program).parent),
        "HOME": str(blank),
        "XDG_CONFIG_HOME": str(blank),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_DIR": str(blank),
        "GIT_OBJECT_DIRECTORY": str(objects or blank / "objects"),
        "GIT_CEILING_DIRECTORIES": str(blank.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GIT_SSH_COMMAND": "false",
        "GIT_EDITOR": "false",
        "GIT_PAGER": "cat",
    }
    inherited: Mapping[str, str] = os.environ
    return environment | {
        name: inherited[name] for name in ("SYSTEMROOT", "TEMP") if name in inherited
    }


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    given: bytes,
    *,
    max_bytes: int,
    timeout_seconds: float,
) -> Answer:
    with subprocess.Popen(  # noqa: S603 - no shell; the callers fix and validate the vector
        command,
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        cwd=environment["GIT_DIR"],
        start_new_session=True,
    ) as child:
        _limit_memory(child.pid)
        expired: list[bool] = []

        def stop() -> None:
            if child.returncode is None:
                expired.append(True)
                _kill(child)

        timer = Timer(timeout_seconds, stop)
        feeder = Thread(target=_feed, args=(child, given), daemon=True)
        timer.start()
        feeder.start()
        try:
            output = _read(child, max_bytes)
            if len(output) > max_bytes:
                _kill(child)
            child.wait()
        finally:
            timer.cancel()
            _kill(child)
            feeder.join()
    if expired:
        raise DeadlineExceededError
    if len(output) > max_bytes:
        raise LimitExceededError("bytes from git", value=len(output), maximum=max_bytes)
    return Answer(child.returncode, output)


def _feed(child: "subprocess.Popen[bytes]", given: bytes) -> None:
    pipe = child.stdin
    if pipe is None:
        return
    try:
        pipe.write(given)
        pipe.close()
    except OSError:
        # The child ended before it had read all of it; its status tells why.
        return


def _read(child: "subprocess.Popen[bytes]", max_bytes: int) -> bytes:
    """Read until the output ends, or one byte more than is accepted has come."""
    return b"" if child.stdout is None else child.stdout.read(max_bytes + 1)


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if child.returncode is not None:
        return
    try:
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except (ProcessLookupError, PermissionError):
        return


def _limit_memory(pid: int) -> None:
    """Bound the child from outside: a function run between fork and exec is unsafe with threads."""
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:
        return
    try:
        prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    except (ProcessLookupError, PermissionError, ValueError):
        # A child that has ended needs no limit; a stricter one of the machine stays in force.
        return
