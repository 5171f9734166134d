"""Which repository and project are meant: what is named and not there is not found."""

import pytest

UNKNOWN = [
    ["review", "--repo", "gone"],
    ["review", "--project", "gone"],
    ["review", "list", "--repo", "gone", "--project", "sh-p-front"],
    ["memory", "list", "--repo", "gone"],
    ["memory", "list", "--project", "gone"],
    ["memory", "search", "tests", "--repo", "gone"],
    ["memory", "search", "tests", "--project", "gone"],
    ["project", "list", "--repo", "gone"],
    ["project", "show", "gone"],
    ["project", "show", "--repo", "gone"],
    ["repo", "show", "gone"],
    ["repo", "settings", "gone"],
    *(
        ["export", "--format", form, *where]
        for form in ("markdown", "agents-md", "jsonl")
        for where in (["--repo", "gone"], ["--project", "gone"])
    ),
]


@pytest.fixture
def other(cli, repository, tmp_path):
    """Return a second repository that was learned from, beside the first."""
    cli("learn", repository.path).ok()
    made = type(repository)(tmp_path / "other")
    made.commit({"AGENTS.md": "# Rules\n\n## Indexes\n\nName each index for its use.\n"})
    cli("learn", made.path).ok()
    return made


@pytest.mark.parametrize("argv", UNKNOWN, ids=" ".join)
def test_what_is_named_and_unknown_is_not_found(cli, repository, argv):
    cli("learn", repository.path).ok()

    done = cli(*argv, cwd=repository.path)

    assert (done.code, done.out) == (4, "")
    assert done.err.endswith("[not-found]\n")


def test_a_repository_that_is_not_registered_is_not_found(cli, other, tmp_path):
    fresh = type(other)(tmp_path / "fresh")
    fresh.commit({"a.txt": "a"})

    for argv in (["review"], ["export"], ["memory", "list"], ["project", "list"]):
        done = cli(*argv, "--repo", fresh.path)
        assert (done.code, done.out) == (4, ""), argv


def test_a_named_repository_is_the_only_one_that_is_answered_for(cli, other):
    listed = cli("review", "--repo", other.path, "--json").ok().json["items"]
    assert [row["title"] for row in listed] == ["Indexes"]

    out = cli("export", "--format", "jsonl", "--repo", ".", cwd=other.path).ok().out

    assert ("Indexes" in out, "Four spaces" in out) == (True, False)
    everything = cli("export", "--format", "jsonl", cwd=other.path).ok().out
    assert "Indexes" in everything
    assert "Four spaces" in everything
    by_project = cli("export", "--format", "jsonl", "--project", "other").ok().out
    assert ("Indexes" in by_project, "Four spaces" in by_project) == (True, False)


def test_proposals_of_an_import_go_where_a_path_says(cli, repository, other, tmp_path):
    file = tmp_path / "out.jsonl"
    file.write_text(cli("export", "--format", "jsonl", "--repo", other.path).ok().out, "utf-8")
    into = ["import-jsonl", file, "--project", "sh-p-front", "--json"]

    assert cli(*into, "--repo", "gone").code == 4
    assert cli(*into, "--repo", ".", cwd=repository.path).ok().json["proposed"] in {0, 1}


def test_a_project_is_shown_with_its_limits(cli, repository):
    cli("learn", repository.path).ok()

    for argv in (["project", "show"], ["project", "show", "sh-p-front"]):
        shown = cli(*argv, cwd=repository.path).ok()
        assert "project_entries (project)" in shown.out
        assert " of 5000" in shown.out
    by_id = cli("project", "list", "--json").json["items"][0]["id"]
    assert cli("project", "show", by_id, "--json").ok().json["limits"] != []
