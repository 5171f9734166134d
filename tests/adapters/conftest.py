"""Small real repositories, made with the git program."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from .hostile.trap import GUIDANCE, PRIVATE, Trap


class GitRepository:
    """A repository in a folder, with a clock of its own so that commits have an order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._time = 1_700_000_000
        path.mkdir(parents=True, exist_ok=True)

    def __call__(self, *arguments: object, status: int = 0) -> str:
        self._time += 60
        when = f"@{self._time} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_COMMITTER_DATE": when,
            "GIT_ALLOW_PROTOCOL": "file:ext",
        }
        done = subprocess.run(  # noqa: S603 - the vector is the test's own
            ["git", *map(str, arguments)],  # noqa: S607 - whichever git the machine has
            cwd=self.path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert status in {done.returncode, -1}, done.stderr
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def save(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Write, commit everything and return the commit."""
        self.write(files)
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", message)
        return self("rev-parse", "HEAD")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., GitRepository]:
    """Return a function that makes an empty repository on the branch ``main``."""

    def make(name: str = "repo", *options: str) -> GitRepository:
        repository = GitRepository(tmp_path / name)
        repository("init", "-q", "-b", "main", *options, ".")
        return repository

    return make


@pytest.fixture
def trap(git, tmp_path):
    g = git()
    outside = tmp_path / "outside"
    outside.mkdir()
    canary = outside / "canary"
    script = outside / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch '{canary}'\n")
    script.chmod(0o755)
    (outside / "secret").write_text(PRIVATE)
    commit = g.save(
        {
            "AGENTS.md": GUIDANCE,
            "src/app.py": "one\ntwo\nthree\n",
            ".gitattributes": "*.py filter=evil diff=evil merge=evil\n",
        }
    )
    return Trap(g, g.path, script, canary, outside, commit)
