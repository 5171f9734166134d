"""The names and edits of the file-style tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.files import (
    MAX_PATH,
    ROOT,
    FilePath,
    inserted,
    numbered,
    parse_path,
    path_of,
    replaced,
)

SEGMENTS = st.lists(
    st.text(st.characters(categories=["Ll", "Lu", "Lo", "Nd"]), min_size=1, max_size=8),
    min_size=1,
    max_size=8,
)


@given(st.text(max_size=60))
def test_what_is_a_path_stays_below_the_root_and_is_spelled_one_way(text):
    path = parse_path(f"{ROOT}/{text}")

    if path is not None:
        assert str(path) == ROOT or str(path).startswith(f"{ROOT}/")
        assert not {"", ".", ".."} & set(path.segments)
        assert parse_path(str(path)) == path
        assert path.segments == () or path_of(path.key) == path


@given(SEGMENTS)
def test_plain_names_are_a_path(segments):
    path = parse_path("/".join([ROOT, *segments]))

    assert path is not None
    assert len(path.segments) == len(segments)


@pytest.mark.parametrize("key", [None, "", "deploy|owner", "file:", "file:../a", "file:a//b"])
def test_another_key_is_no_file(key):
    found = path_of(key)
    assert found is None or found.segments == ()


def test_a_path_that_is_too_long_is_none():
    longest = f"{ROOT}/" + "/".join(["a" * 89, "b" * (MAX_PATH - len(ROOT) - 91)])

    assert len(longest) == MAX_PATH
    assert parse_path(longest) is not None
    assert parse_path(longest + "c") is None


def test_folders_hold_what_lies_below_them_and_move_with_it():
    folder, file = FilePath(("a",)), FilePath(("a", "b", "c.md"))

    assert file.is_below(folder)
    assert file.is_below(FilePath(()))
    assert not folder.is_below(folder)
    assert not FilePath(("ab", "c")).is_below(folder)
    assert file.moved(folder, FilePath(("x", "y"))) == FilePath(("x", "y", "b", "c.md"))
    assert folder.moved(folder, FilePath(("x",))) == FilePath(("x",))


def test_an_id_alone_names_a_memory():
    identifier = "mem_" + "0" * 26
    assert FilePath((identifier,)).memory_id == identifier
    assert FilePath((identifier, "a")).memory_id is None
    assert FilePath(("mem_short",)).memory_id is None


@given(st.text(), st.text(min_size=1), st.text())
def test_a_replacement_is_of_one_place(text, old, new):
    if text.count(old) == 1:
        assert replaced(text, old, new) == text.replace(old, new)
    else:
        with pytest.raises(InvalidRequestError):
            replaced(text, old, new)


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1), st.data())
def test_an_insertion_moves_no_other_line(lines, data):
    at = data.draw(st.integers(0, len(lines)))

    assert inserted("\n".join(lines), at, "new\n").split("\n") == [*lines[:at], "new", *lines[at:]]
    with pytest.raises(InvalidRequestError):
        inserted("\n".join(lines), len(lines) + 1, "new")


def test_lines_are_numbered_from_one_and_ranges_end_where_the_text_does():
    text = "a\nb\nc"

    assert numbered(text, None) == numbered(text, [1, -1]) == "     1\ta\n     2\tb\n     3\tc"
    assert numbered(text, [2, 2]) == "     2\tb"
    for wrong in ([0, 1], [2, 1], [1, 4], [4, -1], [-1, -1]):
        with pytest.raises(InvalidRequestError):
            numbered(text, wrong)
