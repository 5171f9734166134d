"""Citations checked against real history."""

from codeflow_memory.adapters.citations import check_citation, check_citations, make_anchor
from codeflow_memory.adapters.git import open_repository
from codeflow_memory.domain.citations import Anchor, Citation, Outcome, Result

LINES = [f"line {n} of this file\n" for n in range(1, 21)]
RANGE = Citation("src/app.py", 3, 5)
WHOLE = Citation("src/app.py")


def outcomes(g, first, now):
    """Anchor a range and the whole file at *first*, and check both at *now*."""
    repository = open_repository(g.path)
    cited = [(c, make_anchor(repository, c, first)) for c in (RANGE, WHOLE)]
    return check_citations(repository, cited, now)


def test_an_anchor_is_of_a_commit_and_not_of_the_working_tree(git):
    g = git()
    first = g.save({"src/app.py": "".join(LINES)})
    g.write({"src/app.py": "other\n"})
    repository = open_repository(g.path)

    assert make_anchor(repository, WHOLE, first) == Anchor(g("rev-parse", "HEAD:src/app.py"))
    assert make_anchor(repository, RANGE, first) is not None


def test_what_is_not_there_has_no_anchor(git):
    g = git()
    first = g.save({"src/app.py": "one\n"})
    (g.path / "link").symlink_to("src/app.py")
    second = g.save({})
    repository = open_repository(g.path)

    for citation in (
        RANGE,
        Citation("absent"),
        Citation("src"),
        Citation("../src/app.py"),
        Citation("link"),
        Citation("link", 1, 1),
        Citation("src/app.py", 1, 2),
    ):
        assert make_anchor(repository, citation, second) is None
    assert make_anchor(repository, WHOLE, "0" * 40) is None
    assert make_anchor(repository, WHOLE, first) is not None


def test_unchanged_moved_changed_and_missing(git):
    g = git()
    first = g.save({"src/app.py": "".join(LINES)})
    valid = g.save({"src/other.py": "1\n"})
    shifted = g.save({"src/app.py": "new\n" + "".join(LINES)})
    changed = g.save({"src/app.py": "".join([*LINES[:3], "other\n", *LINES[4:]])})
    g("reset", "-q", "--hard", first)
    g("mv", "src/app.py", "src/main.py")
    renamed = g.save({})
    g("rm", "-q", "src/main.py")
    gone = g.save({})

    assert outcomes(g, first, valid) == [Outcome(Result.VALID), Outcome(Result.VALID)]
    assert outcomes(g, first, shifted) == [
        Outcome(Result.MOVED, "file:src/app.py#L4-L6"),
        Outcome(Result.CHANGED),
    ]
    assert outcomes(g, first, changed) == [Outcome(Result.CHANGED), Outcome(Result.CHANGED)]
    assert outcomes(g, first, renamed) == [
        Outcome(Result.MOVED, "file:src/main.py#L3-L5"),
        Outcome(Result.MOVED, "file:src/main.py"),
    ]
    assert outcomes(g, first, gone) == [Outcome(Result.MISSING), Outcome(Result.MISSING)]


def test_an_unknown_commit_tells_nothing(git):
    g = git()
    first = g.save({"src/app.py": "".join(LINES)})
    repository = open_repository(g.path)
    taken = make_anchor(repository, RANGE, first)

    for commit in ("0" * 40, "", "--help"):
        assert check_citation(repository, RANGE, taken, commit) == Outcome(Result.UNKNOWN)


def test_a_repository_that_went_away_tells_nothing(git):
    g = git()
    first = g.save({"src/app.py": "".join(LINES)})
    repository = open_repository(g.path)
    (g.path / ".git").rename(g.path / "elsewhere")

    assert check_citation(repository, RANGE, None, first) == Outcome(Result.UNKNOWN)
