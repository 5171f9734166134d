"""Selection: the same state and request give the same entries, hashes and reasons."""

import json

import pytest

from codeflow_memory.domain import ranking
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.selection import Request
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import selections
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import scopes

COMMIT = "c" * 40
HEAD = "d" * 40


def chosen(made):
    return [entry["memory_id"] for entry in made.record["entries"]]


def reasons(made, memory):
    return made.free["reasons"][memory.memory_id]


def parts(made):
    record = {k: v for k, v in made.record.items() if k not in {"id", "created_at"}}
    return record, made.free, made.context, made.manifest.manifest_sha256


def test_a_project_out_of_reach_is_like_one_that_is_not_there(world, project):
    elsewhere = world.repository().repository.repository_id
    for caller in (world.person("eve", repo=elsewhere), world.person("ops", Role.OPERATOR)):
        with pytest.raises(NotFoundError):
            world.select(caller, project)


def test_a_run_of_others_or_of_another_project_is_like_one_that_is_not_there(world, cast, project):
    other = world.project("docs", project.repository_id)
    named = [
        "run_absent",
        world.run(cast.abe, project).run.run_id,
        world.run(cast.ann, other).run.run_id,
    ]

    told = set()
    for run_id in named:
        with pytest.raises(InvalidRequestError) as refused:
            world.select(cast.ann, project, run_id=run_id)
        told.add(str(refused.value))

    assert told == {"/run_id: no run of yours in this project"}


@pytest.mark.parametrize("field", ["run_id", "branch"])
def test_a_request_that_contradicts_the_runs_token_is_forbidden(world, cast, project, field):
    run = world.sign_in(world.run(cast.ann, project, branch="topic").text)
    other = {"run_id": world.run(cast.ann, project).run.run_id, "branch": "main"}

    with pytest.raises(ForbiddenError):
        world.select(run, project, **{field: other[field]})


def test_a_run_gives_its_id_and_branch(world, cast, project):
    here = world.accept(cast.ann, cast.bob, project, branches=["topic"])
    world.accept(cast.ann, cast.bob, project, branches=["main"])
    started = world.run(cast.ann, project, branch="topic")

    by_token = world.select(world.sign_in(started.text), project)
    by_name = world.select(cast.ann, project, run_id=started.run.run_id)

    for made in (by_token, by_name):
        assert chosen(made) == [here.memory_id]
        assert (made.record["run_id"], made.free["branch"]) == (started.run.run_id, "topic")
        assert made.record["filters"]["branch"] == "known"
        assert made.record["filters"]["removed"]["branch"] == 1


def build(world, cast, project):
    """Entries that meet in words, files, provenance and branches."""
    first = world.accept(
        cast.ann, cast.bob, project, title="Walrus rules", paths=["src/sea/**"], tags=["sea"]
    )
    pair = {"memory_id": first.memory_id, "revision": first.revision}
    second = world.accept(cast.ann, cast.bob, project, body="ice", derived_from=[pair])
    third = world.accept(
        cast.ann, cast.bob, project, body="cold walrus", sources=["file:src/sea/a.py"]
    )
    fourth = world.accept(cast.ann, cast.bob, project, body="fog", branches=["topic"])
    world.accept(cast.ann, cast.bob, project, kind="trace", body="walrus trace")
    world.propose(cast.ann, project, body="walrus proposed")
    return first, second, third, fourth


def test_the_same_state_and_request_give_the_same_hashes(world, cast, project):
    build(world, cast, project)
    request = {"query": "walrus ice", "paths": ("src/sea/b.py",), "explain": True}
    made = [world.select(cast.ann, project, **request)]
    world.clock.at += 400 * DAY
    made.append(world.select(cast.ann, project, **request))
    other = Tenants(world.tenants.home, now=world.clock)
    again = selections.create(
        other.get("local"), cast.ann, project.project_id, None, Request(**request)
    )
    other.close()

    assert parts(made[0]) == parts(made[1]) == parts(again)
    assert made[0].record["id"] != made[1].record["id"]


def test_a_request_without_words_is_served_by_paths_trust_and_recency_without_a_clock(
    world, cast, project, clock
):
    old = world.accept(cast.ann, cast.bob, project)
    clock.at += 30 * DAY
    new = world.accept(cast.ann, cast.bob, project)
    near = world.accept(cast.ann, cast.bob, project, paths=["src/a.py"])

    made = world.select(cast.reader, project, paths=("src/a.py",))
    clock.at += 300 * DAY
    later = world.select(cast.reader, project, paths=("src/a.py",))

    assert chosen(made) == [near.memory_id, new.memory_id, old.memory_id]
    assert parts(made) == parts(later)
    assert reasons(made, old) == [{"type": "standing"}]
    assert reasons(made, near) == [{"type": "path", "closeness": 1.0}]


