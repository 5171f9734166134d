"""A small git repository with guidance and a history, for a demonstration without one at hand."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import click

_AGENTS = """# Shop

## Tests

Run `make test` before every commit. A bug fix starts with the test that shows it.

## Money

Amounts are integers in the currency's smallest unit. Never add two currencies.

## Retries

Every call to the payment provider carries an idempotency key, and is retried at most three times.
"""

_DECISION = """# Use SQLite for the order journal

Status: accepted

## Context

Orders must survive a crash of the process, and one shop has one server.

## Decision

The journal is one SQLite file, opened with full synchronisation. Backups copy it with its own API.

## Consequences

A second server cannot write the journal. Reports read a copy.
"""

_CONTRIBUTING = """# Contributing

## Commits

One behaviour a commit, with its test. The subject says what changes for the reader.

## Reviews

Two people read what touches payments. Everything else needs one.
"""

_HISTORY: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("Begin the shop", {"AGENTS.md": _AGENTS.replace("at most three times", "twice")}),
    ("Decide where orders are kept", {"docs/adr/0001-order-journal.md": _DECISION}),
    ("Say how to contribute", {"CONTRIBUTING.md": _CONTRIBUTING}),
    ("Retry payments three times", {"AGENTS.md": _AGENTS}),
)


def make_sample(folder: Path) -> Path:
    """Make the repository at *folder*, which does not exist, and return it.

    Raises:
        click.ClickException: There is no git program, or it failed.
    """
    program = shutil.which("git")
    if program is None:
        raise click.ClickException("git is needed, and was not found")
    folder.mkdir(parents=True)
    _git(program, folder, "init", "--quiet", "--initial-branch=main")
    for subject, files in _HISTORY:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        _git(program, folder, "add", "--all")
        _git(program, folder, "commit", "--quiet", "--no-gpg-sign", "--message", subject)
    return folder


def _git(program: str, folder: Path, *arguments: str) -> None:
    """Run git in a repository that was made here, without the machine's configuration."""
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Shop"), ("EMAIL", "shop@example.org"))
    }
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **who,
    }
    done = subprocess.run(  # noqa: S603 - a fixed program in a folder of our own, no shell
        [program, *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    if done.returncode:
        raise click.ClickException(f"git {arguments[0]} failed")
