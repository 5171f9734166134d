import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError, RevisionRequiredError
from codeflow_memory.http.preconditions import etag, parse_idempotency_key, parse_if_match


def test_a_missing_revision_is_required():
    with pytest.raises(RevisionRequiredError):
        parse_if_match(None)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "3",
        '"3',
        '3"',
        '""',
        "*",
        'W/"3"',
        '"3", "4"',
        ' "3"',
        '"3"\n',
        '"00"',
        '"03"',
        '"-3"',
        '"+3"',
        '"3.0"',
        '"1_0"',
        '"\u0663"',
        '"' + "9" * 19 + '"',
        '"' + "9" * 5000 + '"',
        '"abc"',
    ],
)
def test_what_is_not_one_strong_tag_of_ours_is_invalid(header):
    with pytest.raises(InvalidRequestError) as caught:
        parse_if_match(header)
    assert caught.value.faults[0].pointer == "header If-Match"


@given(st.integers(1, 10**18 - 1))
def test_a_revision_comes_back_from_its_tag(revision):
    assert parse_if_match(etag(revision)) == revision


@pytest.mark.parametrize("header", ["", " ", "a b", "a\tb", "\x7f", "é", "a\n", "x" * 201])
def test_a_key_that_is_not_visible_ascii_is_invalid(header):
    with pytest.raises(InvalidRequestError) as caught:
        parse_idempotency_key(header)
    assert caught.value.faults[0].pointer == "header Idempotency-Key"


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=200))
def test_any_visible_ascii_is_a_key(key):
    assert parse_idempotency_key(key) == key


def test_a_key_is_optional():
    assert parse_idempotency_key(None) is None


def test_revision_zero_is_read_so_that_it_conflicts_with_every_revision():
    assert parse_if_match('"0"') == 0
