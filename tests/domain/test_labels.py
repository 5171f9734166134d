"""Names, slugs and paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.labels import absolute_path, folder, label, slug


@pytest.mark.parametrize(
    "text", ["", " ann", "ann ", "a\nb", "a\tb", "a\u202eb", "a\u200bb", "x" * 201, "\x00"]
)
def test_what_is_no_label_is_refused_at_its_pointer(text):
    with pytest.raises(InvalidRequestError) as refused:
        label("/name", text)

    assert [f.pointer for f in refused.value.faults] == ["/name"]


@pytest.mark.parametrize("text", ["", "-a", ".a", "A", "a b", "a/b", "ä", "a" * 101, "a\n"])
def test_what_is_no_slug_is_refused(text):
    with pytest.raises(InvalidRequestError):
        slug("/slug", text)


@pytest.mark.parametrize("text", ["/a", "../a", "a/../b", "a\\b", "", "a/..", "/"])
def test_what_lies_outside_the_repository_is_no_folder(text):
    with pytest.raises(InvalidRequestError):
        folder("/path_prefix", text)


@pytest.mark.parametrize(("text", "expected"), [("a/b/", "a/b"), ("./a//b", "a/b"), (".", None)])
def test_a_folder_has_one_spelling(text, expected):
    assert folder("/path_prefix", text) == expected


@pytest.mark.parametrize(
    "text", ["", "a", "./a", "~/a", "C:a", "file:///a", "/a\0b", "/" + "a" * 4096]
)
def test_what_is_not_absolute_is_no_path(text):
    assert absolute_path(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/srv/shop", "/srv/shop"),
        ("//srv//shop/", "/srv/shop"),
        ("/srv/x/../shop/.", "/srv/shop"),
        ("/", "/"),
        ("/srv/Ünï cödé", "/srv/Ünï cödé"),
        ("c:\\Code\\shop\\", "C:/Code/shop"),
        ("C:/Code/shop", "C:/Code/shop"),
    ],
)
def test_a_path_has_one_spelling(text, expected):
    assert absolute_path(text) == expected


@given(st.text(alphabet="/.aB \\:C", max_size=20))
def test_a_path_in_its_one_spelling_stays_as_it_is(text):
    path = absolute_path(text)

    assert path is None or absolute_path(path) == path
