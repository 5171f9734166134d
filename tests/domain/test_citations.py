"""Whether a citation still says what it said."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.citations import Citation, Outcome, Result, Tree, anchor, check

LINES = [f"line {n} of the first file" for n in range(1, 11)]
ANOTHER = [f"words {n} which stand elsewhere" for n in range(1, 6)]


def text(lines):
    return "".join(f"{line}\n" for line in lines).encode()


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def tree(**files):
    """Build a tree; ``a_py`` names ``a.py``, and two underscores a slash."""
    named = {k.replace("__", "/").replace("_", "."): v for k, v in files.items()}
    contents = {blob(v): v for v in named.values()}
    return Tree(
        {path: blob(v) for path, v in named.items()},
        lambda blobs: {b: contents[b] for b in blobs if b in contents},
    )


CITED = Citation("a.py", 3, 5)
TAKEN = anchor(text(LINES), 3, 5)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 2), (1, 11), (11, 11), (-1, -1)])
def test_a_range_outside_of_the_file_has_no_anchor(first, last):
    assert anchor(text(LINES), first, last) is None


def test_the_blob_hash_is_the_one_of_git():
    taken = anchor(b"hello\n")

    assert taken is not None
    assert taken.blob_hash == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_without_an_anchor_only_absence_can_be_told():
    assert check(CITED, None, tree(b_py=b"x\n")) == Outcome(Result.MISSING)
    assert check(CITED, None, tree(a_py=b"x\n")) == Outcome(Result.UNKNOWN)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (tree(a_py=text(LINES)), Outcome(Result.VALID)),
        (tree(a_py=text([*LINES, "more"])), Outcome(Result.VALID)),
        (tree(a_py=text(LINES).replace(b"\n", b"\r\n")), Outcome(Result.VALID)),
        (tree(a_py=text(["new", *LINES])), Outcome(Result.MOVED, "file:a.py#L4-L6")),
        (tree(a_py=text(LINES[2:])), Outcome(Result.MOVED, "file:a.py#L1-L3")),
        (tree(a_py=text([*LINES[:3], "other", *LINES[4:]])), Outcome(Result.CHANGED)),
        (tree(a_py=text(LINES[:4])), Outcome(Result.CHANGED)),
        (tree(b_py=text(ANOTHER)), Outcome(Result.MISSING)),
        (tree(src__a_py=text(LINES)), Outcome(Result.MOVED, "file:src/a.py#L3-L5")),
        (
            tree(a_py=b"x\n", b_py=text([*ANOTHER, *LINES[2:5]])),
            Outcome(Result.MOVED, "file:b.py#L6-L8"),
        ),
    ],
)
def test_lines(now, expected):
    assert check(CITED, TAKEN, now) == expected


def test_a_file_of_the_same_name_is_asked_before_others():
    now = tree(b_py=text([*LINES, "z"]), src__a_py=text(["x", *LINES]))

    assert check(CITED, TAKEN, now) == Outcome(Result.MOVED, "file:src/a.py#L4-L6")


def test_lines_that_stand_twice_have_moved_to_the_nearer_place():
    content = text([*LINES[2:5], *["x"] * 20, *LINES[2:5], "y", *LINES[2:5]])

    assert check(Citation("a.py", 22, 24), TAKEN, tree(a_py=content)) == Outcome(
        Result.MOVED, "file:a.py#L24-L26"
    )


def test_a_line_that_says_nothing_has_not_moved_to_another_file():
    taken = anchor(b"if x:\n}\n", 2, 2)

    assert check(Citation("a.py", 2, 2), taken, tree(b_py=b"}\n")) == Outcome(Result.MISSING)
    assert check(Citation("a.py", 2, 2), taken, tree(a_py=b"x\ny\n}\n")) == Outcome(Result.CHANGED)


def test_a_blank_line_in_its_place_is_valid():
    taken = anchor(b"a\n\nb\n", 2, 2)

    assert check(Citation("a.py", 2, 2), taken, tree(a_py=b"c\n\nd\n")) == Outcome(Result.VALID)


def test_a_file_too_long_to_read_is_unknown():
    long = Tree({"a.py": "f" * 40}, lambda _: {})

    assert check(CITED, TAKEN, long) == Outcome(Result.UNKNOWN)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (tree(a_py=text(LINES)), Outcome(Result.VALID)),
        (tree(a_py=text(ANOTHER)), Outcome(Result.CHANGED)),
        (tree(b_py=text(ANOTHER)), Outcome(Result.MISSING)),
        (tree(z_py=text(LINES), src__a_py=text(LINES)), Outcome(Result.MOVED, "file:src/a.py")),
    ],
)
def test_whole_files(now, expected):
    assert check(Citation("a.py"), anchor(text(LINES)), now) == expected


def test_an_empty_file_has_not_moved_to_another_empty_file():
    now = tree(b_py=b"")

    assert check(Citation("a.py"), anchor(b""), now) == Outcome(Result.MISSING)


_FILE = st.lists(st.sampled_from(["a", "b long enough line", "", "}"]), min_size=1, max_size=8)


@given(_FILE, st.data())
def test_lines_in_an_unchanged_place_are_valid_whatever_surrounds_them(lines, data):
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    rest = data.draw(_FILE)
    taken = anchor(text(lines), first, last)

    changed = text([*lines[:last], *rest])
    assert check(Citation("a.py", first, last), taken, tree(a_py=changed)).result is Result.VALID


@given(_FILE, _FILE, st.data())
def test_a_moved_citation_is_valid_in_its_new_place(lines, before, data):
    first = data.draw(st.integers(1, len(lines)))
    taken = anchor(text(lines), first, len(lines))
    now = tree(a_py=text([*before, *lines]))

    outcome = check(Citation("a.py", first, len(lines)), taken, now)

    if outcome.new_place is not None:
        start, end = outcome.new_place.removeprefix("file:a.py#L").split("-L")
        there = Citation("a.py", int(start), int(end))
        assert check(there, taken, now).result is Result.VALID
