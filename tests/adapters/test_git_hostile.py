"""Repositories that try to run a command, to reach out of their folder, or to hang the reader."""

import os
import time
from pathlib import Path

import pytest

from codeflow_memory.adapters.citations import check_citation, make_anchor
from codeflow_memory.adapters.git import Repository, open_repository
from codeflow_memory.adapters.guidance import read_guidance
from codeflow_memory.domain.citations import Citation, anchor
from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError, NotFoundError

from .hostile.configured import CONFIGURED
from .hostile.leading_out import LEADING_OUT
from .hostile.trap import PRIVATE

MOST_SECONDS = 4.0
"""Less than a child is given: nothing had to be stopped."""


def every_question(repository: Repository, commit: str) -> None:
    repository.facts()
    repository.head()
    repository.default_branch()
    for revision in ("HEAD", "main", "origin/main", commit, commit[:8], "1" * 40):
        repository.resolve(revision)
    repository.is_ancestor(commit, commit)
    repository.ancestors_among([commit, "1" * 40], commit)
    repository.contents([blob for _, blob in repository.tree(commit)] + ["1" * 40])
    repository.blob(commit, "src/app.py")
    repository.last_commit("src/app.py", commit)
    read_guidance(repository, commit)
    citation = Citation("src/app.py", 1, 2)
    check_citation(repository, citation, make_anchor(repository, citation, commit), commit)


@pytest.mark.parametrize("name", CONFIGURED)
def test_no_configuration_runs_a_command_or_changes_an_answer(trap, name):
    hooks = [trap.path / ".git" / "hooks", trap.outside / "hooks"]
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor"):
        for folder in hooks:
            folder.mkdir(exist_ok=True)
            (folder / hook).write_text(trap.script.read_text())
            (folder / hook).chmod(0o755)
    (trap.outside / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n")
    os.mkfifo(trap.outside / "pipe")
    trap.config(CONFIGURED[name])
    started = time.monotonic()

    repository = open_repository(trap.path)
    every_question(repository, trap.commit)

    assert not trap.canary.exists()
    assert time.monotonic() - started < MOST_SECONDS
    assert repository.facts().toplevel == trap.path
    assert repository.head().commit == trap.commit
    assert repository.blob(trap.commit, "src/app.py") == b"one\ntwo\nthree\n"
    assert len(read_guidance(repository, trap.commit).pieces) == 1


def test_all_of_it_at_once(trap):
    os.mkfifo(trap.outside / "pipe")
    trap.config("".join(CONFIGURED.values()))

    every_question(open_repository(trap.path), trap.commit)

    assert not trap.canary.exists()


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("fsmonitor", ("status",)),
        ("include", ("status",)),
        ("filters", ("add", "src/app.py")),
        ("external diff", ("diff",)),
        ("text conversion", ("diff",)),
        ("promisor", ("cat-file", "-p", "1" * 40)),
        ("promisor by upload-pack", ("cat-file", "-p", "1" * 40)),
        ("tracing", ("status",)),
    ],
)
def test_the_same_configuration_does_fool_plain_git(trap, name, plain):
    """Control: without it, the tests above could pass because their traps do not work."""
    (trap.outside / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n")
    (trap.path / "src/app.py").write_text("changed\n")
    # Trace targets are read from the system's and the user's configuration only.
    text = CONFIGURED[name]
    if name == "tracing":
        (trap.path / ".gitconfig").write_text(text.replace("$OUT", str(trap.outside)))
    trap.config(text)

    trap.git(*plain, status=-1)  # Whether the command itself succeeds does not matter.

    assert trap.canary.exists()


@pytest.mark.parametrize("name", LEADING_OUT)
def test_what_leads_out_is_refused(trap, git, name):
    victim = git("victim")
    victim.save({"secret": PRIVATE})
    LEADING_OUT[name](trap, victim.path)
    started = time.monotonic()

    with pytest.raises((InvalidRequestError, NotFoundError)) as refusal:
        every_question(open_repository(trap.path), trap.commit)

    assert str(trap.outside.parent) not in str(refusal.value)
    assert time.monotonic() - started < MOST_SECONDS


def test_an_object_of_another_repository_is_not_reached(trap, git):
    victim = git("victim")
    victim.save({"secret": PRIVATE})
    blob = victim("rev-parse", "HEAD:secret")

    assert open_repository(trap.path).contents([blob]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "ref: refs/heads/../../../outside/secret",
        "ref: ../outside/secret",
        "ref: /etc/passwd",
        "ref: HEAD",
    ],
)
def test_a_ref_that_points_out_is_refused(trap, text):
    (trap.path / ".git/HEAD").write_text(f"{text}\n")

    with pytest.raises(InvalidRequestError):
        open_repository(trap.path).head()


