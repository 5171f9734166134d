"""Replay: byte-identical however the memories have changed, and never more than one may read."""

import json
from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.context import State
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.services import feedback, replay
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation

NEW = Operation(None, ())


def again(world, caller, project, made):
    return replay.run(world.store, caller, project.project_id, None, made.manifest.manifest_id)


def listed(world, caller, project, run_id=None, before=None, limit=100):
    found = replay.find_of_run(world.store, caller, project.project_id, None, run_id, before, limit)
    return [manifest.manifest_id for manifest in found]


@pytest.mark.parametrize("who", ["abe", "reader", "ops", "elsewhere"])
def test_anothers_manifest_is_like_one_that_is_not_there(world, cast, project, who):
    world.accept(cast.ann, cast.bob, project, body="a walrus")
    made = world.select(cast.ann, project, query="walrus")
    others = {
        "ops": lambda: world.person("ops", Role.OPERATOR),
        "elsewhere": lambda: world.person(
            "eve", Role.REVIEWER, repo=world.repository().repository.repository_id
        ),
    }
    caller = others[who]() if who in others else getattr(cast, who)

    told = []
    for manifest in (made.manifest, replace(made.manifest, manifest_id="sel_absent")):
        with pytest.raises(NotFoundError) as refused:
            again(world, caller, project, replace(made, manifest=manifest))
        told.append(str(refused.value).replace(manifest.manifest_id, "ID"))

    assert told[0] == told[1]


def test_a_manifest_is_in_its_project_alone(world, cast, project):
    other = world.project("docs", project.repository_id)
    made = world.select(cast.ann, project)

    with pytest.raises(NotFoundError):
        again(world, cast.ann, other, made)


def test_a_reviewer_sees_a_manifest_of_which_every_entry_may_be_seen(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="a walrus")
    shared = world.select(cast.ann, project, query="walrus")
    world.propose(cast.ann, project, collection="private", body="a walrus of mine")
    mixed = world.select(cast.ann, project, query="walrus")

    assert again(world, cast.bob, project, shared).context == shared.context
    with pytest.raises(NotFoundError):
        again(world, cast.bob, project, mixed)


def test_a_reviewer_sees_no_manifest_that_left_out_what_it_may_not_see(world, cast, project):
    world.accept(cast.ann, cast.bob, project, title="Walrus", body="a walrus")
    world.propose(cast.ann, project, collection="private", body="a walrus of mine")
    made = world.select(cast.ann, project, query="walrus", budget=Budget(12_000, 1))
    assert (len(made.record["entries"]), len(made.record["omitted"])) == (1, 1)

    with pytest.raises(NotFoundError):
        again(world, cast.bob, project, made)


