"""Questions to real repositories: what is found, what is refused, what cannot be told."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeflow_memory.adapters import git as adapter
from codeflow_memory.adapters import git_process
from codeflow_memory.adapters.git import Head, open_repository
from codeflow_memory.adapters.git_refs import is_ref_name
from codeflow_memory.domain.errors import (
    DeadlineExceededError,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
)

ABSENT = "0" * 40


def test_a_folder_in_no_repository_is_not_found(tmp_path):
    for path in (tmp_path, tmp_path / "absent", Path("/proc/self/mem"), tmp_path / ("x" * 300)):
        with pytest.raises(NotFoundError) as error:
            open_repository(path)
        assert str(path.parent) not in str(error.value)


@pytest.mark.parametrize("path", ["repo", "./repo", "~/repo", "--output=x", "/re\0po", "file:///r"])
def test_a_path_must_be_absolute(path):
    with pytest.raises(InvalidRequestError):
        open_repository(Path(path))


def test_an_empty_repository_has_nothing_to_tell(git):
    repository = open_repository(git().path)

    assert repository.head() == Head(None, "main")
    assert repository.default_branch() is None
    assert repository.facts().root_commits == ()
    assert repository.resolve("HEAD") is None
    assert repository.resolve("main") is None


def test_facts_are_the_same_from_a_folder_a_worktree_and_a_clone(git, tmp_path):
    g = git()
    root = g.save({"a/b.txt": "1\n"})
    g.save({"a/b.txt": "2\n"})
    g("remote", "add", "origin", "https://example.org/acme/app.git")
    g("worktree", "add", "-q", "-b", "topic", tmp_path / "tree")
    g("clone", "-q", g.path, tmp_path / "clone")

    main = open_repository(g.path / "a").facts()
    tree = open_repository(tmp_path / "tree").facts()
    clone = open_repository(tmp_path / "clone").facts()

    assert main.toplevel == g.path
    assert tree.toplevel == tmp_path / "tree"
    assert main.common_dir == tree.common_dir == g.path / ".git"
    assert main.remote == tree.remote == "https://example.org/acme/app.git"
    assert main.root_commits == tree.root_commits == clone.root_commits == (root,)
    assert clone.remote == str(g.path)


def test_a_worktree_has_its_own_head(git, tmp_path):
    g = git()
    first = g.save({"a": "1"})
    g("worktree", "add", "-q", "-b", "topic", tmp_path / "tree")
    second = g.save({"a": "2"})

    assert open_repository(g.path).head() == Head(second, "main")
    assert open_repository(tmp_path / "tree").head() == Head(first, "topic")
    assert open_repository(tmp_path / "tree").default_branch() == second


def test_a_detached_head_has_no_branch(git):
    g = git()
    first = g.save({"a": "1"})
    g.save({"a": "2"})
    g("checkout", "-q", first)

    assert open_repository(g.path).head() == Head(first, None)


def test_bare_packed_and_separate_repositories_are_read(git, tmp_path):
    g = git()
    commit = g.save({"a.txt": "one\n"})
    g("tag", "-a", "-m", "x", "v1")
    g("gc", "-q")
    g("pack-refs", "--all")
    g("clone", "-q", "--bare", g.path, tmp_path / "bare.git")

    for path in (g.path, g.path / ".git", tmp_path / "bare.git"):
        repository = open_repository(path)
        assert repository.resolve("v1") == commit
        assert repository.resolve("main") == commit
        assert repository.blob(commit, "a.txt") == b"one\n"
        assert repository.default_branch() == commit
    assert open_repository(g.path / ".git").facts().toplevel == g.path
    assert open_repository(tmp_path / "bare.git").facts().toplevel == tmp_path / "bare.git"


def test_a_submodule_is_a_repository_of_its_own(git):
    inner, outer = git("inner"), git("outer")
    commit = inner.save({"in.txt": "in\n"})
    outer.save({"out.txt": "out\n"})
    outer("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "sub")
    outer.save({})

    submodule = open_repository(outer.path / "sub")

    assert submodule.facts().toplevel == outer.path / "sub"
    assert submodule.blob(commit, "in.txt") == b"in\n"
    assert open_repository(outer.path).blob(outer("rev-parse", "HEAD"), "sub") is None


def test_a_repository_stays_in_the_root_it_was_listed_under(git):
    g = git("outer")
    g.save({"listed/a": "1"})
    inner = git("outer/listed/inner")
    inner.save({"a": "1"})

    assert open_repository(inner.path, within=g.path / "listed").facts().toplevel == inner.path
    with pytest.raises(NotFoundError):
        open_repository(g.path / "listed", within=g.path / "listed")
    with pytest.raises(NotFoundError):
        open_repository(g.path, within=inner.path)


def test_a_worktree_outside_of_the_listed_root_is_refused(git, tmp_path):
    g = git("main")
    g.save({"a": "1"})
    g("worktree", "add", "-q", "-b", "topic", tmp_path / "listed" / "tree")

    with pytest.raises(InvalidRequestError):
        open_repository(tmp_path / "listed" / "tree", within=tmp_path / "listed")


def test_revisions_are_names_and_hashes_and_nothing_else(git):
    g = git()
    first = g.save({"a": "1"})
    second = g.save({"a": "2"})
    g("branch", "topic/one", first)
    g("tag", "v1", first)
    g("update-ref", "refs/remotes/origin/main", first)
    repository = open_repository(g.path)

    for revision, expected in {
        "HEAD": second,
        "main": second,
        "refs/heads/main": second,
        "heads/main": second,
        "topic/one": first,
        "v1": first,
        "origin/main": first,
        first: first,
        first[:10]: first,
    }.items():
        assert repository.resolve(revision) == expected
    tree = g("rev-parse", "HEAD^{tree}")
    for revision in (
        *("", "-", "--help", "--output=/x", "HEAD~1", "HEAD^", "HEAD@{1}", "main..topic", ":/x"),
        *("../config", "refs/../config", "config", "/etc/passwd", "a b", "ma*n", "\0", "main\n"),
        *("refs/heads", "@", "@{u}", "HEAD:a", first[:6], first.upper(), ABSENT, tree, "x" * 999),
    ):
        assert repository.resolve(revision) is None, revision


@given(st.text(max_size=30))
@settings(max_examples=150)
def test_no_ref_name_leaves_the_git_directory(name):
    if is_ref_name(name):
        assert not name.startswith(("/", "-", "."))
        assert ".." not in name
        assert "\0" not in name


def test_ancestry(git):
    g = git()
    first = g.save({"a": "1"})
    second = g.save({"a": "2"})
    g("checkout", "-q", "-b", "topic", first)
    other = g.save({"a": "3"})
    repository = open_repository(g.path)

    assert repository.is_ancestor(first, second) is True
    assert repository.is_ancestor(first, first) is True
    assert repository.is_ancestor(second, first) is False
    assert repository.is_ancestor(other, second) is False
    assert repository.is_ancestor(ABSENT, second) is None
    assert repository.is_ancestor(first, ABSENT) is None
    assert repository.is_ancestor("main", second) is None
    assert repository.ancestors_among([first, second, other, ABSENT, "x"], second) == {
        first,
        second,
    }
    assert repository.ancestors_among([], second) == frozenset()
    assert repository.ancestors_among([ABSENT], second) == frozenset()
    assert repository.ancestors_among([first], ABSENT) is None
    assert repository.ancestors_among([first], "main") is None


def test_wrong_clocks_do_not_change_ancestry(git):
    g = git()
    commits = []
    for n, time in enumerate([9_000, 10, 8_000, 20, 7_000, 30, 6_000, 40, 5_000, 50]):
        g._time = time * 100_000
        commits.append(g.save({"a": str(n)}))
    repository = open_repository(g.path)

    for n, commit in enumerate(commits):
        assert repository.ancestors_among(commits, commit) == set(commits[: n + 1])


def test_a_shallow_clone_admits_what_it_cannot_know(git, tmp_path):
    g = git()
    first = g.save({"a": "1"})
    second = g.save({"a": "2"})
    third = g.save({"a": "3"})
    g("clone", "-q", "--depth", "2", f"file://{g.path}", tmp_path / "shallow")
    repository = open_repository(tmp_path / "shallow")

    assert repository.facts().root_commits == ()
    assert repository.is_ancestor(second, third) is True
    assert repository.is_ancestor(first, third) is None
    assert repository.is_ancestor(third, second) is None
    assert repository.ancestors_among([second], third) == {second}
    assert repository.ancestors_among([first, second], third) is None
    assert repository.ancestors_among([first], third) is None


def test_several_roots_come_oldest_first(git):
    g = git()
    first = g.save({"a": "1"})
    g("checkout", "-q", "--orphan", "other")
    second = g.save({"b": "1"})
    g("checkout", "-q", "main")
    g("merge", "-q", "--allow-unrelated-histories", "-m", "m", "other")

    assert open_repository(g.path).facts().root_commits == (first, second)


def test_the_default_branch_is_what_the_remote_says_it_is(git, tmp_path):
    g = git()
    g("checkout", "-q", "-b", "trunk")
    first = g.save({"a": "1"})
    g("clone", "-q", g.path, tmp_path / "clone")
    clone = open_repository(tmp_path / "clone")
    g("branch", "main", first)
    second = g.save({"a": "2"})

    assert clone.default_branch() == first
    assert open_repository(g.path).default_branch() == first
    g("branch", "-D", "main")
    assert open_repository(g.path).default_branch() == second


def test_files_of_a_commit(git):
    g = git()
    odd = {"ü/ä ö.txt": "x\n", "-n": "x\n", ":(glob)*": "y\n", "a*b": "z\n", "tab\there": "t\n"}
    commit = g.save({"src/a.py": "one\n", "empty": "", "run.sh": "#!/bin/sh\n", **odd})
    (g.path / "run.sh").chmod(0o755)
    (g.path / "link").symlink_to("/etc/passwd")
    (g.path / "folder").symlink_to("src")
    commit = g.save({})
    repository = open_repository(g.path)

    listed = dict(repository.tree(commit))

    assert set(listed) == {"src/a.py", "empty", "run.sh", *odd}
    assert repository.blob(commit, "empty") == b""
    for path, blob in listed.items():
        assert repository.blob_hash(commit, path) == blob
        assert repository.blob(commit, path) == (g.path / path).read_bytes()
    for path in ("link", "folder/a.py", "src", "absent", "*", "src/*", "A*b", ""):
        assert repository.blob(commit, path) is None
        assert repository.blob_hash(commit, path) is None
    for path in ("../a", "/src/a.py", "src/../src/a.py", "./src/a.py", "src//a.py", ".git/config"):
        assert repository.blob(commit, path) is None
    for commit_name in (ABSENT, "HEAD", "main", listed["empty"], "--help"):
        assert repository.tree(commit_name) == []
        assert repository.blob(commit_name, "src/a.py") is None


def test_paths_that_no_citation_can_name_are_not_listed(git):
    g = git()
    (g.path / "plain").write_text("x")
    (g.path / "back\\slash").write_text("x")
    (g.path / "new\nline").write_text("x")
    with open(bytes(g.path) + b"/latin-\xe9", "w", encoding="ascii") as file:  # noqa: PTH123 - a name that is not UTF-8
        file.write("x")

    assert [path for path, _ in open_repository(g.path).tree(g.save({}))] == ["plain"]


def test_only_committed_content_is_seen(git):
    g = git()
    commit = g.save({"a": "committed"})
    g.write({"a": "changed", "b": "new"})
    g("add", "b")
    repository = open_repository(g.path)

    assert repository.blob(commit, "a") == b"committed"
    assert repository.blob(commit, "b") is None


def test_a_long_blob_is_known_and_not_read(git, monkeypatch):
    monkeypatch.setattr(adapter, "MAX_BLOB_BYTES", 10)
    g = git()
    commit = g.save({"long": "x" * 11, "short": "x" * 10})
    repository = open_repository(g.path)

    assert repository.blob(commit, "long") is None
    assert repository.blob_hash(commit, "long") is not None
    assert repository.blob(commit, "short") == b"x" * 10


def test_many_contents_come_at_once_up_to_a_bound(git):
    g = git()
    commit = g.save({f"f{n}": f"{n}" * 10 + "\n\n" for n in range(10)})
    repository = open_repository(g.path)
    blobs = [blob for _, blob in repository.tree(commit)]

    found = repository.contents([*blobs, ABSENT, commit, "HEAD", *blobs])

    assert found == {b: f"{n}".encode() * 10 + b"\n\n" for n, b in enumerate(blobs)}
    assert list(repository.contents(blobs, max_bytes=30)) == blobs[:2]
    assert repository.contents([]) == {}


def test_too_many_files_are_refused(git, monkeypatch):
    monkeypatch.setattr(adapter, "MAX_FILES", 2)
    g = git()
    commit = g.save({"a": "", "b": "", "c": ""})

    with pytest.raises(LimitExceededError):
        open_repository(g.path).tree(commit)


def test_the_last_commit_of_a_path(git):
    g = git()
    first = g.save({"a": "1", "b": "1"})
    second = g.save({"b": "2"})
    repository = open_repository(g.path)

    assert repository.last_commit("a", second) == first
    assert repository.last_commit("b", second) == second
    assert repository.last_commit("b", first) == first
    assert repository.last_commit("absent", second) is None
    assert repository.last_commit("*", second) is None
    assert repository.last_commit("../b", second) is None
    assert repository.last_commit("a", ABSENT) is None
    assert repository.last_commit("a", "HEAD") is None


def test_a_missing_git_program_is_said(git, monkeypatch):
    g = git()
    commit = g.save({"a": "1"})
    repository = open_repository(g.path)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(InvalidRequestError, match="git is not installed"):
        repository.resolve(commit)
    with pytest.raises(InvalidRequestError, match="git is not installed"):
        open_repository(g.path)


def slow(folder: Path, script: str) -> str:
    """Make a stand-in for git that misbehaves."""
    program = folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program.parent)


def test_a_child_that_hangs_is_stopped_with_its_own_children(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", slow(tmp_path, "/bin/sleep 60 & /bin/sleep 60"))

    with pytest.raises(DeadlineExceededError):
        git_process.ask(["x"], timeout_seconds=0.2)


def test_a_child_that_talks_for_ever_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", slow(tmp_path, "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done"))

    with pytest.raises(LimitExceededError):
        git_process.ask(["x"], max_bytes=10_000)


def test_a_child_that_does_not_listen_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", slow(tmp_path, "exit 3"))

    assert git_process.ask(["x"], given=b"x" * 1_000_000) == git_process.Answer(3, b"")


def test_a_child_gets_nothing_of_our_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", slow(tmp_path, "/usr/bin/env"))
    monkeypatch.setenv("GIT_SSH_COMMAND", "touch x")
    monkeypatch.setenv("GIT_INDEX_FILE", "/x")
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/x")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("CODEFLOW_TOKEN", "secret")

    lines = git_process.ask(["x"]).output.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}

    assert {
        "GIT_SSH_COMMAND=false",
        "GIT_ALLOW_PROTOCOL=",
        "GIT_CONFIG_NOSYSTEM=1",
        f"GIT_CONFIG_SYSTEM={os.devnull}",
        f"GIT_CONFIG_GLOBAL={os.devnull}",
        "GIT_ATTR_NOSYSTEM=1",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
    } <= set(lines)
    assert not names & {
        *("CODEFLOW_TOKEN", "LD_PRELOAD", "GIT_INDEX_FILE", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
    }


_PROJECTS = st.lists(st.sampled_from(["commit", "branch", "merge", "checkout"]), max_size=6)


@given(steps=_PROJECTS)
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_ancestry_agrees_with_git(git, tmp_path_factory, steps):
    g = git(tmp_path_factory.mktemp("history").name)
    commits = [g.save({"f0": "0"})]
    for n, step in enumerate(steps, start=1):
        if step == "branch":
            g("checkout", "-q", "-b", f"b{n}", commits[0])
        elif step == "merge":
            g("merge", "-q", "-s", "ours", "-m", "m", "main", status=-1)
        elif step == "checkout":
            g("checkout", "-q", "main")
        commits.append(g.save({f"f{n}": str(n)}))
    repository = open_repository(g.path)

    for head in commits:
        contained = set(g("rev-list", head).split()) & set(commits)
        assert repository.ancestors_among(commits, head) == contained