@pytest.mark.parametrize(
    "content", ["", "x" * 50, "ref:", "\0", "é" * 20, "0" * 40, "f" * 40, "--help", "a" * 41]
)
def test_a_ref_of_garbage_is_no_commit(trap, content):
    (trap.path / ".git/refs/heads/main").write_text(f"{content}\n")
    repository = open_repository(trap.path)

    if content == "ref:":
        with pytest.raises(InvalidRequestError):
            repository.resolve("main")
    else:
        assert repository.resolve("main") is None


def test_replacements_and_grafts_do_not_change_what_a_hash_says(trap):
    other = trap.git("commit-tree", "-m", "x", f"{trap.commit}^{{tree}}")
    second = trap.git.save({"src/app.py": "changed\n"})
    trap.git("replace", trap.commit, other)
    (trap.path / ".git/info").mkdir(exist_ok=True)
    (trap.path / ".git/info/grafts").write_text(f"{second}\n")
    repository = open_repository(trap.path)

    assert repository.is_ancestor(trap.commit, second) is True
    assert repository.facts().root_commits == (trap.commit,)


@pytest.mark.parametrize("config", ["[core\n", "\0\0", '[a]\n\tb = "\n', "=\n"])
def test_a_configuration_that_does_not_parse_is_refused(trap, config):
    (trap.path / ".git/config").write_text(config)

    with pytest.raises(InvalidRequestError):
        open_repository(trap.path)


@pytest.mark.parametrize("setting", ["objectFormat = sha256", "refStorage = reftable"])
def test_kinds_that_are_not_read_are_named(trap, setting):
    trap.config(f"[extensions]\n\t{setting}\n")

    with pytest.raises(InvalidRequestError, match="only repositories"):
        open_repository(trap.path)


@pytest.mark.parametrize("name", ["promisor", "promisor by upload-pack"])
def test_what_a_partial_clone_left_out_is_not_fetched(trap, name):
    blob = trap.git("rev-parse", "HEAD:src/app.py")
    (trap.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    trap.config(CONFIGURED[name])
    repository = open_repository(trap.path)
    citation = Citation("src/app.py", 1, 2)
    taken = anchor(b"one\nother\n", 1, 2)

    every_question(repository, trap.commit)

    assert not trap.canary.exists()
    assert repository.blob_hash(trap.commit, "src/app.py") == blob
    assert repository.blob(trap.commit, "src/app.py") is None
    assert check_citation(repository, citation, taken, trap.commit).result == "unknown"


def test_damaged_objects_are_an_error_and_not_an_answer(trap):
    tree = trap.git("rev-parse", "HEAD^{tree}")
    for path in (trap.path / ".git/objects").glob("??/*"):
        if path.parent.name + path.name == tree:
            path.chmod(0o600)
            path.write_bytes(b"damage")
    repository = open_repository(trap.path)

    with pytest.raises(CodeflowError):
        repository.tree(trap.commit)
    assert check_citation(repository, Citation("src/app.py"), None, trap.commit).result == "unknown"


def test_a_repository_of_another_owner_runs_nothing(trap):
    """Git refuses it for fear of its configuration, which is not read here."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    trap.config(CONFIGURED["fsmonitor"])
    for folder, _, files in os.walk(trap.path):
        os.chown(folder, 12345, 12345)
        for file in files:
            os.chown(Path(folder) / file, 12345, 12345, follow_symlinks=False)

    every_question(open_repository(trap.path), trap.commit)

    assert not trap.canary.exists()
