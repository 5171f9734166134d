"""CODEOWNERS, as GitHub reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.codeowners import owned_paths, owners_of, parse_codeowners


def owners(text, path):
    return owners_of(parse_codeowners(text), path)


@pytest.mark.parametrize(
    "line",
    ["", "# only a comment", "!src @a", "src notanowner", "src @a @", "/ @a", "src a@b@c"],
)
def test_a_line_with_an_error_owns_nothing(line):
    assert parse_codeowners(line) == ()


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "a.py", True),
        ("*", "src/deep/a.py", True),
        ("*.js", "src/deep/a.js", True),
        ("*.js", "a.ts", False),
        ("/*.js", "a.js", True),
        ("/*.js", "src/a.js", False),
        ("/build/logs/", "build/logs/x/y.txt", True),
        ("/build/logs/", "src/build/logs/y.txt", False),
        ("docs/*", "docs/getting-started.md", True),
        ("docs/*", "docs/build-app/troubleshooting.md", False),
        ("apps/", "apps/a.py", True),
        ("apps/", "src/apps/deep/a.py", True),
        ("apps/", "apps.py", False),
        ("/docs/", "docs/a/b.md", True),
        ("/scripts", "scripts/a.sh", True),
        ("/scripts", "scripts", True),
        ("/scripts", "scripts2/a.sh", False),
        ("apps/github", "apps/github/a.rb", True),
        ("apps/github", "src/apps/github/a.rb", False),
        ("**/logs", "build/logs/a.log", True),
        ("**/logs", "logs/a.log", True),
        ("**/logs", "deeply/nested/logs", True),
        ("/src/**", "src/a/b.py", True),
        ("/src/**/test_*.py", "src/test_a.py", True),
        ("/src/**/test_*.py", "src/x/y/test_a.py", True),
        ("/src/**/test_*.py", "src/x/y/a.py", False),
        ("a?c.txt", "abc.txt", True),
        ("a?c.txt", "a/c.txt", False),
        (r"my\ docs/", "my docs/a.md", True),
        (r"\#notes.md", "#notes.md", True),
        ("pages/[id].tsx", "pages/[id].tsx", True),
        ("pages/[id].tsx", "pages/i.tsx", False),
        ("SRC", "src/a.py", False),
    ],
)
def test_patterns(pattern, path, matches):
    assert owners(f"{pattern} @a", path) == (("@a",) if matches else ())


def test_the_last_match_wins_and_a_line_without_owners_takes_ownership_away():
    text = "* @all\n/src/ @src @second # why\n/src/free/\n*.md doc@example.org\n"

    assert owners(text, "a.txt") == ("@all",)
    assert owners(text, "src/a.py") == ("@src", "@second")
    assert owners(text, "src/free/a.py") == ()
    assert owners(text, "src/free/a.md") == ("doc@example.org",)


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("src/auth/**", ("@auth",)),
        ("src/auth/*.py", ("@auth",)),
        ("src/auth", ("@auth",)),
        ("src/*/x.py", ("@src",)),
        ("src/**", ("@src",)),
        ("**/*.py", ("@all",)),
        ("docs/**", ("@docs",)),
    ],
)
def test_a_glob_counts_as_its_longest_literal_folder(glob, expected):
    text = "* @all\n*.py @python\n/src/ @src\n/src/auth/ @auth\ndocs/* @docs\n"

    assert owners(text, glob) == expected


def test_teams_are_owners_and_an_owner_is_named_once():
    assert owners("* @org/team-a @x @x", "a") == ("@org/team-a", "@x")


def test_only_owned_paths_are_listed():
    rules = parse_codeowners("/src/ @src\n")

    assert owned_paths(rules, ["src/a.py", "docs/a.md"]) == {"src/a.py": ("@src",)}


@given(st.text(alphabet="ab*?/\\ #@!.\n", max_size=60), st.text(alphabet="ab/.*", max_size=20))
def test_no_text_breaks_the_reader(text, path):
    assert isinstance(owners(text, path), tuple)


def test_a_pattern_made_to_be_slow_is_not():
    text = "/" + "**/a*a*a*a*a*b/" * 200 + " @a"

    assert owners(text, "/".join(["a" * 200] * 30)) == ()
