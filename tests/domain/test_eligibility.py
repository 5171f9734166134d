"""Eligibility: which entries a selection may take at all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.eligibility import FILTERS, Standpoint, Traits, select
from codeflow_memory.domain.memory import Kind, Sensitivity
from codeflow_memory.domain.paths import Requested

COMMIT = "c" * 40
PLAIN = Traits("fact", "normal", None, (), (), ())
HERE = Standpoint(frozenset({"fact"}), Requested(["src/a.py"]), "main", frozenset(), 100)


def removed(traits, standpoint=HERE):
    kept = select([(traits, frozenset({"mem_1"}))], standpoint)
    found = [name for name, number in kept.removed.items() if number]
    assert bool(found) is not ("mem_1" in kept.memory_ids)
    return found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"kind": "trace"}, ["kind"]),
        ({"sensitivity": "sensitive"}, ["sensitivity"]),
        ({"sensitivity": "secret"}, ["sensitivity"]),
        ({"valid_to": 99}, ["expired"]),
        ({"valid_to": 100}, ["expired"]),
        ({"valid_to": 101}, []),
        ({"paths": ("src/**",)}, []),
        ({"paths": ("src",)}, []),
        ({"paths": ("docs", "src/a.*")}, []),
        ({"paths": ("docs",)}, ["path"]),
        ({"paths": ("src/a",)}, ["path"]),
        ({"branches": ("main",)}, []),
        ({"branches": ("topic", "ma*")}, []),
        ({"branches": ("topic",)}, ["branch"]),
        ({"branches": (f"commit:{COMMIT}",)}, ["branch"]),
        ({"kind": "trace", "valid_to": 1, "paths": ("docs",)}, ["kind"]),
        ({"cited": ("docs/b.md",)}, []),
    ],
)
def test_an_entry_counts_for_the_first_filter_that_removes_it(change, expected):
    assert removed(replace(PLAIN, **change)) == expected


@pytest.mark.parametrize(
    ("change", "standpoint"),
    [
        ({"branches": ("topic",)}, {"branch": None}),
        ({"branches": (f"commit:{COMMIT}",)}, {"ancestors": None}),
        ({"branches": (f"commit:{COMMIT}",)}, {"ancestors": frozenset({COMMIT})}),
        ({"paths": ("docs",)}, {"requested": Requested([])}),
    ],
)
def test_what_cannot_be_told_stays(change, standpoint):
    assert removed(replace(PLAIN, **change), replace(HERE, **standpoint)) == []


def test_an_entry_with_a_broken_required_citation_is_removed_from_its_group():
    kept = select(
        [(PLAIN, frozenset({"mem_1", "mem_2"}))], replace(HERE, broken=frozenset({"mem_2"}))
    )

    assert kept.memory_ids == {"mem_1"}
    assert kept.groups == ((PLAIN, frozenset({"mem_1"})),)
    assert kept.removed["citation"] == 1


traits = st.builds(
    Traits,
    kind=st.sampled_from(["fact", "trace"]),
    sensitivity=st.sampled_from([str(s) for s in Sensitivity]),
    valid_to=st.none() | st.integers(90, 110),
    paths=st.sampled_from([(), ("src",), ("docs",)]),
    branches=st.sampled_from([(), ("main",), ("topic",)]),
    cited=st.just(()),
)


@given(st.lists(traits, unique=True, max_size=8), st.integers(0, 3))
def test_every_entry_is_kept_or_counted_once(found, broken):
    groups = [(one, frozenset({f"mem_{n}", f"mem_{n}x"})) for n, one in enumerate(found)]
    away = frozenset(f"mem_{n}" for n in range(broken))

    kept = select(groups, replace(HERE, broken=away))

    assert tuple(kept.removed) == FILTERS
    assert len(kept.memory_ids) + sum(kept.removed.values()) == 2 * len(found)
    assert kept.memory_ids == frozenset().union(*(ids for _, ids in kept.groups))
    assert not kept.memory_ids & away


def test_every_kind_but_a_trace_can_be_wanted():
    assert all(
        removed(replace(PLAIN, kind=str(kind)), replace(HERE, kinds=frozenset({str(kind)}))) == []
        for kind in Kind
    )