CHANGES = ["edit", "return", "outdate", "archive", "supersede", "reject", "feedback", "secret"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("who", ["ann", "reader"])
def test_a_replay_is_byte_identical_however_the_memories_have_changed(
    world, cast, project, change, who
):
    caller = getattr(cast, who)
    memory = world.accept(cast.ann, cast.bob, project, body="a walrus")
    world.accept(cast.ann, cast.bob, project, body="another walrus", sources=["session:s"])
    made = world.select(caller, project, query="walrus")

    if change == "edit":
        edited = world.revise(cast.ann, memory, body="no such animal", title="Other")
        world.decide(cast.bob, edited, "approve")
    elif change == "secret":
        world.revise(cast.bob, memory, sensitivity="sensitive")
    elif change == "feedback":
        judgement = Judgement(helpful=False)
        feedback.give(world.store, cast.abe, memory.memory_id, judgement, NEW)
    else:
        successor = world.accept(cast.ann, cast.bob, project).memory_id
        facts = {"superseded_by": successor} if change == "supersede" else {}
        world.decide(cast.bea, memory, change, **facts)
    replayed = again(world, caller, project, made)

    assert replayed.context == made.context
    assert replayed.verified
    assert {place.state for place in replayed.places} == {State.SHOWN}


def test_a_warning_is_replayed_as_it_was_given(world, cast, project):
    memory = world.accept(
        cast.ann, cast.bob, project, sources=["session:s", "file:src/a.py", "file:b.py"]
    )
    with world.store.engine.write() as tx:
        tx.execute(
            """
            INSERT INTO citations (repository_id, memory_id, source, blob_hash, result, checked_at)
            VALUES (:repository_id, :memory_id, 'file:src/a.py', '', 'missing', 1)
            """,
            {"repository_id": memory.repository_id, "memory_id": memory.memory_id},
        )
    made = world.select(cast.reader, project)
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM citations")

    replayed = again(world, cast.reader, project, made)

    assert "the cited file src/a.py is missing; check it" in made.context
    assert (replayed.context, replayed.verified) == (made.context, True)
    assert made.record["entries"][0]["warnings"] == ["missing:1"]


def test_what_was_held_back_is_held_back_in_the_replay_too(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="a walrus that shouts")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET review_reason = 'flagged:test'")
    made = world.select(cast.reader, project, query="walrus")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET review_reason = NULL")

    replayed = again(world, cast.reader, project, made)

    assert [place.state for place in replayed.places] == [State.QUARANTINED]
    assert "shouts" not in replayed.context
    assert (replayed.context, replayed.verified) == (made.context, True)


def test_what_was_deleted_since_is_redacted_and_the_rest_stays(world, cast, project):
    gone = world.accept(cast.ann, cast.bob, project, title="Walrus", body="seldom")
    kept = world.accept(cast.ann, cast.bob, project, body="a walrus swims")
    made = world.select(cast.reader, project, query="walrus")
    world.delete(cast.max, gone)

    replayed = again(world, cast.reader, project, made)

    assert [(p.memory_id, p.state) for p in replayed.places] == [
        (gone.memory_id, State.REDACTED),
        (kept.memory_id, State.SHOWN),
    ]
    assert "seldom" not in replayed.context
    assert "a walrus swims" in replayed.context
    assert not replayed.verified


def test_what_the_caller_lost_sight_of_is_withheld(world, cast, project):
    team = world.team("red", cast.ann)
    ann = world.again(cast.ann)
    world.propose(ann, project, collection="team", team_id=team, body="the walrus is blue")
    world.accept(ann, cast.bob, project, body="a walrus swims")
    made = world.select(ann, project, query="walrus")
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM team_members")

    replayed = again(world, world.again(ann), project, made)

    assert sorted(p.state for p in replayed.places) == [State.SHOWN, State.WITHHELD]
    assert "blue" not in replayed.context
    assert "a walrus swims" in replayed.context
    assert not replayed.verified


@pytest.mark.parametrize("part", ["score", "revision", "context", "free"])
def test_a_manifest_that_was_changed_does_not_verify(world, cast, project, part):
    world.accept(cast.ann, cast.bob, project, body="a walrus")
    made = world.select(cast.reader, project, query="walrus")
    record = json.loads(made.manifest.record)
    statement = "UPDATE manifests SET record = :value"
    if part == "free":
        statement = "UPDATE manifests SET free_text = :value"
        record = made.free | {"query": "zebra"}
    elif part == "context":
        statement = "UPDATE manifests SET context_sha256 = :value"
    else:
        record["entries"][0][part] = 1
    with world.store.engine.write() as tx:
        tx.execute(statement, {"value": json.dumps(record)})

    assert not again(world, cast.reader, project, made).verified


def test_the_manifests_of_a_run_are_listed_to_those_who_may_see_them(world, cast, project):
    started = world.run(cast.ann, project)
    run_id = started.run.run_id
    run = world.sign_in(started.text)
    made = [world.select(run, project).manifest.manifest_id for _ in range(3)]
    world.select(cast.ann, project)

    assert listed(world, run, project, run_id) == made[::-1]
    assert listed(world, cast.bob, project, run_id) == made[::-1]
    assert listed(world, cast.abe, project, run_id) == []
    assert listed(world, cast.abe, project, "run_absent") == []
    assert listed(world, cast.ann, project, run_id, before=made[2], limit=1) == [
        made[1],
        made[0],
    ]


def test_hidden_manifests_take_no_place_on_a_reviewers_page(world, cast, project):
    started = world.run(cast.ann, project)
    run = world.sign_in(started.text)
    world.accept(cast.ann, cast.bob, project, body="a walrus")
    shown = [world.select(run, project, query="walrus").manifest.manifest_id for _ in range(2)]
    world.propose(run, project, collection="private", body="a zebra of mine")
    for _ in range(5):
        world.select(run, project, query="zebra")

    found = listed(world, cast.bob, project, started.run.run_id, limit=1)

    assert found == shown[::-1]


def test_without_a_run_ones_own_are_listed(world, cast, project):
    made = world.select(cast.ann, project).manifest.manifest_id
    world.select(cast.abe, project)

    assert listed(world, cast.ann, project) == [made]
    assert listed(world, cast.bob, project) == []
