"""Paths and globs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.paths import (
    CONTAINS,
    EQUAL,
    SAME_FOLDER,
    Requested,
    applies,
    closeness,
    covers,
    meet,
)

segments = st.sampled_from(["a", "b", "ab", "aab"])
plain = st.lists(segments, min_size=1, max_size=4).map("/".join)
glob_segments = st.one_of(segments, st.sampled_from(["*", "**", "?", "a*", "*b", "a?b", "*a*"]))
globs = st.lists(glob_segments, min_size=1, max_size=4).map("/".join)


def regex(pattern: str) -> str:
    """The same pattern as an expression, written in the plainest way."""
    parts = pattern.split("/")
    out = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            out += "(?:[^/]+(?:/[^/]+)*)?" if last else "(?:[^/]+/)*"
            continue
        out += re.sub(r"\*+", "[^/]*", part.replace("?", "[^/]")) + ("" if last else "/")
    return out


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/auth/**", "src/auth/deep/x.py", True),
        ("src/auth/**", "src/authority.py", False),
        ("src/auth/**", "src/auth", True),
        ("src/auth/**", "src", True),
        ("docs/guide.md", "docs/guide.md", True),
        ("docs/guide.md", "docs", True),
        ("docs/guide.md", "docs/guide.md.bak", False),
        ("lib/*.py", "lib/x.py", True),
        ("lib/*.py", "lib/deep/x.py", False),
        ("lib/*.py", "lib", True),
        ("pkg", "pkg/a/b.py", True),
        ("pkg", "pkgs/a.py", False),
        ("pkg/", "pkg/a.py", True),
        ("src/a?.c", "src/ab.c", True),
        ("src/a?.c", "src/a/c", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "x/y/test_a.py", True),
        ("src/*/x.py", "src/**", True),
        ("src/*.c", "lib/*.c", False),
        ("src/*.c", "src/*.h", False),
        ("src/a*", "src/*b", True),
        ("A.py", "a.py", False),
    ],
)
def test_an_entry_applies_where_its_pattern_and_the_path_share_a_file(pattern, path, expected):
    assert applies([pattern], [path]) is expected


def test_an_entry_or_request_without_paths_is_not_narrowed():
    assert applies([], ["a.py"])
    assert applies(["a.py"], [])
    assert applies(["x", "a.py"], ["y", "a.py"])
    assert not applies(["x"], ["a.py", "b.py"])


@given(globs, plain)
def test_a_glob_covers_what_its_expression_matches(pattern, path):
    # A last "**" alone spans segments, so "a/**" covers "a" too: no file, but the folder.
    wanted = re.fullmatch(regex(pattern), path) or (
        pattern.endswith("/**") and covers(pattern.removesuffix("/**"), path)
    )

    assert covers(pattern, path) is bool(wanted)


@given(globs, globs, plain)
def test_two_patterns_meet_whenever_one_file_lies_in_both(one, other, path):
    assert meet(one, other) == meet(other, one)
    if covers(one, path) and covers(other, path):
        assert meet(one, other)


@given(st.lists(globs, max_size=3), st.lists(globs, min_size=1, max_size=3))
def test_the_short_cut_by_folders_decides_nothing(patterns, paths):
    assert Requested(paths).concerned(patterns) == (
        not patterns or any(meet(pattern, path) for pattern in patterns for path in paths)
    )


def test_no_pattern_can_be_made_slow():
    stars = "/".join(["**", "*a*a*a*a*a*b"] * 40)

    assert not covers(stars, "/".join(["aaaaaaaaaaaa"] * 60))
    assert not meet(stars + "/x", "/".join(["**", "*a*c"] * 40) + "/y*")
    assert not covers("*a" * 100 + "b", "a" * 400)


@pytest.mark.parametrize(
    ("patterns", "cited", "requested", "expected"),
    [
        (["src/a.py"], [], ["src/a.py"], EQUAL),
        ([], ["src/a.py"], ["src/a.py"], EQUAL),
        (["src/**"], [], ["src/a.py"], CONTAINS),
        (["src"], [], ["src/a.py"], CONTAINS),
        ([], ["src/a.py"], ["src"], CONTAINS),
        ([], ["src/b.py"], ["src/a.py"], SAME_FOLDER),
        (["src/b.py"], [], ["src/a.py"], 0.0),
        ([], ["src/deep/b.py"], ["src/a.py"], 0.0),
        ([], ["src/b.py"], ["lib/c.py", "src/a.py"], SAME_FOLDER),
        ([], ["b.py"], [], 0.0),
        ([], [], ["a.py"], 0.0),
    ],
)
def test_equal_is_nearer_than_containing_and_that_nearer_than_the_same_folder(
    patterns, cited, requested, expected
):
    assert closeness(patterns, cited, requested) == expected
    assert EQUAL > CONTAINS > SAME_FOLDER > 0
