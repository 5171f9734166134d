import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.sources import (
    MAX_PATH,
    Source,
    SourceKind,
    check_path,
    cited_files,
    parse_source,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "text",
    [
        *("", "run", "run:", "run:two words", "rumour:x", "RUN:x", ":x"),
        *("required:", "required:run:r1", f"required:commit:{COMMIT}"),
        *("commit:abc", f"commit:{COMMIT.upper()}", f"commit:{COMMIT}0"),
        *("file:", "file:/etc/passwd", "file:../x", "file:a/../b", "file:a\\b", "file:C:/x"),
        *("file:*.py", "file:a.py@main", "file:a.py@0123", "file:a\u202e.py", "file:a\nb"),
        *("file:a.py#L3", "file:a.py#L3-", "file:a.py#L3-L2", "file:a.py#L0-L2", "file:a.py#3-4"),
        *("file:a.py#L1-L9999999999", f"file:a.py#L1-L2@{COMMIT}", f"file:@{COMMIT}"),
        *("url:http://docs.example", "url:https://", "url:https:///x", "url:javascript:x"),
        *("url:https://user:pw@docs.example/", "url:https://e/a b", "url:https://e/" + "x" * 2100),
    ],
)
def test_what_is_not_of_the_grammar_is_no_source(text):
    assert parse_source(text) is None


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("run:run-1", Source(SourceKind.RUN, "run-1")),
        ("session:s-1", Source(SourceKind.SESSION, "s-1")),
        ("message:m:1", Source(SourceKind.MESSAGE, "m:1")),
        (f"commit:{COMMIT}", Source(SourceKind.COMMIT, COMMIT, commit=COMMIT)),
        (
            "url:https://docs.example/a?b=c#d@e",
            Source(SourceKind.URL, "https://docs.example/a?b=c#d@e"),
        ),
        ("file:src/a.py", Source(SourceKind.FILE, "src/a.py", "src/a.py")),
        (f"file:a.py@{COMMIT}", Source(SourceKind.FILE, "a.py", "a.py", COMMIT)),
        ("file:b.py#L1-L1", Source(SourceKind.FILE, "b.py", "b.py", None, 1, 1)),
        (
            f"required:file:src/c.py@{COMMIT}#L3-L12",
            Source(SourceKind.FILE, "src/c.py", "src/c.py", COMMIT, 3, 12, required=True),
        ),
        (
            "file:node_modules/@types/logo@2x.png",
            Source(
                SourceKind.FILE,
                "node_modules/@types/logo@2x.png",
                "node_modules/@types/logo@2x.png",
            ),
        ),
        ("file:src/C#/a.cs", Source(SourceKind.FILE, "src/C#/a.cs", "src/C#/a.cs")),
    ],
)
def test_each_kind_is_read(text, source):
    assert parse_source(text) == source


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        ("/etc/passwd", "without a leading /"),
        ("..", "a .. segment"),
        ("../up", "a .. segment"),
        ("a/../../b", "a .. segment"),
        ("a\\b", "backslash"),
        ("C:\\x", "backslash"),
        ("c:/x", "drive"),
        ("a\0b", "U+0000 at offset 1"),
        ("a\nb", "U+000A at offset 1"),
        ("x" * (MAX_PATH + 1), "at most 1024"),
    ],
)
def test_a_bad_path_is_told_what_is_wrong(path, fault):
    for glob in (True, False):
        assert fault in (check_path(path, glob=glob) or "")


@pytest.mark.parametrize(
    "path",
    ["src/a.py", "a..b/c", "...", "docs/ünï cödé/读我.md", ".env.example", "app/[id]/page.tsx"],
)
def test_a_good_path_has_no_fault(path):
    assert check_path(path, glob=False) is None
    assert check_path(path, glob=True) is None


@pytest.mark.parametrize("path", ["src/auth/**", "*.toml", "src/a?.c"])
def test_a_glob_is_a_path_only_where_globs_are_allowed(path):
    assert check_path(path, glob=True) is None
    assert check_path(path, glob=False) == "must name one file or folder, not a glob"


@given(st.text(max_size=60))
def test_any_text_is_a_source_or_none(text):
    for prefix in ("", "file:", "url:https://", "required:file:"):
        source = parse_source(prefix + text)
        assert source is None or source.value


def test_cited_files_are_told_once_in_order():
    sources = ["run:r1", "file:b.py#L1-L2", "required:file:a.py", f"file:b.py@{COMMIT}", "torn"]

    assert cited_files(sources) == ["b.py", "a.py"]
