"""The command as a process of its own, homes with awkward names, and real git repositories."""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-I", "-W", "error::ResourceWarning", "-m", "codeflow_memory"]
SECONDS = 60


def environment(home: Path | None = None, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")}
    if home is not None:
        kept["CODEFLOW_HOME"] = str(home)
    return kept | {"NO_COLOR": "1"} | more


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> "Done":
        assert self.code == 0, self.err
        return self


class Cli:
    """Runs commands on one home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(self, *argv: object, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
        done = subprocess.run(  # noqa: S603 - this program, no shell
            [*COMMAND, *map(str, argv)],
            env=environment(self.home, **env),
            cwd=cwd or self.home.parent,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)


class Server:
    """``up`` on a home, until `stop`."""

    def __init__(self, home: Path, *argv: str, umask: int = 0o022) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, "up", "--port", "0", "--no-browser", "--json", *argv],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            umask=umask,
        )
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if ready.select(SECONDS) else ""
        if not line:
            self.stop(signal.SIGKILL)
            raise AssertionError("up printed nothing")
        self.first: dict[str, str] = json.loads(line)
        self.url = self.first["url"]

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=SECONDS)
        return self.process.returncode


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "ein 'Heim' \"mit\" $HOME %20 — 记忆"


@pytest.fixture
def cli(home: Path) -> Cli:
    return Cli(home)


@pytest.fixture
def launch(home: Path) -> Iterator[Any]:
    """Start the command and leave it to the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*argv: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, *argv],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


PROBE = """
import json, sys, time
from codeflow_memory.cli import main
code = main(json.loads(sys.argv[1]))
print(json.dumps([code, time.process_time(), sorted({m.partition(".")[0] for m in sys.modules})]))
"""


@pytest.fixture
def probe(home: Path) -> Any:
    """Run a command and tell its code, its CPU seconds and what it imported."""

    def run(*argv: str) -> tuple[int, float, set[str]]:
        done = subprocess.run(  # noqa: S603 - this interpreter, no shell
            [sys.executable, "-I", "-c", PROBE, json.dumps(argv)],
            env=environment(home),
            capture_output=True,
            text=True,
            check=True,
        )
        code, seconds, modules = json.loads(done.stdout.splitlines()[-1])
        return code, seconds, set(modules)

    return run


@pytest.fixture
def serve(home: Path) -> Iterator[Any]:
    running: list[Server] = []

    def start(*argv: str, **more: Any) -> Server:
        running.append(Server(home, *argv, **more))
        return running[-1]

    yield start
    for server in running:
        server.stop()


class Repository:
    """A real git repository."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *argv: str) -> str:
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))
        }
        found = shutil.which("git")
        assert found is not None
        done = subprocess.run(  # noqa: S603 - git in a folder of the test's own, no shell
            [found, *argv],
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": str(self.path), **who},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str]) -> str:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-gpg-sign", "--message", "change")
        return self.git("rev-parse", "HEAD")


AGENTS = "# Rules\n\n## Tests\n\nRun every test before a push.\n\n## Style\n\nFour spaces.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "shöp front")
    made.commit({"AGENTS.md": AGENTS})
    return made
