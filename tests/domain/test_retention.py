"""What policies take, and what stays all the same."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.retention import (
    OUT_OF_SERVICE,
    Aged,
    Item,
    Policy,
    sort_out,
    taken,
    takes,
)
from codeflow_memory.domain.times import DAY

NOW = 1_800_000_000_000_000
ANY = frozenset()
POLICY = Policy(ANY, ANY, OUT_OF_SERVICE, 30, None)
UNUSED = Policy(ANY, ANY, frozenset({Status.ACCEPTED}), None, 30)


def aged(memory_id="mem_1", days=30, status=Status.REJECTED, used=None, **more):
    """An entry that changed *days* ago, and was last used *used* days ago."""
    return replace(
        Aged(
            memory_id,
            "rep_1",
            "prj_1",
            1,
            1,
            Collection.PROJECT,
            Kind.FACT,
            status,
            NOW - days * DAY,
            None if used is None else NOW - used * DAY,
        ),
        **more,
    )


@pytest.mark.parametrize("status", Status)
def test_without_a_status_only_what_is_out_of_service_is_taken(status):
    assert takes(POLICY, aged(status=status), NOW) is (status in OUT_OF_SERVICE)


def test_a_deleted_entry_is_taken_by_no_policy():
    policy = replace(POLICY, statuses=frozenset(Status))

    assert not takes(policy, aged(status=Status.DELETED), NOW)
    assert takes(policy, aged(status=Status.ACCEPTED), NOW)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (aged(days=30), True),
        (aged(days=29), False),
        (aged(updated_at=NOW - 30 * DAY + 1), False),
        (aged(days=31, used=0), True),
        (aged(updated_at=NOW + DAY), False),
    ],
)
def test_older_counts_from_the_last_change_to_the_microsecond(entry, expected):
    assert takes(POLICY, entry, NOW) is expected


@pytest.mark.parametrize(
    ("days", "used", "expected"),
    [
        (30, None, True),
        (29, None, False),
        (90, 30, True),
        (90, 29, False),
        (29, 90, False),
    ],
)
def test_unused_counts_from_the_last_use_or_change(days, used, expected):
    assert takes(UNUSED, aged(days=days, used=used, status=Status.ACCEPTED), NOW) is expected


def test_where_both_ages_are_given_both_must_be_reached():
    both = replace(POLICY, older_than_days=10, unused_days=20)

    assert takes(both, aged(days=20), NOW)
    assert not takes(both, aged(days=15), NOW)
    assert not takes(both, aged(days=30, used=15), NOW)


def test_a_policy_without_an_age_takes_nothing():
    assert not takes(replace(POLICY, older_than_days=None), aged(days=9_999), NOW)


@pytest.mark.parametrize(
    "narrow",
    [
        {"collections": frozenset({Collection.PRIVATE, Collection.TEAM})},
        {"kinds": frozenset({Kind.DECISION})},
        {"statuses": frozenset({Status.ARCHIVED})},
    ],
)
def test_what_a_policy_does_not_name_stays(narrow):
    assert not takes(replace(POLICY, **narrow), aged(), NOW)


def test_each_policy_that_takes_an_entry_says_so():
    policies = [POLICY, UNUSED, replace(POLICY, unused_days=10)]

    (item,) = taken(policies, [aged(), aged("mem_2", 29)], NOW)

    assert item.reasons == (
        "policy 1: unchanged for 30 days",
        "policy 3: unchanged for 30 days and unused for 10 days",
    )


def items(*ids):
    return [Item(aged(memory_id), ("why",)) for memory_id in ids]


def ids_of(some):
    return [item.entry.memory_id for item in some]


def test_what_a_standing_entry_derives_from_stays_and_says_for_whom():
    done = sort_out(items("a", "b", "c"), {"a": {"z", "b"}, "b": {"y"}}, ())

    assert ids_of(done.removed) == ["c"]
    assert [(i.entry.memory_id, i.needed_by) for i in done.needed] == [
        ("b", ("y",)),
        ("a", ("b", "z")),
    ]


def test_what_derives_goes_before_its_origin_and_a_circle_goes_whole():
    children = {"a": {"b"}, "b": {"c"}, "c": {"b"}}

    assert ids_of(sort_out(items("a", "b", "c"), children, ()).removed)[-1] == "a"


def test_an_origin_of_what_is_held_stays_with_it():
    done = sort_out(items("a", "b"), {"a": {"b"}}, {"b"})

    assert ids_of(done.removed) == []
    assert [(i.entry.memory_id, i.needed_by) for i in done.needed] == [("a", ("b",))]
    assert ids_of(done.held) == ["b"]


def test_a_long_chain_is_sorted_out():
    names = [f"m{n:05}" for n in range(5_000)]
    children = {a: {b} for a, b in pairwise(names)}

    assert ids_of(sort_out(items(*names), children, ()).removed) == names[::-1]


NAMES = [f"m{n}" for n in range(8)]


@given(
    st.sets(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from([*NAMES, "x", "y"]))),
    st.sets(st.sampled_from(NAMES)),
)
def test_nothing_goes_that_somebody_needs_and_nothing_stays_without_a_cause(named, children, held):
    done = sort_out(items(*sorted(named)), children, held)
    removed, needed = ids_of(done.removed), {i.entry.memory_id: i.needed_by for i in done.needed}

    assert sorted([*removed, *needed, *ids_of(done.held)]) == sorted(named)
    assert set(ids_of(done.held)) == named & held
    for one in removed:
        assert set(children.get(one, ())) <= set(removed)
    for one, by in needed.items():
        assert by == tuple(sorted(children[one] - set(removed)))
        assert by
