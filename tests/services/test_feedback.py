"""Feedback: outcomes move trust once for each principal and revision, and nothing else."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    OperationReusedError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import feedback, outcomes
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import feedback as rows

ABSENT = "mem_absent"


def give(world, caller, memory_id, helpful, op=None, **more):
    judgement = Judgement(helpful=helpful, **more)
    operation = Operation(op, (memory_id, str(helpful)))
    return feedback.give(world.store, caller, memory_id, judgement, operation)


def judge(world, caller, project, selection_id, memory_id, op=None):
    judgement = Judgement(helpful=True, selection_id=selection_id)
    return outcomes.give(
        world.store,
        caller,
        project.project_id,
        None,
        memory_id,
        judgement,
        Operation(op, (selection_id, memory_id)),
    )


@pytest.mark.parametrize("kind", ["private", "proposed"])
def test_what_is_hidden_is_judged_like_what_is_absent(world, cast, project, kind):
    fields = {"collection": "private"} if kind == "private" else {}
    hidden = world.propose(cast.ann, project, **fields)

    told = []
    for memory_id in (hidden.memory_id, ABSENT):
        with pytest.raises(NotFoundError) as refused:
            give(world, cast.reader, memory_id, helpful=True)
        told.append(str(refused.value).replace(memory_id, "ID"))

    assert told[0] == told[1]
    with pytest.raises(NotFoundError):
        give(world, world.person("ops", Role.OPERATOR), hidden.memory_id, helpful=True)


def test_a_tombstone_is_not_judged(world, cast, project):
    stone = world.delete(cast.ann, world.propose(cast.ann, project))

    with pytest.raises(NotFoundError):
        give(world, cast.ann, stone.memory_id, helpful=True)


@pytest.mark.parametrize("named", ["absent", "others", "without"])
def test_a_selection_that_did_not_give_the_memory_is_invalid(world, cast, project, named):
    memory = world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    hidden = world.propose(cast.abe, project, collection="private", body="a walrus of abe's")
    made = {
        "absent": lambda: "sel_absent",
        "others": lambda: world.select(cast.abe, project, query="walrus").manifest.manifest_id,
        "without": lambda: world.select(cast.ann, project, query="zebra").manifest.manifest_id,
    }[named]()

    with pytest.raises(InvalidRequestError) as refused:
        give(world, cast.ann, memory.memory_id, helpful=True, selection_id=made)

    assert refused.value.faults[0].pointer == "/selection_id"
    assert world.get(cast.ann, memory).memory == memory
    assert world.get(cast.abe, hidden).memory == hidden


def test_a_judgement_moves_trust_and_no_revision(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)

    helped = give(world, cast.reader, memory.memory_id, helpful=True)
    failed = give(world, cast.ann, memory.memory_id, helpful=False)

    assert (memory.trust, helped.trust, failed.trust) == (8_500, 9_500, 8_000)
    after = world.get(cast.reader, memory).memory
    assert (after.trust, after.revision, after.updated_at) == (8_000, 2, memory.updated_at)


def test_a_principal_judges_a_revision_once(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    give(world, cast.reader, memory.memory_id, helpful=True)

    again = give(world, cast.reader, memory.memory_id, helpful=False)

    assert (again.trust, again.counted) == (9_500, False)
    with world.store.engine.read() as tx:
        assert len(rows.find_all(tx, memory.repository_id, memory.memory_id)) == 1


def test_trust_stays_within_its_bounds(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    for caller in (cast.ann, cast.abe, cast.bob):
        standing = give(world, caller, memory.memory_id, helpful=True)

    assert standing.trust == 10_000


@pytest.mark.parametrize(
    ("who", "changes", "trust"),
    [
        ("ann", {"tags": ["other"]}, 7_000),
        ("ann", {"sources": [f"commit:{'a' * 40}"]}, 7_000),
        ("run", {"sources": [f"commit:{'a' * 40}"]}, 7_000),
        ("run", {"body": "Another text."}, 7_000),
        ("ann", {"body": "Another text."}, 8_500),
    ],
)
def test_what_was_judged_stays_judged_until_a_person_writes_another_text(
    world, cast, project, who, changes, trust
):
    run = world.sign_in(world.run(cast.ann, project).text)
    memory = world.propose(run, project, collection="private")
    assert give(world, cast.ann, memory.memory_id, helpful=False).trust == 7_000

    revised = world.revise(run if who == "run" else cast.ann, memory, **changes)

    assert (revised.trust, revised.status) == (trust, memory.status)


def test_below_the_floor_accepted_guidance_returns_to_review(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    give(world, cast.ann, memory.memory_id, helpful=False)
    give(world, cast.abe, memory.memory_id, helpful=False)
    kept = world.get(cast.ann, memory).memory
    assert (kept.status, kept.trust) == (Status.ACCEPTED, 5_500)

    standing = give(world, cast.reader, memory.memory_id, helpful=False, op="k")

    assert (standing.status, standing.trust, standing.revision) == (Status.PROPOSED, 4_000, 3)
    held = world.get(cast.ann, memory).memory
    assert (held.review_reason, held.trust) == ("trust", 4_000)
    assert give(world, cast.reader, memory.memory_id, helpful=False, op="k") == standing
    assert world.decide(cast.bea, held, "approve").status is Status.ACCEPTED


def test_a_judgement_shows_in_the_next_selection_of_any_process(world, cast, project):
    first = world.accept(cast.ann, cast.bob, project)
    second = world.accept(cast.ann, cast.bob, project)
    assert [e.memory_id for e in world.select(cast.ann, project).places] == [
        first.memory_id,
        second.memory_id,
    ]

    give(world, cast.reader, second.memory_id, helpful=True)

    assert [e.memory_id for e in world.select(cast.ann, project).places] == [
        second.memory_id,
        first.memory_id,
    ]


def test_the_outcome_of_a_selection_is_recorded_with_it(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    run = world.sign_in(world.run(cast.ann, project).text)
    made = world.select(run, project, query="walrus").manifest.manifest_id

    standing = judge(world, run, project, made, memory.memory_id)

    assert standing.counted
    with world.store.engine.read() as tx:
        (kept,) = rows.find_all(tx, memory.repository_id, memory.memory_id)
    assert (kept.selection_id, kept.run_id) == (made, run.run.run_id)


@pytest.mark.parametrize("who", ["abe", "reader"])
def test_anothers_selection_is_like_none(world, cast, project, who):
    memory = world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    made = world.select(cast.ann, project, query="walrus").manifest.manifest_id

    told = []
    for selection_id in (made, "sel_absent"):
        with pytest.raises(NotFoundError) as refused:
            judge(world, getattr(cast, who), project, selection_id, memory.memory_id)
        told.append(str(refused.value).replace(selection_id, "ID"))

    assert told[0] == told[1]


def test_only_entries_of_the_selection_have_outcomes(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    other = world.accept(cast.ann, cast.bob, project)
    made = world.select(cast.ann, project, query="walrus").manifest.manifest_id

    with pytest.raises(InvalidRequestError) as refused:
        judge(world, cast.ann, project, made, other.memory_id)

    assert refused.value.faults[0].pointer == "/memory_id"


def test_an_outcome_is_answered_alike_after_its_memory_is_gone(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    made = world.select(cast.ann, project, query="walrus").manifest.manifest_id
    standing = judge(world, cast.ann, project, made, memory.memory_id, op="k")
    world.delete(cast.max, memory)

    assert judge(world, cast.ann, project, made, memory.memory_id, op="k") == standing
    with pytest.raises(OperationReusedError):
        judge(world, cast.ann, project, "sel_other", memory.memory_id, op="k")
