from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.http.pagination import DEFAULT_LIMIT, Listing, parse_limit

LISTING = Listing(b"k" * 32, "prn_1", "projects/prj_1/memories", {"status": "accepted", "tag": "a"})
POSITION = (1_700_000_000_000_000, "mem_1")

OTHERS = [
    replace(LISTING, key=b"l" * 32),
    replace(LISTING, principal_id="prn_2"),
    replace(LISTING, route="projects/prj_2/memories"),
    replace(LISTING, filters={"status": "accepted"}),
    replace(LISTING, filters={"status": "accepted", "tag": "b"}),
    replace(LISTING, filters={"status": "accepted", "tag": None}),
    replace(LISTING, filters={"status": "accepted", "kind": "a"}),
]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def refused(listing: Listing, cursor: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        listing.parse_cursor(cursor)
    assert [f.pointer for f in caught.value.faults] == ["cursor"]


@pytest.mark.parametrize("other", OTHERS)
def test_a_cursor_is_good_for_its_own_question_only(other):
    refused(other, LISTING.to_cursor(POSITION))
    refused(LISTING, other.to_cursor(POSITION))


@pytest.mark.parametrize(
    "cursor",
    ["", "=", "null", "W10", "a" * 5000, "é" * 30, "\ud800", LISTING.to_cursor(POSITION) + "="],
)
def test_anything_else_is_no_cursor(cursor):
    refused(LISTING, cursor)


@given(st.data())
def test_no_change_of_a_cursor_survives(data):
    cursor = LISTING.to_cursor(POSITION)
    at = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from(ALPHABET + "=+/ \n").filter(lambda c: c != cursor[at]))
    edit = data.draw(st.sampled_from(["replace", "insert", "drop"]))

    match edit:
        case "replace":
            changed = cursor[:at] + other + cursor[at + 1 :]
        case "insert":
            changed = cursor[:at] + other + cursor[at:]
        case "drop":
            changed = cursor[:at] + cursor[at + 1 :]

    refused(LISTING, changed)


values = st.none() | st.integers(-(2**63), 2**63) | st.text(max_size=20) | st.floats(-1e9, 1e9)


@given(st.lists(values, max_size=4), st.dictionaries(st.text(max_size=5), values, max_size=3))
def test_a_position_comes_back(position, filters):
    listing = replace(LISTING, filters=filters)

    assert listing.parse_cursor(listing.to_cursor(tuple(position))) == tuple(position)


def test_a_list_begins_without_a_cursor():
    assert LISTING.parse_cursor(None) is None


@pytest.mark.parametrize(
    "text", ["", "0", "101", "-1", "+1", "1.0", " 1", "1_0", "\u0661", "9" * 5000]
)
def test_a_limit_out_of_bounds_is_invalid(text):
    with pytest.raises(InvalidRequestError) as caught:
        parse_limit(text)
    assert caught.value.faults[0].pointer == "limit"


@pytest.mark.parametrize(("text", "limit"), [(None, DEFAULT_LIMIT), ("1", 1), ("100", 100)])
def test_a_limit_is_from_1_to_100(text, limit):
    assert parse_limit(text) == limit
