"""Times: RFC 3339 on the wire, integers inside, each the other's inverse."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.times import (
    DAY,
    EARLIEST,
    HOUR,
    LATEST,
    MINUTE,
    SECOND,
    parse_rfc3339,
    to_rfc3339,
)


@given(st.integers(EARLIEST, LATEST - 1))
def test_every_moment_is_read_back_as_it_was_written(at):
    text = to_rfc3339(at)

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)
    assert parse_rfc3339(text) == at


@given(st.integers(EARLIEST, LATEST - 1), st.integers(EARLIEST, LATEST - 1))
def test_texts_sort_like_moments(one, other):
    assert (to_rfc3339(one) < to_rfc3339(other)) is (one < other)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00.1Z", 100_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1969-12-31T23:00:00-01:00", 0),
        ("1970-01-01T00:00:00-00:00", 0),
        ("2016-12-31T23:59:60Z", 1_483_228_800 * SECOND),
        ("2000-02-29T00:00:00Z", 951_782_400 * SECOND),
        ("0001-01-01T00:00:00Z", EARLIEST),
        ("9999-12-31T23:59:59.999999Z", LATEST - 1),
    ],
)
def test_well_formed_times_are_read(text, at):
    assert parse_rfc3339(text) == at


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.1234567890Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z",
        "1970-13-01T00:00:00Z",
        "1970-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:00+0100",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "١٩٧٠-01-01T00:00:00Z",
        " 1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z\n",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_rfc3339(text)


def test_spans_are_microseconds():
    assert (SECOND, MINUTE, HOUR, DAY) == (10**6, 60 * 10**6, 3_600 * 10**6, 86_400 * 10**6)
