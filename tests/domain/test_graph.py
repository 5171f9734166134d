"""Connections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.graph import (
    MAX_EDGES,
    ONE_HOP_SHARE,
    TWO_HOP_SHARE,
    Connection,
    Edge,
    Hop,
    connect,
)

memories = st.sampled_from([f"m{n}" for n in range(7)])
edges = st.lists(
    st.one_of(
        st.builds(
            Edge,
            memories,
            st.sampled_from(["applies_to", "cites"]),
            st.just("file"),
            st.sampled_from(["a.py", "b.py"]),
        ),
        st.builds(Edge, memories, st.just("derived_from"), st.just("memory"), memories),
    ),
    max_size=20,
)
seeds = st.dictionaries(memories, st.sampled_from([1.0, 2.0, 3.5]), max_size=4)


def names_file(memory_id: str, path: str) -> Edge:
    return Edge(memory_id, "applies_to", "file", path)


def derives(memory_id: str, source: str) -> Edge:
    return Edge(memory_id, "derived_from", "memory", source)


@given(seeds, edges, st.sets(memories), st.integers(0, 25))
def test_what_the_filter_removed_cannot_change_what_is_found(scores, graph, eligible, limit):
    """Deleting every removed memory first gives the same answer: no private bridge."""
    without = [
        e for e in graph if e.memory_id in eligible and (e.kind != "memory" or e.key in eligible)
    ]
    kept = {m: s for m, s in scores.items() if m in eligible}

    got = connect(scores, graph, eligible=eligible, max_edges=limit)

    assert connect(kept, without, eligible=eligible, max_edges=limit) == got
    assert got.found.keys() <= eligible
    assert {c.seed for c in got.found.values()} <= kept.keys()


@given(seeds, edges, st.randoms())
def test_the_order_of_edges_and_their_repetition_make_no_difference(scores, graph, random):
    mixed = graph + graph[:3]
    random.shuffle(mixed)
    everything = {f"m{n}" for n in range(7)}

    assert connect(scores, mixed, eligible=everything) == connect(
        scores, graph, eligible=everything
    )


@given(seeds, edges)
def test_every_boost_is_the_best_that_any_way_offers(scores, graph):
    """Compared with a plain walk over all pairs of edges."""
    everything = {f"m{n}" for n in range(7)}
    sides = {(("memory", e.memory_id), (e.kind, e.key)) for e in graph}
    sides |= {(b, a) for a, b in sides}
    wanted: dict[str, float] = {}
    for seed, value in scores.items():
        for start, middle in sides:
            if start != ("memory", seed):
                continue
            if middle[0] == "memory" and middle[1] != seed:
                wanted[middle[1]] = max(wanted.get(middle[1], 0), ONE_HOP_SHARE * value)
            for again, end in sides:
                if again == middle and end[0] == "memory" and end[1] != seed:
                    wanted[end[1]] = max(wanted.get(end[1], 0), TWO_HOP_SHARE * value)

    got = connect(scores, graph, eligible=everything).found

    assert {m: c.boost for m, c in got.items()} == pytest.approx(wanted)
    assert all(1 <= len(c.hops) <= 2 for c in got.values())


def test_derivation_joins_in_one_hop_both_ways():
    graph = [derives("b", "a")]

    assert connect({"a": 2.0}, graph, eligible={"a", "b"}).found == {
        "b": Connection(0.3, "a", (Hop("derived_from", "b"),))
    }
    assert connect({"b": 2.0}, graph, eligible={"a", "b"}).found == {
        "a": Connection(0.3, "b", (Hop("derived_from", "a"),))
    }


def test_a_shared_file_joins_in_two_hops():
    graph = [names_file("a", "x.py"), Edge("b", "cites", "file", "x.py")]

    assert connect({"a": 2.0}, graph, eligible={"a", "b"}).found == {
        "b": Connection(0.1, "a", (Hop("applies_to", "x.py"), Hop("cites", "b")))
    }


def test_three_hops_are_too_many():
    chain = [derives("b", "a"), derives("c", "b"), derives("d", "c")]

    assert connect({"a": 1.0}, chain, eligible=set("abcd")).found.keys() == {"b", "c"}


def test_only_the_best_seed_lends():
    graph = [names_file(m, "x.py") for m in "abc"]

    found = connect({"a": 2.0, "b": 4.0}, graph, eligible=set("abc")).found

    assert found["c"].boost == 0.2
    assert (found["c"].seed, found["a"].seed, found["b"].seed) == ("b", "b", "a")


def test_the_edges_of_the_best_seeds_are_examined_first_and_a_cut_is_said():
    graph = [names_file("low", f"l{n}.py") for n in range(5)] + [derives("x", "top")]

    got = connect({"low": 1.0, "top": 9.0}, graph, eligible={"low", "top", "x"}, max_edges=1)

    assert got.found.keys() == {"x"}
    assert got.truncated
    assert not connect({"top": 9.0}, graph, eligible={"low", "top", "x"}, max_edges=1).truncated


def test_one_file_that_everybody_names_stays_cheap():
    everybody = [f"m{n:04}" for n in range(MAX_EDGES)]
    graph = [names_file(m, "hub.py") for m in everybody]

    got = connect(dict.fromkeys(everybody, 1.0), graph, eligible=everybody)

    assert len(got.found) == MAX_EDGES
    assert not got.truncated