def test_filters_count_what_they_remove_of_what_the_caller_sees(world, cast, project, clock):
    kept = world.accept(cast.ann, cast.bob, project)
    world.accept(cast.ann, cast.bob, project, kind="trace")
    world.accept(cast.ann, cast.bob, project, sensitivity="sensitive")
    world.accept(cast.ann, cast.bob, project, valid_to="2027-01-16T00:00:00Z")
    world.accept(cast.ann, cast.bob, project, paths=["docs"])
    world.accept(cast.ann, cast.bob, project, branches=["topic"])
    clock.at += DAY
    for author in (cast.abe, cast.bob):
        world.propose(author, project, collection="private", paths=["docs"])
        world.propose(author, project, paths=["docs"])

    made = world.select(cast.reader, project, paths=("src/a.py",), branch="main")

    assert chosen(made) == [kept.memory_id]
    assert made.record["filters"] == {
        "removed": {
            "kind": 1,
            "sensitivity": 1,
            "expired": 1,
            "citation": 0,
            "path": 1,
            "branch": 1,
        },
        "branch": "known",
        "ancestry": "unknown",
    }


def test_what_cannot_be_told_stays_and_the_manifest_says_so(world, cast, project):
    world.accept(cast.ann, cast.bob, project, branches=["topic"])
    world.accept(cast.ann, cast.bob, project, branches=[f"commit:{COMMIT}"])

    made = world.select(cast.reader, project)
    headed = world.select(cast.reader, project, head=HEAD, branch="topic")

    assert len(chosen(made)) == len(chosen(headed)) == 2
    assert (made.record["filters"]["branch"], made.record["filters"]["ancestry"]) == (
        "unknown",
        "unknown",
    )
    assert headed.record["filters"]["ancestry"] == "unknown"


def test_connections_name_the_seed_and_each_hop(world, cast, project):
    first, second, third, _ = build(world, cast, project)
    shared = world.accept(cast.ann, cast.bob, project, body="shared", paths=["src/sea/**"])

    made = world.select(cast.reader, project, query="rules")

    assert chosen(made)[0] == first.memory_id
    assert third.memory_id not in chosen(made)
    (derived,) = reasons(made, second)
    (beside,) = reasons(made, shared)
    top = made.record["entries"][0]["score"]
    assert derived == {
        "type": "connection",
        "seed": first.memory_id,
        "boost": pytest.approx(0.15 * top, abs=2e-6),
        "hops": [{"type": "derived_from", "entity": second.memory_id}],
    }
    assert (beside["seed"], beside["boost"]) == (
        first.memory_id,
        pytest.approx(0.05 * top, abs=2e-6),
    )
    assert beside["hops"] == [
        {"type": "applies_to", "entity": "src/sea/**"},
        {"type": "applies_to", "entity": shared.memory_id},
    ]


def test_what_the_filter_removed_is_neither_boosted_nor_a_way(world, cast, project):
    seed = world.accept(cast.ann, cast.bob, project, title="Walrus", paths=["src/a.py"])
    bridge = world.accept(
        cast.ann,
        cast.bob,
        project,
        branches=["topic"],
        derived_from=[{"memory_id": seed.memory_id, "revision": seed.revision}],
    )
    world.accept(
        cast.ann,
        cast.bob,
        project,
        derived_from=[{"memory_id": bridge.memory_id, "revision": bridge.revision}],
    )

    made = world.select(cast.reader, project, query="walrus", branch="main")

    assert chosen(made) == [seed.memory_id]


def test_proposals_take_no_place_among_the_edges(world, cast, project):
    path = [f"src/f{number}.py" for number in range(64)]
    seed = world.accept(cast.ann, cast.bob, project, title="Walrus", paths=path)
    beside = world.accept(cast.ann, cast.bob, project, paths=path[:1])
    before = world.select(cast.reader, project, query="walrus")
    assert chosen(before) == [seed.memory_id, beside.memory_id]

    with world.store.engine.write() as tx:
        # Sixteen proposals with lower ids than the accepted entry have 1,024 edges to its files.
        entities = tx.rows("SELECT entity_id FROM entities WHERE kind = 'file' ORDER BY key")
        for number in range(16):
            tx.executemany(
                """
                INSERT INTO relationships (
                    scope_id, memory_id, type, target, target_revision, memory_revision
                ) VALUES (:scope_id, :memory_id, 'applies_to', :target, 0, 1)
                """,
                [
                    {"scope_id": seed.scope_id, "memory_id": f"mem_0{number:02}", "target": e[0]}
                    for e in entities
                ],
            )
        scopes.touch(tx, project.repository_id, seed.scope_id)

    assert parts(world.select(cast.reader, project, query="walrus")) == parts(before)


