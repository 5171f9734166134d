"""The runbooks: short, and every command in them exists with its options."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from codeflow_backup.tree import root as backup_root

from codeflow_memory.cli.commands import root as memory_root

ROOT = Path(__file__).parents[2]
RUNBOOKS = sorted((ROOT / "ops" / "runbooks").glob("*.md"))
PAGES = [*RUNBOOKS, ROOT / "ops" / "README.md"]

ROOTS = {"codeflow-memory": memory_root, "codeflow-backup": backup_root}
SYSTEM = {
    *("cat", "chgrp", "chmod", "cp", "head", "install", "journalctl", "python3"),
    *("systemctl", "systemd-sysusers"),
}
"""What a Debian system has; `install` and the like come with every one."""

OF_POSTGRESQL = {"pg_basebackup", "pg_verifybackup"}
"""What its packages bring; `test_postgresql_runbooks.py` runs it."""

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_UNIT = re.compile(r"codeflow-memory[a-z-]*\.(?:service|timer)")


def commands(page: Path) -> list[list[str]]:
    """Split the commands of a page: its blocks, and lines that are set in by four spaces."""
    text = page.read_text("utf-8")
    blocks = [block for _, language, block in _BLOCK.findall(text) if not language]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    if page.name == "README.md":
        lines += [line.strip() for line in text.splitlines() if line.startswith("    ")]
    parts = (part for line in lines for part in re.split(r" && |; |[()]", line) if part.strip())
    return [shlex.split(part) for part in parts if not part.strip().startswith("umask ")]


def fault(words: list[str]) -> str | None:
    """Say what is wrong with a command; ``None`` when it could be run."""
    if words[0] == "on-home":
        words = words[1:]
    name = words[0].rpartition("/")[2]
    if name in ROOTS:
        return _unknown(ROOTS[name], words[1:])
    if name == "pip":
        return None if words[1] == "install" else f"{words[1]} is no command of pip"
    if name not in SYSTEM | OF_POSTGRESQL:
        return f"no command {name}"
    return next(
        (
            f"no unit {word}"
            for word in words
            if _UNIT.fullmatch(word) and not (ROOT / "ops" / "systemd" / word).exists()
        ),
        None,
    )


def _unknown(command: click.Command, words: list[str]) -> str | None:
    context = click.Context(command, info_name=command.name, obj=None)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return f"{command.name} has no command {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    known = {option for param in command.params for option in param.opts}
    unknown = [word for word in words if word.startswith("--") and word not in known]
    return f"{command.name} has no option {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_exists(page):
    found = commands(page)

    assert len(found) >= 3, found
    assert [f"{' '.join(words)}: {fault(words)}" for words in found if fault(words)] == []


@pytest.mark.parametrize(
    "line",
    [
        "on-home codeflow-memory doctr",
        "on-home codeflow-memory doctor --deep",
        "on-home codeflow-memory token steal",
        "codeflow-backup restore FILE --force",
        "systemctl start codeflow-memory-absent.service",
        "frobnicate",
    ],
)
def test_a_command_that_is_not_there_is_found(line):
    assert fault(shlex.split(line)) is not None


def test_the_system_has_what_the_pages_take_from_it():
    missing = [name for name in SYSTEM if shutil.which(name) is None]

    assert set(missing) <= {"systemctl", "systemd-sysusers", "journalctl"}


@pytest.mark.parametrize("page", RUNBOOKS, ids=lambda page: page.name)
def test_a_runbook_is_short_and_says_when_it_is_for(page):
    text = page.read_text("utf-8")

    assert text.startswith("# ")
    assert text.count("\n") <= 60
    assert max(map(len, text.splitlines())) <= 110


def test_every_runbook_is_listed():
    listed = (ROOT / "ops" / "README.md").read_text("utf-8")

    assert len(RUNBOOKS) == 10
    assert "`runbooks/`" in listed
