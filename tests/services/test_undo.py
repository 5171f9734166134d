"""Undo: exactly what was, as new revisions; never over later changes (03 §3)."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    IllegalTransitionError,
    NotFoundError,
    OperationReusedError,
    UndoConflictError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import batch, undo
from codeflow_memory.services.batch import Step
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.storage import batches

NEW = Operation(None, ())


@pytest.fixture
def undoing(world):
    """Undo as a caller does; return what the entries are then."""

    def run(access, *, of_batch=None, item=None, op=None):
        operation = Operation(op, (repr((of_batch, item)),))
        return undo.undo(world.store, access, operation, batch=of_batch, item=item)

    return run


def batch_of(world, memory):
    """The batch that wrote the entry's present revision."""
    with world.store.engine.read() as tx:
        found = tx.rows(
            "SELECT batch_id FROM audit WHERE item = :item AND to_revision = :revision"
            " AND to_status IS NOT NULL",
            {"item": memory.memory_id, "revision": memory.revision},
        )
    return found[-1][0]


def state(memory):
    """What undo restores exactly."""
    return (memory.status, memory.content, memory.content_sha256, memory.superseded_by)


@pytest.mark.usefixtures("project")
def test_without_any_change_there_is_nothing_to_undo(cast, undoing):
    with pytest.raises(NotFoundError, match=r"^no change to undo$"):
        undoing(cast.ann)


@pytest.mark.parametrize("named", ["bat_unknown", "bat_" + "0" * 26, "x"])
def test_an_unknown_batch_is_not_found(world, cast, project, undoing, named):
    world.write(cast.ann, project, collection="private")

    with pytest.raises(NotFoundError):
        undoing(cast.ann, of_batch=named)


def test_an_agent_undoes_nothing(world, cast, project, undoing):
    run = world.run(cast.ann, project)
    agent = world.sign_in(run.text)
    memory = world.write(agent, project, collection="private").memory

    for access in (agent, world.person("robot", Role.CONTRIBUTOR, "agent")):
        with pytest.raises(ForbiddenError):
            undoing(access, item=memory.memory_id)
    assert world.get(agent, memory).memory.revision == 1