def test_what_is_hidden_changes_nothing(world, cast, project):
    build(world, cast, project)
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)
    request = {"query": "walrus ice", "paths": ("src/sea/b.py",), "explain": True}
    callers = (cast.reader, cast.bob, world.owner)
    before = [parts(world.select(caller, project, **request)) for caller in callers]

    for author in (cast.abe, run):
        world.propose(
            author, project, collection="private", body="walrus ice", paths=["src/sea/**"]
        )

    assert [parts(world.select(caller, project, **request)) for caller in callers] == before


def test_budgets_omit_with_the_reason_and_never_cut(world, cast, project):
    top = world.accept(cast.ann, cast.bob, project, title="Walrus walrus", tags=["walrus"])
    big = world.accept(cast.ann, cast.bob, project, title="Walrus", body="word " * 900)
    small = world.accept(cast.ann, cast.bob, project, body="a small walrus")

    made = world.select(cast.reader, project, query="walrus", budget=Budget(3_000, 20))
    fewer = world.select(cast.reader, project, query="walrus", budget=Budget(12_000, 1))

    assert chosen(made) == [top.memory_id, small.memory_id]
    assert [(o["memory_id"], o["reason"]) for o in made.record["omitted"]] == [
        (big.memory_id, "characters")
    ]
    assert len(made.context) <= 3_000
    assert [o["reason"] for o in fewer.record["omitted"]] == ["entries", "entries"]


@pytest.mark.parametrize("query", ["walrus", ""])
def test_what_is_no_seed_is_neither_taken_nor_lends_to_a_seed(
    world, cast, project, clock, monkeypatch, query
):
    made, pairs = [], []
    for number in range(3):
        clock.at += DAY
        fields = {"title": f"Walrus {number}", "derived_from": pairs if number == 1 else []}
        made.append(world.propose(cast.ann, project, collection="private", **fields))
        pairs = [{"memory_id": made[-1].memory_id, "revision": 1}]
    oldest, derived, newest = made
    whole = world.select(cast.ann, project, query=query)
    assert {r["type"] for r in reasons(whole, derived)} >= {"connection"}

    for most in (3, 2):
        monkeypatch.setattr(ranking, "MAX_SEEDS", most)
        selection = world.select(cast.ann, project, query=query)
        assert selection.record["truncated"]["seeds"] is (most == 2)

    assert chosen(selection) == [newest.memory_id, derived.memory_id]
    assert selection.record["omitted"] == []
    assert "connection" not in {r["type"] for r in reasons(selection, derived)}
    assert oldest.memory_id in chosen(whole)


REQUESTS = [
    ({"query": "walrus"}, {"keyword", "path", "connection"}),
    ({}, {"path", "trust", "recency", "connection"}),
]


@pytest.mark.parametrize(("words", "names"), REQUESTS, ids=["with words", "without words"])
def test_the_channels_of_an_explained_omission_add_up_to_its_score(
    world, cast, project, clock, words, names
):
    build(world, cast, project)
    clock.at += 30 * DAY
    world.accept(cast.ann, cast.bob, project, title="Walrus walrus", tags=["walrus"])
    request = words | {"paths": ("src/sea/b.py",), "budget": Budget(12_000, 1)}

    made = world.select(cast.reader, project, **request, explain=True)
    plain = world.select(cast.reader, project, **request)

    omitted = made.record["omitted"]
    for entry in omitted:
        assert entry["channels"].keys() == names
        assert sum(entry["channels"].values()) == pytest.approx(entry["score"], abs=2.5e-6)
    assert {name for entry in omitted for name, part in entry["channels"].items() if part} == names
    assert [o.keys() for o in plain.record["omitted"]] == [
        {"memory_id", "score", "reason"} for _ in omitted
    ]


def test_a_flagged_text_that_came_in_accepted_is_held_back_in_the_context(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body="a walrus that shouts")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET review_reason = 'flagged:test'")

    made = world.select(cast.reader, project, query="walrus")

    assert chosen(made) == [memory.memory_id]
    assert "shouts" not in made.context
    assert made.record["entries"][0]["state"] == "quarantined"


def test_nothing_to_select_gives_an_empty_context(world, cast, project):
    made = world.select(cast.reader, project, query="walrus")

    assert (made.context, chosen(made), made.record["omitted"]) == ("", [], [])


def test_the_words_of_a_request_are_in_the_free_part_alone(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="a walrus", paths=["src/walrus"])

    made = world.select(
        cast.reader, project, query="walrus", paths=("src/walrus",), branch="walrus"
    )

    assert "walrus" not in made.manifest.record
    assert json.loads(made.manifest.free_text) == made.free
    assert made.free["paths"] == ["src/walrus"]
