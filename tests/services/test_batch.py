"""Batch: each step under its own rules; all or none where that is asked."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    DeadlineExceededError,
    ForbiddenError,
    NotFoundError,
    OperationReusedError,
    RevisionConflictError,
)
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import batch
from codeflow_memory.services.batch import Step
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.services.review import Decision
from codeflow_memory.storage import audit
from codeflow_memory.storage.engine import BUSY_TIMEOUT_MS

LONGEST = "k" * 200


def step(action, memory, **more):
    decision = None
    if action not in {"update", "publish", "delete"}:
        decision = Decision(Action(action), superseded_by=more.pop("superseded_by", None))
    return Step(action, memory.memory_id, memory.revision, decision, **more)


def run(world, caller, steps, op=None, **how):
    operation = Operation(op, (repr(steps),))
    chosen = {"dry_run": False, "atomic": False} | how
    outcome = batch.run(world.store, caller, steps, operation, **chosen)
    return outcome.results, outcome.applied


def audit_rows(world):
    with world.store.engine.read() as tx:
        return audit.count(tx)


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize(
    ("who", "refusal"),
    [("ann", ForbiddenError), ("reader", NotFoundError), ("bob", ForbiddenError)],
)
def test_no_action_is_easier_in_a_batch(world, cast, project, who, refusal, atomic):
    memory = world.propose(cast.bob if who == "bob" else cast.ann, project)

    (result,), applied = run(world, getattr(cast, who), [step("approve", memory)], atomic=atomic)

    assert isinstance(result.error, refusal)
    assert applied is not atomic
    assert world.get(cast.bea, memory).memory == memory


def test_an_agent_approves_nothing_through_a_batch(world, cast, project):
    memory = world.propose(cast.ann, project)
    agent = world.person("robo", Role.OWNER, kind="agent")

    (result,), _ = run(world, agent, [step("approve", memory)])

    assert isinstance(result.error, ForbiddenError)


def test_hidden_and_absent_ids_are_refused_alike(world, cast, project):
    hidden = world.propose(cast.abe, project, collection="private")

    results, _ = run(
        world,
        cast.bob,
        [Step("delete", hidden.memory_id, 1), Step("delete", "mem_absent", 1)],
    )

    told = [str(r.error).replace(r.memory_id, "ID") for r in results]
    assert told[0] == told[1] == "no memory 'ID'"


def test_good_steps_apply_and_bad_ones_say_why(world, cast, project):
    good, bad = world.propose(cast.ann, project), world.propose(cast.bob, project)

    results, applied = run(world, cast.bob, [step("approve", bad), step("approve", good)])

    assert applied
    assert isinstance(results[0].error, ForbiddenError)
    assert (results[1].status, results[1].revision) == ("accepted", 2)


def test_one_bad_step_keeps_all_from_applying_when_that_is_asked(world, cast, project):
    good, bad = world.propose(cast.ann, project), world.propose(cast.bob, project)
    rows = audit_rows(world)

    results, applied = run(
        world, cast.bob, [step("approve", good), step("approve", bad)], atomic=True
    )

    assert not applied
    assert (results[0].status, results[0].error) == ("accepted", None)
    assert world.get(cast.bob, good).memory == good
    assert audit_rows(world) == rows


@pytest.mark.parametrize("how", [{"atomic": True}, {"dry_run": True}])
def test_steps_in_one_transaction_hold_up_others_for_so_long_only(
    world, cast, project, monkeypatch, how
):
    memory, bob = world.propose(cast.ann, project), cast.bob
    rows = audit_rows(world)
    monkeypatch.setattr(batch, "TOGETHER_SECONDS", 0.0)

    with pytest.raises(DeadlineExceededError):
        run(world, bob, [step("approve", memory)], **how)

    assert batch.TOGETHER_SECONDS < BUSY_TIMEOUT_MS / 1_000
    assert world.get(cast.bob, memory).memory == memory
    assert audit_rows(world) == rows


def test_a_dry_run_answers_like_the_real_one_and_keeps_nothing(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project)
    pair = {"memory_id": old.memory_id, "revision": old.revision}
    late = world.propose(cast.ann, project, supersedes=pair)
    good = world.propose(cast.ann, project)
    world.decide(cast.bob, world.decide(cast.bob, old, "outdate"), "restore")
    steps = [step("approve", late), step("reject", late), step("approve", good)]
    bea, rows = cast.bea, audit_rows(world)

    dry, _ = run(world, bea, steps, dry_run=True)
    assert audit_rows(world) == rows
    real, _ = run(world, bea, steps)

    assert [(r.memory_id, r.revision, r.status, str(r.error)) for r in dry] == [
        (r.memory_id, r.revision, r.status, str(r.error)) for r in real
    ]
    assert isinstance(real[0].error, RevisionConflictError)
    assert [r.status for r in real[1:]] == ["rejected", "accepted"]
    assert recompute(world.store, sample=None)[1] == []


def test_every_action_has_its_place_in_a_batch(world, cast, project):
    edited, gone = world.propose(cast.bob, project), world.propose(cast.bob, project)
    private = world.propose(cast.bob, project, collection="private")
    old = world.accept(cast.ann, cast.bea, project)
    new = world.accept(cast.ann, cast.bea, project)
    steps = [
        step("update", edited, changes={"title": "Edited"}),
        step("publish", private),
        step("delete", gone, reason="wrong"),
        step("supersede", old, superseded_by=new.memory_id),
        step("archive", new),
    ]

    results, _ = run(world, cast.bob, steps)

    assert [r.error for r in results] == [None] * 5
    assert [r.status for r in results] == [
        "proposed",
        "proposed",
        "deleted",
        "superseded",
        "archived",
    ]
    assert world.get(cast.bob, gone).memory.tombstone.reason == "wrong"
    assert world.get(cast.bob, old).memory.superseded_by == new.memory_id


def test_two_decisions_of_one_batch_on_one_revision_are_both_kept(world, cast, project):
    world.settings(project, required_approvals=2)
    memory = world.propose(cast.ann, project)

    results, applied = run(
        world, cast.bob, [step("approve", memory), step("reject", memory)], atomic=True
    )

    assert applied
    assert [r.status for r in results] == ["proposed", "rejected"]


@pytest.mark.parametrize("atomic", [False, True])
def test_a_repeated_batch_is_done_once_whatever_the_length_of_its_id(world, cast, project, atomic):
    one, two = world.propose(cast.ann, project), world.propose(cast.ann, project)
    steps = [step("approve", one), step("reject", two)]
    first = run(world, cast.bob, steps, op=LONGEST, atomic=atomic)
    rows = audit_rows(world)

    assert run(world, cast.bob, steps, op=LONGEST, atomic=atomic) == first
    assert audit_rows(world) == rows
    assert world.get(cast.bob, one).memory.status is Status.ACCEPTED


def test_another_batch_under_the_same_id_is_refused_before_any_step(world, cast, project):
    one, two = world.propose(cast.ann, project), world.propose(cast.ann, project)
    run(world, cast.bob, [step("approve", one)], op="k")

    with pytest.raises(OperationReusedError):
        run(world, cast.bob, [step("approve", one), step("approve", two)], op="k")

    assert world.get(cast.bob, two).memory.status is Status.PROPOSED
