"""``ops/try``: a clone of a real history, from nothing to a served demonstration."""

import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ..program import COMMAND, SECONDS, environment
from .conftest import Repository

ROOT = Path(__file__).resolve().parents[2]
HISTORY = [
    {"AGENTS.md": "# Rules\n\n## Tests\n\nRun every test.\n", "src/a.py": "a = 1\n"},
    {"AGENTS.md": "# Rules\n\n## Tests\n\nRun every test before a push.\n"},
    {"docs/adr/0001-sqlite.md": "# Use SQLite\n\n## Decision Outcome\n\nOne file, no server.\n"},
    {"CONTRIBUTING.md": "# Contributing\n\n## Style\n\nFour spaces, no tabs.\n"},
]


@pytest.fixture
def clone(tmp_path):
    """A clone of a bundle, as somebody gets a repository without a network."""
    origin = Repository(tmp_path / "origin")
    for files in HISTORY:
        origin.commit(files)
    origin.git("tag", "v1")
    origin.git("switch", "--quiet", "--create", "topic")
    origin.commit({"AGENTS.md": "# Other rules\n\n## Tests\n\nNone.\n"})
    origin.git("switch", "--quiet", "main")
    bundle = tmp_path / "a history.bundle"
    origin.git("bundle", "create", "--quiet", str(bundle), "--all")
    folder = tmp_path / "a clone"
    origin.git("clone", "--quiet", "--branch", "main", str(bundle), str(folder))
    shutil.rmtree(origin.path)
    return folder


def test_a_clone_of_a_bundle_is_demonstrated_to_the_end(cli, clone):
    facts = cli("demo", clone, "--json").ok().json

    assert facts["learned"]["proposed"] >= 3
    assert facts["approved"] >= 3
    assert facts["replay"]["verified"] is True
    assert len(facts["redacted"]) == 1


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which this interpreter stands for what `ops/setup` installs."""
    made = Repository(tmp_path / "check out")
    made.commit({"AGENTS.md": "# Rules\n\n## Style\n\nA checkout of its own.\n"})
    (made.path / "ops").mkdir()
    shutil.copy(ROOT / "ops" / "try", made.path / "ops" / "try")
    scripts = {
        "ops/setup": 'touch "$(dirname "$0")/set-up"',
        ".venv/bin/python": f'exec {shlex.join(COMMAND[:-2])} "$@"',
    }
    for name, line in scripts.items():
        script = made.path / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"#!/usr/bin/env bash\n{line}\n")
        script.chmod(0o755)
    return made.path


@pytest.mark.parametrize(
    ("argv", "learned", "home"), [([], "check out", None), (["a clone"], "a clone", "a home")]
)
def test_it_sets_up_demonstrates_the_named_repository_or_its_own_and_serves(
    tmp_path, checkout, clone, argv, learned, home
):
    assert clone.is_dir()
    where = None if home is None else tmp_path / home
    with subprocess.Popen(  # noqa: S603 - the script of this repository, no shell
        [checkout / "ops" / "try", *argv],
        env=environment(where),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        told = []
        for line in process.stdout:
            told.append(line.strip())
            if told[-1].startswith("http://"):
                process.send_signal(signal.SIGTERM)
        code = process.wait(SECONDS)

    assert code == 0
    assert f"2. Learn what {tmp_path / learned} tells those who work in it" in told
    assert told[-1].startswith("http://127.0.0.1:")
    assert (checkout / "ops" / "set-up").exists()
    assert ((where or checkout / ".try") / "tenants" / "demo" / "memory.sqlite").exists()
    assert (checkout / ".try").exists() == (where is None)
