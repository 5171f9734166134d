"""Eligibility: which entries a selection may take at all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.eligibility import FILTERS, Group, Standpoint, Traits, arrange, select
from codeflow_memory.domain.memory import Kind, Sensitivity
from codeflow_memory.domain.paths import Requested

COMMIT = "c" * 40
PLAIN = Traits("fact", "normal", None, (), (), ())
HERE = Standpoint(frozenset({"fact"}), Requested(["src/a.py"]), "main", frozenset(), 100)


def removed(traits, standpoint=HERE):
    kept = select([arrange([("mem_1", traits)])], standpoint)
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
    assert removed(PLAIN._replace(**change)) == expected


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
    assert removed(PLAIN._replace(**change), replace(HERE, **standpoint)) == []


def test_an_entry_with_a_broken_required_citation_is_removed_from_its_group():
    found = arrange([("mem_1", PLAIN), ("mem_2", PLAIN)])

    kept = select([found], replace(HERE, broken=frozenset({"mem_2"})))

    assert kept.memory_ids == {"mem_1"}
    only = frozenset({"mem_1"})
    assert kept.groups == (Group((), (), only, (((), only),)),)
    assert kept.removed["citation"] == 1


PATHS = ["src", "src/**", "src/a.py", "src/*.py", "s*/a.py", "docs", "docs/b/*", "**/a.py", "srcs"]
some_paths = st.lists(st.sampled_from(PATHS), unique=True, max_size=2).map(tuple)
traits = st.builds(
    Traits,
    kind=st.sampled_from(["fact", "trace"]),
    sensitivity=st.sampled_from([str(s) for s in Sensitivity]),
    valid_to=st.none() | st.integers(90, 110),
    paths=some_paths,
    branches=st.sampled_from([(), ("main",), ("topic",)]),
    cited=st.sampled_from([(), ("docs/b.md",), ("src/a.py",)]),
)


def fault(traits, standpoint):
    """Name the first filter that removes an entry, asked for it alone."""
    faults = {
        "kind": traits.kind not in standpoint.kinds,
        "sensitivity": traits.sensitivity != "normal",
        "expired": traits.valid_to is not None and traits.valid_to <= standpoint.at,
        "path": not standpoint.requested.concerned(traits.paths),
        "branch": traits.branches == ("topic",),
    }
    return next((name for name, applies in faults.items() if applies), None)


@given(st.lists(traits, max_size=12), st.integers(0, 3), some_paths, st.integers(0, 12))
def test_entries_together_are_kept_and_counted_like_each_alone(found, broken, paths, cut):
    entries = [(f"mem_{n}", one) for n, one in enumerate(found)]
    away = frozenset(f"mem_{n}" for n in range(broken))
    here = replace(HERE, broken=away, requested=Requested(paths))

    kept = select([arrange(entries[:cut]), arrange(entries[cut:])], here)

    faults = {m: fault(one, here) or ("citation" if m in away else None) for m, one in entries}
    assert tuple(kept.removed) == FILTERS
    assert kept.removed == {name: list(faults.values()).count(name) for name in FILTERS}
    assert kept.memory_ids == {m for m, name in faults.items() if name is None}
    assert kept.memory_ids == frozenset().union(*(group.memory_ids for group in kept.groups))
    of = dict(entries)
    for group in kept.groups:
        assert group.memory_ids == frozenset().union(*(ids for _, ids in group.by_cited))
        for cited, ids in group.by_cited:
            for m in ids:
                assert (of[m].paths, of[m].cited) == (group.paths, cited)


def test_every_kind_but_a_trace_can_be_wanted():
    assert all(
        removed(PLAIN._replace(kind=str(kind)), replace(HERE, kinds=frozenset({str(kind)}))) == []
        for kind in Kind
    )
