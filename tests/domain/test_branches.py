"""Branches and commits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.branches import Applies, decide, matches

OLD = "commit:" + "a" * 40
NEW = "commit:" + "b" * 40
BEHIND = frozenset({"a" * 40})

items = st.lists(st.sampled_from(["main", "release/*", "topic", OLD, NEW]), max_size=4)
branches = st.one_of(st.none(), st.sampled_from(["main", "release/2", "other"]))
ancestors = st.one_of(st.none(), st.just(BEHIND), st.just(frozenset()))


@pytest.mark.parametrize(
    ("named", "branch", "known", "expected"),
    [
        ([], None, None, Applies.YES),
        (["main"], "topic", None, Applies.NO),
        (["main"], "main", None, Applies.YES),
        (["main"], None, BEHIND, Applies.UNKNOWN),
        ([OLD], "main", BEHIND, Applies.YES),
        ([NEW], "main", BEHIND, Applies.NO),
        ([OLD], "main", None, Applies.UNKNOWN),
        (["main", NEW], "topic", BEHIND, Applies.NO),
        (["main", OLD], "topic", None, Applies.UNKNOWN),
        (["main", OLD], "main", None, Applies.YES),
        (["release/*"], "release/2", None, Applies.YES),
    ],
)
def test_one_yes_suffices_and_what_cannot_be_told_is_said(named, branch, known, expected):
    assert decide(named, branch, known) is expected


@given(items, branches, ancestors)
def test_knowing_more_never_turns_a_decision_around(named, branch, known):
    vague = decide(named, None, None)

    assert vague in {decide(named, branch, known), Applies.UNKNOWN}


@pytest.mark.parametrize(
    ("item", "branch", "expected"),
    [
        ("release/*", "release/2/hotfix", False),
        ("release/**", "release/2/hotfix", True),
        ("release", "release/2", False),
        ("rel?ase", "release", True),
        ("*", "main", True),
        ("*", "a/b", False),
        ("main", "Main", False),
        ("main", "refs/heads/main", True),
    ],
)
def test_a_glob_stays_within_a_segment_and_a_name_is_itself(item, branch, expected):
    assert matches(item, branch) is expected
