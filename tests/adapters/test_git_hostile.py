"""Repositories that try to run a command, to reach out of their folder, or to hang the reader."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeflow_memory.adapters.citations import check_citation, make_anchor
from codeflow_memory.adapters.git import Repository, open_repository
from codeflow_memory.adapters.guidance import read_guidance
from codeflow_memory.domain.citations import Citation, anchor
from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError, NotFoundError

GUIDANCE = "# Rules\n\n## Tests\n\nRun all tests before a commit.\n"
PRIVATE = "what is in another folder"
MOST_SECONDS = 4.0
"""Less than a child is given: nothing had to be stopped."""


@dataclass(frozen=True)
class Trap:
    """A repository with one commit, and a script that leaves a canary behind."""

    git: Callable[..., str]
    path: Path
    script: Path
    canary: Path
    outside: Path
    commit: str

    def config(self, text: str) -> None:
        with (self.path / ".git/config").open("a") as file:
            file.write(text.replace("$RUN", str(self.script)).replace("$OUT", str(self.outside)))


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


CONFIGURED = {
    "fsmonitor": "[core]\n\tfsmonitor = $RUN\n",
    "hooks path": "[core]\n\thooksPath = $OUT/hooks\n",
    "ssh command": '[core]\n\tsshCommand = $RUN\n[remote "origin"]\n\turl = ssh://h/x\n',
    "pager": "[core]\n\tpager = $RUN\n[pager]\n\tlog = $RUN\n\trev-list = $RUN\n\tls-tree = $RUN\n",
    "editor": "[core]\n\teditor = $RUN\n[sequence]\n\teditor = $RUN\n",
    "askpass": "[core]\n\taskPass = $RUN\n[credential]\n\thelper = !$RUN\n",
    "git proxy": "[core]\n\tgitProxy = $RUN\n",
    "filters": '[filter "evil"]\n\tclean = $RUN\n\tsmudge = $RUN\n\tprocess = $RUN\n\trequired\n',
    "text conversion": '[diff "evil"]\n\ttextconv = $RUN\n\tcommand = $RUN\n',
    "external diff": "[diff]\n\texternal = $RUN\n",
    "merge driver": '[merge "evil"]\n\tdriver = $RUN\n',
    "diff tools": "[difftool]\n\tprompt = false\n[mergetool]\n\tcmd = $RUN\n",
    "signatures": "[gpg]\n\tprogram = $RUN\n[log]\n\tshowSignature = true\n",
    "ssh signatures": '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = $RUN\n',
    "aliases": "[alias]\n"
    + "".join(f"\t{c} = !$RUN\n" for c in ["rev-parse", "rev-list", "ls-tree", "config"]),
    "promisor": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n"
    '[remote "evil"]\n\turl = ext::$RUN\n\tpromisor = true\n[protocol]\n\tallow = always\n',
    "promisor by upload-pack": "[core]\n\trepositoryformatversion = 1\n[extensions]\n"
    '\tpartialClone = evil\n[remote "evil"]\n\turl = .\n\tuploadpack = $RUN\n\tpromisor = true\n',
    "pack objects hook": "[uploadpack]\n\tpackObjectsHook = $RUN\n",
    "alternate refs": "[core]\n\talternateRefsCommand = $RUN\n",
    "alternate object": "[core]\n\tworktree = $OUT\n\tattributesFile = $OUT/a\n",
    "include": "[include]\n\tpath = $OUT/config\n",
    "conditional include": '[includeIf "gitdir:/"]\n\tpath = $OUT/config\n',
    "include of a pipe": "[include]\n\tpath = $OUT/pipe\n",
    "trailers": '[trailer "x"]\n\tcommand = $RUN\n\tcmd = $RUN\n',
    "submodule update": '[submodule "x"]\n\tupdate = !$RUN\n\tactive = true\n',
    "tracing": "[trace2]\n\tnormalTarget = $OUT/canary\n\teventTarget = $OUT/canary\n",
    "maintenance": "[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n\trecentObjectsHook = $RUN\n",
    "safe directory": "[safe]\n\tdirectory = *\n\tbareRepository = all\n",
    "precious": "[core]\n\tbare = true\n\tignoreCase = true\n\tprotectNTFS = false\n",
    "odd values": "[core]\n\tbigFileThreshold = 0\n\tcompression = 99\n\tabbrev = 1\n",
}


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


def link_file(path: Path, target: Path) -> None:
    if path.exists():
        path.unlink()
    path.symlink_to(target)


Spring = Callable[[Trap, Path], None]


def move_and_link(name: str) -> Spring:
    def spring(trap: Trap, _victim: Path) -> None:
        (trap.path / ".git" / name).rename(trap.outside / "moved")
        (trap.path / ".git" / name).symlink_to(trap.outside / "moved")

    return spring


def alternates(text: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        path = trap.path / ".git/objects/info/alternates"
        path.write_text(text.replace("$VICTIM", str(victim)))

    return spring


def replace_git(text: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        (trap.path / ".git").rename(trap.path / "old")
        (trap.path / ".git").write_text(text.replace("$VICTIM", str(victim)))

    return spring


def link(name: str, target: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        link_file(trap.path / ".git" / name, Path(target.replace("$VICTIM", str(victim))))

    return spring


def link_git(trap: Trap, victim: Path) -> None:
    (trap.path / ".git").rename(trap.path / "old")
    (trap.path / ".git").symlink_to(victim / ".git")


def common(trap: Trap, victim: Path) -> None:
    (trap.path / ".git/commondir").write_text(f"{victim}/.git\n")


def bare_common(trap: Trap, victim: Path) -> None:
    bare = trap.path / "bare"
    (trap.path / ".git").rename(bare)
    (bare / "commondir").write_text(f"{victim}/.git\n")
    bare.rename(trap.path / ".git")


def fan_out(trap: Trap, victim: Path) -> None:
    folder = next((victim / ".git/objects").glob("??"))
    name = next(
        n for n in map("{:02x}".format, range(256)) if not (trap.path / ".git/objects" / n).exists()
    )
    (trap.path / ".git/objects" / name).symlink_to(folder)


def loose(trap: Trap, victim: Path) -> None:
    source = next((victim / ".git/objects").glob("??/*"))
    target = trap.path / ".git/objects" / source.parent.name / source.name
    target.parent.mkdir(exist_ok=True)
    link_file(target, source)


def worktree_of_another(trap: Trap, victim: Path) -> None:
    (victim / ".git/worktrees/x").mkdir(parents=True)
    (victim / ".git/worktrees/x/commondir").write_text("../..\n")
    (victim / ".git/worktrees/x/gitdir").write_text("/elsewhere/.git\n")
    (victim / ".git/worktrees/x/HEAD").write_text("ref: refs/heads/main\n")
    replace_git("gitdir: $VICTIM/.git/worktrees/x\n")(trap, victim)


def pack_pipe(trap: Trap, _victim: Path) -> None:
    os.mkfifo(trap.path / ".git/objects/pack/pack-x.idx")


def head_pipe(trap: Trap, _victim: Path) -> None:
    (trap.path / ".git/packed-refs").unlink(missing_ok=True)
    os.mkfifo(trap.path / ".git/packed-refs")


LEADING_OUT = {
    "objects": move_and_link("objects"),
    "packs": move_and_link("objects/pack"),
    "object info": move_and_link("objects/info"),
    "branches": move_and_link("refs/heads"),
    "config": move_and_link("config"),
    "absolute alternate": alternates("$VICTIM/.git/objects\n"),
    "relative alternate": alternates("../../../victim/.git/objects\n"),
    "quoted alternate": alternates("../info/../../../victim/.git/objects\n"),
    "alternate device": alternates("/dev\n"),
    "alternate of itself": alternates("../objects\n"),
    "git file": replace_git("gitdir: $VICTIM/.git\n"),
    "relative git file": replace_git("gitdir: ../victim/.git\n"),
    "git file without words": replace_git(""),
    "git file of text": replace_git("hello\n"),
    "git file to nowhere": replace_git("gitdir: nowhere\n"),
    "git file to a device": replace_git("gitdir: /dev/zero\n"),
    "git link": link_git,
    "common directory": common,
    "bare common directory": bare_common,
    "worktree of another": worktree_of_another,
    "packed refs": link("packed-refs", "$VICTIM/.git/config"),
    "head": link("HEAD", "$VICTIM/.git/HEAD"),
    "head loop": link("HEAD", "HEAD"),
    "shallow": link("shallow", "/dev/zero"),
    "fan-out folder": fan_out,
    "loose object": loose,
    "pipe among packs": pack_pipe,
    "pipe of refs": head_pipe,
}
"""Ways to make a part of a git directory lead to a foreign repository or file."""


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
