"""The restore drill: it really restores and queries, records how it ended, and leaves nothing."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SECONDS = 120


def run(*argv, home=None, code=0):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")}
    done = subprocess.run(  # noqa: S603 - the commands of this environment, no shell
        [sys.executable, "-I", *map(str, argv)],
        env=kept | ({} if home is None else {"CODEFLOW_HOME": str(home)}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done.stderr
    return done


@dataclass
class Site:
    """A home, a folder with a backup of it, and the key."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def backups(self) -> Path:
        return self.folder / "backups"

    @property
    def state(self) -> dict:
        return json.loads((self.home / "operations.json").read_text())

    def drill(self, *more, code=0, key="key"):
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        done = run(
            *(ROOT / "ops" / "restore-drill", "--backups", self.backups),
            *("--keyfile", self.folder / key, "--home", self.home),
            *("--scratch", scratch, "--bin", BIN, *more),
            code=code,
        )
        assert list(scratch.iterdir()) == []
        return done


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with one accepted memory, backed up twice."""
    folder = tmp_path_factory.mktemp("site")
    home, repository, backups = folder / "home", folder / "repository", folder / "backups"
    for place in (repository, backups):
        place.mkdir()
    (repository / "AGENTS.md").write_text("# Rules\n\n## Retries\n\nRetry idempotent requests.\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "one")):
        subprocess.run(["git", *command], cwd=repository, check=True)  # noqa: S603, S607 - git, no shell
    memory = ("-m", "codeflow_memory")
    learned = json.loads(run(*memory, "learn", repository, "--json", home=home).stdout)
    run(*memory, "review", "accept", learned["items"][0]["memory_id"], home=home)
    backup = ("-m", "codeflow_backup")
    for key in ("key", "other"):
        run(*backup, "keygen", folder / key)
    for name in ("1", "2"):
        to = ("--to", backups / f"{name}.cfmb", "--keyfile", folder / "key")
        run(*backup, "create", "--home", home, *to)
    return folder


@pytest.fixture
def site(made, tmp_path):
    shutil.copytree(made, tmp_path / "site")
    return Site(tmp_path / "site")


def test_the_newest_backup_is_restored_asked_and_put_on_record(site):
    done = site.drill()

    told = json.loads(done.stdout)
    assert (told["file"], told["outcome"], told["queries"]) == ("2.cfmb", "succeeded", 1)
    assert (told["tenants"], told["checks"] > 5) == (1, True)
    last = site.state["last_drill"]
    assert (last["file"], last["outcome"]) == ("2.cfmb", "succeeded")
    assert site.state["last_backup"]["file"] == "2.cfmb"
    assert (site.home / "operations.json").stat().st_mode & 0o777 == 0o600


def test_a_query_that_finds_nothing_fails_the_drill(site):
    done = site.drill("--query", "zyxwvut", code=1)

    assert "finds no memory" in done.stderr
    assert site.state["last_drill"]["outcome"] == "failed"


def test_a_damaged_backup_fails_it(site):
    newest = site.backups / "2.cfmb"
    data = bytearray(newest.read_bytes())
    data[-5_000] ^= 1
    newest.write_bytes(data)

    site.drill(code=1)

    assert site.state["last_drill"] | {"at": ""} == {
        "at": "",
        "file": "2.cfmb",
        "outcome": "failed",
    }


def test_a_backup_whose_head_is_damaged_is_not_passed_over_for_an_older_one(site):
    newest = site.backups / "2.cfmb"
    newest.write_bytes(b"\0" + newest.read_bytes()[1:])
    (site.backups / "notes.txt").write_text("mine")

    done = site.drill(code=1)

    assert "2.cfmb is damaged" in done.stderr
    assert site.state["last_drill"]["outcome"] == "failed"


def test_a_key_that_does_not_open_it_fails_it(site):
    site.drill(code=1, key="other")

    assert site.state["last_drill"]["outcome"] == "failed"


def test_a_folder_without_backups_fails_it(site):
    shutil.rmtree(site.backups)
    site.backups.mkdir()

    assert "no backup in" in site.drill(code=1).stderr
    assert site.state["last_drill"]["file"] == ""


def test_a_scratch_folder_that_is_not_there_fails_it_in_one_sentence(site):
    absent = site.folder / "absent"

    told = site.drill("--scratch", absent, code=1).stderr

    assert told == "restore-drill: no scratch folder: No such file or directory\n"
    assert site.state["last_drill"]["outcome"] == "failed"


def test_what_it_recorded_is_what_status_shows(site):
    site.drill(code=1, key="other")

    told = json.loads(run("-m", "codeflow_memory", "status", "--json", home=site.home).stdout)

    assert told["operations"]["last_drill"] == site.state["last_drill"]
    assert told["operations"]["last_backup"] == site.state["last_backup"]


def test_a_command_on_the_home_runs_as_its_user_with_its_key():
    """As root alone: nobody else becomes another user."""
    if os.geteuid() != 0 or shutil.which("runuser") is None:
        pytest.skip("only root runs commands as the service's user")
    done = subprocess.run(  # noqa: S603 - the script of this checkout
        ["/bin/sh", ROOT / "ops" / "on-home", "sh", "-c", "id -un; env"],
        env=os.environ | {"CODEFLOW_USER": "nobody", "CODEFLOW_HOME": "/srv/home", "LEAK": "x"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )

    who, *environment = done.stdout.splitlines()
    assert who == "nobody"
    assert "CODEFLOW_HOME=/srv/home" in environment
    assert "CREDENTIALS_DIRECTORY=/etc/codeflow-memory" in environment
    assert not any(line.startswith("LEAK=") for line in environment)
