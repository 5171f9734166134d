"""Candidates: the body of a create request, with every fault named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Collection, Pair

DRAFT = {"collection": "project", "kind": "fact", "title": "Title", "body": "Body"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def pointers(**changes):
    raw = {k: v for k, v in (DRAFT | changes).items() if v != "left out"}
    with pytest.raises(InvalidRequestError) as refused:
        parse_candidate(raw)
    return [fault.pointer for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"collection": "left out"}, ["/collection"]),
        ({"collection": "public"}, ["/collection"]),
        ({"collection": None}, ["/collection"]),
        ({"collection": ["project"]}, ["/collection"]),
        ({"collection": "team"}, ["/team_id"]),
        ({"team_id": "team_1"}, ["/team_id"]),
        ({"collection": "private", "team_id": "team_1"}, ["/team_id"]),
        ({"collection": "team", "team_id": ""}, ["/team_id"]),
        ({"run_id": ""}, ["/run_id"]),
        ({"run_id": 7}, ["/run_id"]),
        ({"run_id": "x" * 201}, ["/run_id"]),
        ({"supersedes": "mem_1"}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "mem_1"}}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "mem_1", "revision": 0}}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "mem_1", "revision": True}}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "", "revision": 1}}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "mem_1", "revision": 2**31}}, ["/supersedes"]),
        ({"supersedes": {"memory_id": "mem_1", "revision": 1, "x": 1}}, ["/supersedes"]),
        ({"status": "accepted"}, ["/status"]),
        ({"trust": 10_000, "owner": "me"}, ["/trust", "/owner"]),
        ({"title": "", "collection": "public"}, ["/title", "/collection"]),
    ],
)
def test_every_fault_is_named_at_its_pointer(changes, expected):
    assert pointers(**changes) == expected


def test_a_candidate_is_content_with_the_place_it_asks_for():
    candidate = parse_candidate(
        DRAFT
        | {
            "collection": "team",
            "team_id": "team_1",
            "run_id": "run_1",
            "supersedes": {"memory_id": "mem_1", "revision": 2},
            "tags": ["a"],
        }
    )

    assert (candidate.collection, candidate.team_id, candidate.run_id) == (
        Collection.TEAM,
        "team_1",
        "run_1",
    )
    assert candidate.supersedes == Pair("mem_1", 2)
    assert (candidate.content.title, candidate.content.tags) == ("Title", ("a",))


@given(st.sampled_from(["collection", "team_id", "run_id", "supersedes"]), JSON)
def test_whatever_stands_in_a_place_is_read_or_refused(name, value):
    try:
        parse_candidate(DRAFT | {name: value})
    except InvalidRequestError as refused:
        assert refused.faults  # noqa: PT017 - either outcome is right, another error is not
