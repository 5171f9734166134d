"""The command as a process of its own, homes with awkward names, and real git repositories."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..postgresql import Cluster
from ..program import COMMAND, SECONDS, Server, environment


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def checks(self) -> dict[str, dict[str, str]]:
        """What the doctor found, by the names of the checks."""
        return {check["name"]: check for check in self.json["checks"]}

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


@pytest.fixture
def database(cluster):
    """A database as the runbook makes it, and its name; gone with the test."""
    name = cluster.make()
    for statement in (
        f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
        f"ALTER DATABASE {name} SET synchronous_commit = on",
    ):
        cluster.sql(statement)
    cluster.sql("REVOKE ALL ON SCHEMA public FROM PUBLIC", name)
    yield name
    cluster.drop(name)


@pytest.fixture
def url(cluster, database):
    return cluster.url(database)


@pytest.fixture
def own_cluster():
    """A server on which no tenant's role is another login's."""
    made = Cluster()
    made.start()
    yield made
    made.remove()


def ask(server: Server, token: str, method: str, path: str, body=None, **headers: str):
    request = urllib.request.Request(  # noqa: S310 - the server that the test started
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            **headers,
        },
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - the same
        return json.load(answer)


def made(home: Path) -> list[str]:
    return sorted(p.relative_to(home).as_posix() for p in home.rglob("*"))