def test_anothers_private_change_does_not_exist(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory

    for named in ({"of_batch": batch_of(world, memory)}, {"item": memory.memory_id}):
        with pytest.raises(NotFoundError):
            undoing(cast.max, **named)


def test_a_contributor_undoes_no_change_of_another(world, cast, project, undoing):
    memory = world.propose(cast.ann, project)

    with pytest.raises(ForbiddenError):
        undoing(cast.abe, item=memory.memory_id)
    assert undoing(cast.bob, item=memory.memory_id).reverted[0].to_revision == 2


def test_the_last_batch_comes_back_exactly(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private", tags=["a"]).memory
    world.revise(cast.ann, memory, body="Something else now", tags=["b"], paths=["src/x.py"])

    done = undoing(cast.ann)

    now = world.get(cast.ann, memory).memory
    assert [(r.memory_id, r.from_revision, r.to_revision) for r in done.reverted] == [
        (memory.memory_id, 2, 3)
    ]
    assert (now.revision, state(now)) == (3, state(memory))
    assert world.search(cast.ann, project, memory.content.body.split()[1]).results
    assert not world.search(cast.ann, project, "something").results


def test_undo_goes_further_back_each_time_and_never_redoes(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory
    second = world.revise(cast.ann, memory, title="Second title")
    third = world.revise(cast.ann, second, title="Third title")

    undoing(cast.ann)
    assert state(world.get(cast.ann, memory).memory) == state(second)
    undoing(cast.ann)
    assert state(world.get(cast.ann, memory).memory) == state(memory)
    undoing(cast.ann)
    now = world.get(cast.ann, memory).memory
    assert (now.status, now.revision, third.revision) == (Status.ARCHIVED, 6, 3)
    with pytest.raises(NotFoundError):
        undoing(cast.ann)


def test_an_undo_can_be_undone(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory
    revised = world.revise(cast.ann, memory, title="Another title")
    done = undoing(cast.ann)

    undoing(cast.ann, of_batch=done.batch_id)

    now = world.get(cast.ann, memory).memory
    assert (now.revision, state(now)) == (4, state(revised))


def test_a_later_change_is_told_and_nothing_is_written(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory
    other = world.write(cast.ann, project, collection="private").memory
    revised = world.revise(cast.ann, memory, title="Second title")
    of_batch = batch_of(world, revised)
    world.revise(cast.ann, revised, title="Third title")

    with pytest.raises(UndoConflictError) as told:
        undoing(cast.ann, of_batch=of_batch)

    assert [(c["memory_id"], c["revision"]) for c in told.value.facts["later_changes"]] == [
        (memory.memory_id, 3)
    ]
    assert world.get(cast.ann, memory).memory.revision == 3
    assert world.get(cast.ann, other).memory.revision == 1


def test_a_later_change_in_one_entry_keeps_the_whole_batch(world, cast, project, undoing):
    first, second = (world.write(cast.ann, project, collection="private").memory for _ in "ab")
    steps = [Step("archive", m.memory_id, 1, Decision("archive")) for m in (first, second)]
    batch.run(world.store, cast.ann, steps, NEW, dry_run=False, atomic=True)
    moved = world.get(cast.ann, second).memory
    of_batch = batch_of(world, moved)
    world.decide(cast.ann, moved, "restore")

    with pytest.raises(UndoConflictError):
        undoing(cast.ann, of_batch=of_batch)
    assert world.get(cast.ann, first).memory.status is Status.ARCHIVED


def test_a_batch_of_many_goes_back_as_one(world, cast, project, undoing):
    made = [world.write(cast.ann, project, collection="private").memory for _ in range(3)]
    steps = [Step("archive", m.memory_id, 1, Decision("archive")) for m in made]
    batch.run(world.store, cast.ann, steps, NEW, dry_run=False, atomic=True)

    done = undoing(cast.ann)

    assert {r.memory_id for r in done.reverted} == {m.memory_id for m in made}
    assert {world.get(cast.ann, m).memory.status for m in made} == {Status.ACCEPTED}
    with world.store.engine.read() as tx:
        assert {c.action for c in batches.changes(tx, done.batch_id)} == {"undo"}


def test_a_succession_is_taken_back_with_both_its_ends(world, cast, project, undoing):
    old = world.accept(cast.ann, cast.bob, project)
    new = world.propose(
        cast.ann, project, supersedes={"memory_id": old.memory_id, "revision": old.revision}
    )
    world.decide(cast.bob, new, "approve")
    assert world.get(cast.bob, old).memory.status is Status.SUPERSEDED

    undoing(cast.bob)

    back, sent = world.get(cast.bob, old).memory, world.get(cast.bob, new).memory
    assert state(back) == state(old)
    assert (sent.status, sent.superseded_by, sent.content) == (Status.PROPOSED, None, new.content)
    assert all(a.withdrawn for a in world.get(cast.bob, new).approvals)


@pytest.mark.parametrize("how", ["approve", "restore"])
def test_an_entry_goes_back_with_what_it_took_the_place_of(world, cast, project, undoing, how):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key="api | version", title="One")
    new = world.propose(cast.ann, project, kind="fact", key="api | version", title="Two")
    if how == "restore":
        world.accept(cast.ann, cast.bob, project, title="Nothing to do with it")
        old, new = world.decide(cast.bob, new, "approve"), world.get(cast.bob, old).memory
    world.decide(cast.bob, new, how)

    undone = undoing(cast.bob, item=new.memory_id)

    assert {r.memory_id for r in undone.reverted} == {old.memory_id, new.memory_id}
    assert state(world.get(cast.bob, old).memory) == state(old)
    assert state(world.get(cast.bob, new).memory) == state(new)


def test_what_was_made_goes_out_of_service_and_its_text_stays(world, cast, project, undoing):
    own = world.write(cast.ann, project, collection="private").memory
    undoing(cast.ann)
    proposed = world.propose(cast.ann, project)
    undoing(cast.ann)

    states = [world.get(cast.ann, m).memory for m in (own, proposed)]
    assert [m.status for m in states] == [Status.ARCHIVED, Status.OUTDATED]
    assert [m.content for m in states] == [own.content, proposed.content]


def test_nothing_leads_back_from_a_deletion_or_a_rejection(world, cast, project, undoing):
    gone = world.write(cast.ann, project, collection="private").memory
    world.delete(cast.ann, gone)
    with pytest.raises(IllegalTransitionError):
        undoing(cast.ann)
    rejected = world.propose(cast.ann, project)
    world.decide(cast.bob, rejected, "reject")
    with pytest.raises(IllegalTransitionError):
        undoing(cast.bob)


def test_each_step_back_needs_the_right_to_make_it(world, cast, project, undoing):
    memory = world.accept(cast.ann, cast.bob, project)
    edited = world.revise(cast.ann, memory, title="An edit of accepted guidance")
    assert edited.status is Status.PROPOSED

    with pytest.raises(ForbiddenError):
        # To put an accepted text back into service is a reviewer's.
        undoing(cast.ann)
    undoing(cast.bob, item=memory.memory_id)

    assert state(world.get(cast.bob, memory).memory) == state(memory)


def test_nobody_lets_in_the_own_proposal_that_another_sent_back(world, cast, project, undoing):
    author = world.person("eve", Role.REVIEWER)
    memory = world.decide(cast.bob, world.propose(author, project), "approve")
    held = world.decide(cast.bob, memory, "return")

    with pytest.raises(ForbiddenError, match="decided by somebody else"):
        undoing(author, item=memory.memory_id)
    with pytest.raises(ForbiddenError, match="decided by somebody else"):
        undoing(author, of_batch=batch_of(world, held))
    undoing(cast.bob, item=memory.memory_id)
    # What the author took out itself, it puts back.
    for _ in range(2):
        undoing(author, item=memory.memory_id)

    assert state(world.get(author, memory).memory) == state(memory)


def test_a_background_token_undoes_nothing(world, project, undoing):
    cron = world.person("cron", Role.REVIEWER, background=True)
    world.propose(cron, project)

    with pytest.raises(ForbiddenError, match="an agent undoes nothing"):
        undoing(cron)


def test_a_repetition_answers_the_same_and_changes_nothing(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory
    world.revise(cast.ann, memory, title="Second title")

    first = undoing(cast.ann, op="once")
    assert undoing(cast.ann, op="once") == first
    with pytest.raises(OperationReusedError):
        undoing(cast.ann, op="once", item=memory.memory_id)
    assert world.get(cast.ann, memory).memory.revision == 3


def test_the_audit_says_what_was_undone_and_its_chain_holds(world, cast, project, undoing):
    memory = world.write(cast.ann, project, collection="private").memory
    revised = world.revise(cast.ann, memory, title="Second title")
    undone = batch_of(world, revised)
    undoing(cast.ann)

    with world.store.engine.read() as tx:
        told = tx.rows("SELECT action, item FROM audit ORDER BY sequence DESC LIMIT 2")
    assert told == [("batch.undo", undone), ("undo", memory.memory_id)]
