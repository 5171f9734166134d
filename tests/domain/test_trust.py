"""Trust: the numbers of the contract, to the basis point."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain import trust
from codeflow_memory.domain.memory import Kind
from codeflow_memory.domain.times import SECOND

DAY = 86_400 * SECOND


def seen(explicit, sightings, **left):
    standing = trust.first(explicit=explicit)
    for number in range(1, sightings):
        standing = trust.after_sighting(standing, number)
    facts = {"kind": Kind.FACT, "age": 0, "conflicting": False} | left
    return trust.effective(standing, facts["kind"], facts["age"], conflicting=facts["conflicting"])


@pytest.mark.parametrize(
    ("explicit", "times", "left", "expected"),
    [
        (True, 1, {}, 8_500),
        (False, 1, {}, 6_000),
        (False, 100, {}, 7_500),
        (True, 4, {}, 10_000),
        (True, 1, {"conflicting": True}, 5_500),
        (True, 1, {"kind": Kind.TEMPORAL, "age": 30 * DAY}, 4_250),
        (True, 1, {"age": 365 * DAY}, 8_500),
        (False, 1, {"kind": Kind.TEMPORAL, "age": 365 * DAY, "conflicting": True}, 0),
    ],
)
def test_the_table_of_the_contract(explicit, times, left, expected):
    """T083: what Flowly's calibration gives, in basis points."""
    assert seen(explicit, times, **left) == expected


def test_no_sum_of_judgements_leaves_the_scale():
    low = high = trust.BASE
    for _ in range(20):
        low = trust.after_feedback(low, helpful=False)
        high = trust.after_feedback(high, helpful=True)

    assert (low, high) == (0, 10_000)


def test_two_unhelpful_signals_on_8500_are_exactly_the_floor():
    """Flowly's floating point lands just below it."""
    standing = trust.first(explicit=True)
    for _ in range(2):
        standing = trust.after_feedback(standing, helpful=False)

    assert standing == trust.REVIEW_FLOOR


def test_nothing_is_trusted_more_than_its_least_trusted_source():
    assert trust.first(explicit=True, sources=[9_000, 4_000, 6_000]) == 4_000
    assert trust.first(explicit=False, sources=[9_000]) == 6_000


@given(st.integers(0, 10_000), st.integers(0, 400), st.integers(0, 400))
def test_age_never_adds(standing, days, more):
    younger, older = (
        trust.effective(standing, Kind.TEMPORAL, age * DAY, conflicting=False)
        for age in (days, days + more)
    )

    assert 0 <= older <= younger <= standing
