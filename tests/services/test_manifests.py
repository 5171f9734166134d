"""Manifests: what a selection writes down of its cuts and of what it weighed with."""

import pytest

from codeflow_memory.domain import adjacency, graph, ranking
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.terms import MAX_QUERY_TERMS, Form
from codeflow_memory.services import choosing

UNCUT = {"terms": False, "seeds": False, "edges": False, "omitted": False}
ONE = Budget(12_000, 1)


def accept(world, cast, project, count, **fields):
    return [world.accept(cast.ann, cast.bob, project, **fields) for _ in range(count)]


def test_terms_beyond_the_greatest_number_are_dropped_and_the_manifest_says_so(
    world, cast, project
):
    words = [f"w{number}x" for number in range(MAX_QUERY_TERMS + 1)]

    whole = world.select(cast.reader, project, query=" ".join(words[:-1]))
    cut = world.select(cast.reader, project, query=" ".join(words))

    assert (whole.record["truncated"], whole.free["terms_dropped"]) == (UNCUT, [])
    assert cut.record["truncated"] == UNCUT | {"terms": True}
    assert cut.free["terms_dropped"] == words[-1:]


@pytest.mark.parametrize("query", ["walrus", ""])
def test_seeds_beyond_the_greatest_number_are_cut_and_the_manifest_says_so(
    world, cast, project, monkeypatch, query
):
    assert ranking.MAX_SEEDS == 512
    monkeypatch.setattr(ranking, "MAX_SEEDS", 3)
    accept(world, cast, project, 3, body="a walrus")
    whole = world.select(cast.reader, project, query=query, budget=ONE)
    accept(world, cast, project, 1, body="a walrus")

    cut = world.select(cast.reader, project, query=query, budget=ONE)

    assert whole.record["truncated"] == UNCUT
    assert cut.record["truncated"] == UNCUT | {"seeds": True}
    for made in (whole, cut):
        assert len(made.record["entries"] + made.record["omitted"]) == 3


def test_edges_beyond_the_greatest_number_are_cut_and_the_manifest_says_so(world, cast, project):
    paths = [f"src/f{number}.py" for number in range(64)]
    accept(world, cast, project, graph.MAX_EDGES // 64, body="a walrus", paths=paths)
    whole = world.select(cast.reader, project, query="walrus")
    accept(world, cast, project, 1, body="a walrus", paths=paths)

    cut = world.select(cast.reader, project, query="walrus")

    assert whole.record["truncated"] == UNCUT
    assert cut.record["truncated"] == UNCUT | {"edges": True}


def test_omissions_beyond_the_greatest_number_are_cut_and_the_manifest_says_so(
    world, cast, project, monkeypatch
):
    assert choosing.MAX_OMITTED == 100
    monkeypatch.setattr(choosing, "MAX_OMITTED", 2)
    accept(world, cast, project, 3, body="a walrus")
    whole = world.select(cast.reader, project, query="walrus", budget=ONE)
    accept(world, cast, project, 1, body="a walrus")

    cut = world.select(cast.reader, project, query="walrus", budget=ONE)

    assert whole.record["truncated"] == UNCUT
    assert cut.record["truncated"] == UNCUT | {"omitted": True}
    for made in (whole, cut):
        assert len(made.record["omitted"]) == 2


def test_of_what_a_connection_brings_back_beyond_the_seeds_it_is_the_whole_score(
    world, cast, project, monkeypatch
):
    monkeypatch.setattr(ranking, "MAX_SEEDS", 2)
    (top,) = accept(world, cast, project, 1, title="Walrus ice fog moss lichen")
    accept(world, cast, project, 1, body="moss moss")
    pair = {"memory_id": top.memory_id, "revision": top.revision}
    (beyond,) = accept(world, cast, project, 1, body="moss", derived_from=[pair])

    query = "walrus ice fog moss lichen"
    made = world.select(cast.reader, project, query=query, budget=ONE, explain=True)

    (omitted,) = made.record["omitted"]
    boost = omitted["score"]
    assert (omitted["memory_id"], boost > 0) == (beyond.memory_id, True)
    assert omitted["channels"] == {"keyword": 0.0, "path": 0.0, "connection": boost}


def test_the_engine_names_every_weight(world, cast, project):
    engine = world.select(cast.reader, project).record["engine"]

    assert engine.keys() == {"version", "template", "weights"}
    assert engine["weights"] == {
        "title": ranking.TITLE_WEIGHT,
        "tags": ranking.TAG_WEIGHT,
        "body": ranking.BODY_WEIGHT,
        "saturation": ranking.SATURATION,
        "coverage": ranking.COVERAGE,
        "length": {"from": ranking.SHORT, "pivot": ranking.PIVOT},
        "adjacent": adjacency.BONUS,
        "path": ranking.PATH_SHARE,
        "one_hop": graph.ONE_HOP_SHARE,
        "two_hops": graph.TWO_HOP_SHARE,
        "forms": {
            Form.EXACT: 1.0,
            Form.PART: 0.7,
            Form.PLAIN: 0.9,
            Form.STEM: 0.6,
            Form.PAIR: 0.8,
        },
        "without_words": {
            "path": ranking.WORDLESS_CLOSENESS,
            "trust": ranking.WORDLESS_TRUST,
            "recency": ranking.WORDLESS_RECENCY,
        },
    }
