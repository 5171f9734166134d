"""Keys: what counts as the same thing, and when two values of it cannot both hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain import keys
from codeflow_memory.domain.memory import Content, Kind

PREDICATES = {"version", "default_branch", "截止日期"}


def about(key, **fields):
    return Content(Kind.FACT, "Title", "Body", key=key, **fields)


@pytest.mark.parametrize(
    ("key", "functional"),
    [
        ("service|version", True),
        ("service.api.version", True),
        ("Service | VERSION ", True),
        ("version", True),
        ("\uff56\uff45\uff52\uff53\uff49\uff4f\uff4e", True),
        ("项目|截止日期", True),
        ("version|notes", False),
        ("service version", False),
        ("versions", False),
        (None, False),
    ],
)
def test_the_last_segment_decides_whether_a_key_is_functional(key, functional):
    assert keys.is_functional(about(key), PREDICATES) is functional


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (about("API | Version"), True),
        (about("api|version"), True),
        (about("api  |version "), True),
        (about("api.version"), False),
        (about("api|version", paths=("src/**",)), False),
        (about("api|version", branches=("main",)), False),
        (about("web|version"), False),
        (Content(Kind.GUIDANCE, "Other", "Words", key="API | Version"), True),
        (Content(Kind.SKILL, "Title", "Body", key="API | Version"), False),
    ],
)
def test_the_same_thing_is_one_key_of_one_family_at_one_place(other, same):
    assert (keys.digest(about("api | version")) == keys.digest(other)) is same


def test_what_has_no_key_or_is_never_compared_has_no_digest():
    assert keys.digest(about(None)) is None
    assert keys.digest(None) is None
    assert keys.digest(Content(Kind.TRACE, "Title", "Body", key="api|version")) is None


def test_the_order_of_places_makes_no_difference():
    one = about("version", paths=("a", "b"), branches=("x", "y"))
    other = about("version", paths=("b", "a", "a"), branches=("y", "x"))

    assert keys.digest(one) == keys.digest(other)


@pytest.mark.parametrize(
    ("old", "new", "clashing"),
    [
        ({}, {}, True),
        ({"valid_to": 90}, {}, False),
        ({"valid_to": 110}, {}, True),
        ({}, {"valid_from": 10, "valid_to": 100}, False),
        ({"valid_to": 200}, {"valid_from": 200}, False),
        ({"valid_to": 201}, {"valid_from": 200}, True),
        ({"valid_from": 300}, {"valid_to": 300}, False),
    ],
)
def test_two_values_clash_where_both_hold_from_now_on(old, new, clashing):
    a, b = about("version", **old), about("version", **new)

    assert keys.clash(a, b, 100) is keys.clash(b, a, 100) is clashing


@pytest.mark.parametrize(
    ("old", "new", "closed"),
    [
        ({}, {}, 100),
        ({}, {"valid_from": 70}, 70),
        ({"valid_from": 80}, {"valid_from": 70}, 100),
        ({"valid_to": 60}, {"valid_from": 70}, 60),
        ({"valid_from": 200, "valid_to": 300}, {}, 300),
    ],
)
def test_the_old_value_ceases_to_hold_when_the_new_one_begins(old, new, closed):
    assert keys.closed_at(about("version", **old), about("version", **new), 100) == closed


moments = st.none() | st.integers(0, 50)


@given(moments, moments, moments, moments, st.integers(0, 50))
def test_closing_is_inside_what_held_and_ends_the_clash(from_, to, new_from, new_to, at):
    if from_ is not None and to is not None and from_ >= to:
        from_ = None
    old = about("version", valid_from=from_, valid_to=to)
    new = about("version", valid_from=new_from, valid_to=new_to)

    closed = keys.closed_at(old, new, at)

    assert to is None or (closed is not None and closed <= to)
    assert closed is None or from_ is None or closed > from_
