"""Review: who decides what, which moves exist, and what an approval counts for."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    IllegalTransitionError,
    InvalidRequestError,
    NotFoundError,
    OperationReusedError,
    RevisionConflictError,
)
from codeflow_memory.domain.lifecycle import MOVES, TARGET, Action
from codeflow_memory.domain.memory import Pair, Sensitivity, Status
from codeflow_memory.services import memories
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.storage import audit

NEW = Operation(None, ())
PERSON_MAY_DECIDE = {
    Role.READER: False,
    Role.CONTRIBUTOR: False,
    Role.REVIEWER: True,
    Role.MAINTAINER: True,
    Role.OWNER: True,
}
REVIEWS = [action for action in Action if action is not Action.DELETE]
DECISIONS = ["approve", "reject", "supersede", "outdate", "archive", "restore", "return"]


def put(world, cast, project, status, **fields):
    """A project memory of ann in *status*."""
    memory = world.propose(cast.ann, project, **fields)
    if status == "proposed":
        return memory
    if status == "rejected":
        return world.decide(cast.bob, memory, "reject")
    memory = world.decide(cast.bob, memory, "approve")
    if status == "superseded":
        successor = world.accept(cast.ann, cast.bob, project)
        return world.decide(cast.bob, memory, "supersede", superseded_by=successor.memory_id)
    if status == "deleted":
        return world.delete(cast.max, memory)
    action = {"outdated": "outdate", "archived": "archive"}.get(status)
    return memory if action is None else world.decide(cast.bob, memory, action)


def audit_rows(world):
    with world.store.engine.read() as tx:
        return audit.count(tx)


@pytest.mark.parametrize(("role", "action"), list(product(PERSON_MAY_DECIDE, DECISIONS)))
def test_each_cell_of_the_table_of_roles(world, cast, project, role, action):
    start = {"approve": "proposed", "reject": "proposed", "restore": "outdated"}
    memory = put(world, cast, project, start.get(action, "accepted"))
    facts = {}
    if action == "supersede":
        facts = {"superseded_by": world.accept(cast.ann, cast.bob, project).memory_id}
    caller = world.person("somebody", role)
    if PERSON_MAY_DECIDE[role]:
        assert world.decide(caller, memory, action, **facts).status is TARGET[Action(action)]
        return

    hidden = role is Role.READER and memory.status is Status.PROPOSED
    with pytest.raises(NotFoundError if hidden else ForbiddenError):
        world.decide(caller, memory, action, **facts)

    assert world.get(cast.ann, memory).memory == memory


@pytest.mark.parametrize("action", DECISIONS)
def test_an_operator_finds_nothing_to_decide(world, cast, project, action):
    memory = put(world, cast, project, "accepted")

    with pytest.raises(NotFoundError):
        world.decide(world.person("ops", Role.OPERATOR), memory, action)


@pytest.mark.parametrize("action", DECISIONS)
@pytest.mark.parametrize("how", ["agent", "run"])
def test_an_agent_and_a_run_never_decide_whatever_their_role(world, cast, project, how, action):
    memory = put(world, cast, project, "accepted")
    if how == "agent":
        caller = world.person("robo", Role.OWNER, kind="agent")
    else:
        caller = world.sign_in(world.run(world.person("eve", Role.OWNER), project).text)

    with pytest.raises(ForbiddenError, match="never decides"):
        world.decide(caller, memory, action)


@pytest.mark.parametrize(("source", "action"), list(product(Status, REVIEWS)))
def test_each_move_of_the_table_and_no_other(world, cast, project, source, action):
    bea, bob = cast.bea, cast.bob
    memory = put(world, cast, project, str(source))
    facts = {}
    if action is Action.SUPERSEDE:
        facts = {"superseded_by": world.accept(cast.ann, bob, project).memory_id}
    target, rows = TARGET[action], audit_rows(world)
    allowed = target in MOVES[source]
    if action is Action.APPROVE:
        allowed = source is Status.PROPOSED
    if action is Action.RESTORE:
        allowed = source in {Status.OUTDATED, Status.SUPERSEDED, Status.ARCHIVED}

    if source is target or allowed:
        after = world.decide(bea, memory, str(action), **facts)
        assert (after.status, after.revision) == (target, memory.revision + (source is not target))
        assert (audit_rows(world) == rows) is (source is target)
        return
    with pytest.raises(IllegalTransitionError) as refused:
        world.decide(bea, memory, str(action), **facts)

    assert refused.value.facts == {"from": source, "to": target}
    assert world.get(bob, memory).memory == memory
    assert audit_rows(world) == rows


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.MAINTAINER, Role.OWNER])
@pytest.mark.parametrize("action", ["approve", "reject"])
def test_ones_own_proposal_is_decided_by_somebody_else(world, project, role, action):
    author = world.person("author", role)
    memory = world.propose(author, project)

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(author, memory, action)

    assert not memory.self_approved


def test_who_edited_a_proposal_does_not_decide_it_either(world, cast, project):
    memory = world.revise(cast.bob, world.propose(cast.ann, project), title="Bob's words")

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, memory, "approve")
    assert world.decide(cast.bea, memory, "approve").status is Status.ACCEPTED


def test_a_run_proposes_in_the_name_of_who_made_it(world, cast, project):
    memory = world.propose(world.sign_in(world.run(cast.bob, project).text), project)

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, memory, "approve")


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_repository_can_allow_own_approval_and_it_stays_marked(world, cast, project, action):
    world.settings(project, allow_own_approval=True)
    memory = world.decide(cast.bob, world.propose(cast.bob, project), action)

    assert memory.self_approved
    assert [a.own for a in world.get(cast.bob, memory).approvals] == [True]


@pytest.mark.parametrize("action", ["outdate", "supersede"])
def test_what_else_becomes_of_an_own_proposal_is_marked_in_the_audit_too(
    world, cast, project, action
):
    world.settings(project, allow_own_approval=True)
    other = world.accept(cast.ann, cast.bea, project, title="Another")
    own = world.propose(cast.bob, project, title="Bob's")
    not_own = world.propose(cast.ann, project, title="Ann's")
    facts = {"superseded_by": other.memory_id} if action == "supersede" else {}

    marked = world.decide(cast.bob, own, action, reason="wrong", **facts)
    world.decide(cast.bob, not_own, action, reason="wrong", **facts)

    assert marked.self_approved
    with world.store.engine.read() as tx:
        rows = tx.rows(
            "SELECT reason FROM audit WHERE action = :a ORDER BY sequence", {"a": action}
        )
    assert rows == [("own wrong",), ("wrong",)]


def test_the_mark_of_an_own_approval_outlives_a_time_out_of_service(world, cast, project):
    world.settings(project, allow_own_approval=True)
    memory = world.decide(cast.bob, world.propose(cast.bob, project), "approve")
    memory = world.decide(cast.bea, world.decide(cast.bea, memory, "outdate"), "restore")

    assert memory.self_approved


def test_while_the_local_tenant_has_one_person_that_person_decides(world, project):
    memory = world.decide(world.owner, world.propose(world.owner, project), "approve")

    assert (memory.status, memory.self_approved) == (Status.ACCEPTED, True)


def test_two_required_approvals_come_from_two_people(world, cast, project):
    world.settings(project, required_approvals=2)
    memory = world.propose(cast.ann, project)

    first = world.decide(cast.bob, memory, "approve")
    again = world.decide(cast.bob, memory, "approve")
    last = world.decide(cast.bea, memory, "approve")

    assert (first.status, first.revision) == (Status.PROPOSED, 1)
    assert (again.status, again.revision) == (Status.PROPOSED, 1)
    assert (last.status, last.revision) == (Status.ACCEPTED, 2)


def test_an_approval_counts_for_the_revision_that_it_names(world, cast, project):
    world.settings(project, required_approvals=2)
    memory = world.propose(cast.ann, project)
    world.decide(cast.bob, memory, "approve")
    edited = world.revise(cast.ann, memory, body="other words")

    with pytest.raises(RevisionConflictError) as refused:
        world.decide(cast.bea, memory, "approve")
    after = world.decide(cast.bea, edited, "approve")

    assert refused.value.facts["current"]["body"] == "other words"
    assert after.status is Status.PROPOSED
    assert [a.withdrawn for a in world.get(cast.bea, edited).approvals] == [True, False]


def test_an_approval_does_not_outlive_the_revision_without_an_edit(world, cast, project):
    world.settings(project, required_approvals=2)
    memory = world.propose(cast.ann, project)
    world.decide(cast.bob, memory, "approve")
    outdated = world.decide(cast.bob, memory, "outdate")

    assert world.decide(cast.bea, outdated, "restore").status is Status.OUTDATED
    assert world.decide(cast.max, outdated, "restore").status is Status.ACCEPTED


def test_a_change_of_mind_at_one_moment_is_kept_in_order(world, cast, project):
    world.settings(project, required_approvals=2)
    memory = world.propose(cast.ann, project)
    world.decide(cast.bob, memory, "approve")

    after = world.decide(cast.bob, memory, "reject")

    assert [a.decision for a in world.get(cast.bob, after).approvals] == ["approve", "reject"]


@pytest.mark.parametrize("way_out", ["outdate", "supersede"])
def test_to_restore_what_was_never_accepted_is_to_approve_it(world, cast, project, way_out):
    world.settings(project, required_approvals=2)
    facts = {}
    if way_out == "supersede":
        world.settings(project, required_approvals=1)
        facts = {"superseded_by": world.accept(cast.ann, cast.bea, project).memory_id}
        world.settings(project, required_approvals=2)
    proposal = world.propose(cast.bob, project)
    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, proposal, way_out, **facts)
    own = world.decide(cast.max, proposal, way_out, **facts)

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, own, "restore")
    once = world.decide(cast.bea, own, "restore")
    twice = world.decide(cast.max, own, "restore")

    assert (once.status, once.revision) == (own.status, own.revision)
    assert twice.status is Status.ACCEPTED


def test_what_was_edited_out_of_service_is_reviewed_before_it_serves_again(world, cast, project):
    outdated = put(world, cast, project, "outdated")
    edited = world.revise(cast.bob, outdated, body="words that nobody has read")

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, edited, "restore")
    assert world.decide(cast.bea, edited, "restore").status is Status.ACCEPTED


def test_what_was_rejected_is_restored_by_nobody_its_author_included(world, cast, project):
    own = world.propose(cast.bob, project)
    rejected = world.decide(cast.bea, own, "reject")

    for who in (cast.bob, cast.bea):
        with pytest.raises(IllegalTransitionError):
            world.decide(who, rejected, "restore")


def test_codeowners_that_cannot_be_read_refuse_approval(world, cast, project):
    world.settings(project, codeowners=True)
    memory = world.propose(cast.ann, project, paths=["src/a.py"])

    with pytest.raises(ForbiddenError, match="CODEOWNERS"):
        world.decide(cast.bob, memory, "approve")
    outdated = world.decide(cast.bob, memory, "outdate")
    with pytest.raises(ForbiddenError, match="CODEOWNERS"):
        world.decide(cast.bob, outdated, "restore")


def test_what_is_secret_is_accepted_by_nobody(world, cast, project):
    own = world.propose(cast.ann, project, collection="private", sensitivity="secret")
    shared = world.propose(cast.bob, project, sensitivity="secret")
    world.settings(project, allow_own_approval=True)

    for caller, memory in ((cast.ann, own), (cast.bob, shared)):
        with pytest.raises(ForbiddenError, match="never accepted"):
            world.decide(caller, memory, "approve")
        assert world.get(caller, memory).approvals == ()


def test_a_private_proposal_is_its_owners_alone(world, cast, project):
    memory = world.propose(cast.ann, project, collection="private", sensitivity="sensitive")
    assert memory.status is Status.PROPOSED

    for caller in (cast.abe, cast.bob, cast.max, world.owner):
        with pytest.raises(NotFoundError):
            world.decide(caller, memory, "approve")
    assert world.decide(cast.ann, memory, "approve").status is Status.ACCEPTED


def test_an_agents_private_proposal_is_its_sponsors(world, cast, project):
    agent = world.person("robo", kind="agent")
    run = world.sign_in(world.run(agent, project).text)
    memory = world.propose(run, project, collection="private", sensitivity="sensitive")

    for caller in (cast.ann, cast.bob, cast.max):
        with pytest.raises(NotFoundError):
            world.decide(caller, memory, "approve")
    for caller in (agent, run):
        with pytest.raises(ForbiddenError):
            world.decide(caller, memory, "approve")
    assert world.decide(world.owner, memory, "approve").status is Status.ACCEPTED
    with pytest.raises(NotFoundError):
        world.get(world.owner, memory)


def test_an_owner_who_may_no_longer_write_decides_nothing(world, cast, project):
    memory = world.propose(cast.ann, project, collection="private", sensitivity="sensitive")
    demoted = replace(cast.reader, principal_id=cast.ann.principal_id, token_id=None)

    for action in ("approve", "reject", "outdate"):
        with pytest.raises(ForbiddenError):
            world.decide(demoted, memory, action)


@pytest.mark.parametrize("action", ["outdate", "archive"])
def test_a_run_takes_its_principals_private_entry_out_of_service(world, cast, project, action):
    memory = world.propose(cast.ann, project, collection="private")

    after = world.decide(world.sign_in(world.run(cast.ann, project).text), memory, action)

    assert after.status is TARGET[Action(action)]


def test_a_held_team_entry_is_decided_by_another_member(world, cast, project):
    team = world.team("red", cast.ann, cast.abe)
    ann, abe = world.again(cast.ann), world.again(cast.abe)
    memory = world.propose(ann, project, collection="team", team_id=team, sensitivity="sensitive")
    assert memory.status is Status.PROPOSED

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(ann, memory, "approve")
    for stranger in (cast.bob, cast.max):
        with pytest.raises(NotFoundError):
            world.decide(stranger, memory, "approve")
    assert world.decide(abe, memory, "approve").status is Status.ACCEPTED


@pytest.mark.parametrize("successor", [None, "itself", "mem_absent", "proposed", "private"])
def test_a_successor_is_an_accepted_memory_of_the_same_collection(world, cast, project, successor):
    memory = put(world, cast, project, "accepted")
    ids = {
        "itself": memory.memory_id,
        "proposed": world.propose(cast.ann, project).memory_id,
        "private": world.propose(cast.bob, project, collection="private").memory_id,
    }

    named = successor and ids.get(successor, successor)
    with pytest.raises(InvalidRequestError) as refused:
        world.decide(cast.bob, memory, "supersede", superseded_by=named)

    assert refused.value.faults[0].pointer == "/superseded_by"
    assert world.get(cast.bob, memory).memory == memory


def test_approving_a_successor_supersedes_the_old_one_in_the_same_transaction(world, cast, project):
    old = put(world, cast, project, "accepted")
    new = world.propose(
        cast.ann,
        project,
        supersedes={"memory_id": old.memory_id, "revision": old.revision},
    )

    new = world.decide(cast.bob, new, "approve")
    replaced = world.get(cast.bob, old).memory

    assert (replaced.status, replaced.superseded_by) == (Status.SUPERSEDED, new.memory_id)
    assert replaced.revision == old.revision + 1
    assert recompute(world.store, sample=None)[1] == []


def test_what_changed_meanwhile_is_not_superseded(world, cast, project):
    old = put(world, cast, project, "accepted")
    pair = {"memory_id": old.memory_id, "revision": old.revision}
    new = world.propose(cast.abe, project, supersedes=pair)
    world.decide(cast.bob, world.decide(cast.bob, old, "outdate"), "restore")
    rows = audit_rows(world)

    with pytest.raises(RevisionConflictError) as refused:
        world.decide(cast.bob, new, "approve")

    assert refused.value.identifier == old.memory_id
    view = world.get(cast.bob, new)
    assert (view.memory, view.approvals) == (new, ())
    assert world.get(cast.bob, old).memory.status is Status.ACCEPTED
    assert audit_rows(world) == rows


def test_a_successor_that_went_back_to_review_is_approved_again(world, cast, project):
    old = put(world, cast, project, "accepted")
    new = world.accept(
        cast.ann, cast.bob, project, supersedes={"memory_id": old.memory_id, "revision": 2}
    )
    edited = world.revise(cast.ann, new, body="better words")

    again = world.decide(cast.bob, edited, "approve")

    assert again.status is Status.ACCEPTED
    assert again.supersedes == Pair(old.memory_id, 2)
    assert world.get(cast.bob, old).memory.superseded_by == new.memory_id


def test_undoing_a_succession_clears_the_link(world, cast, project):
    superseded = put(world, cast, project, "superseded")

    restored = world.decide(cast.bea, superseded, "restore")

    assert (restored.status, restored.superseded_by) == (Status.ACCEPTED, None)


def test_a_decision_is_done_once_for_each_operation(world, cast, project, clock):
    memory = world.propose(cast.ann, project)
    first = world.decide(cast.bob, memory, "approve", op="k")
    rows = audit_rows(world)
    clock.at += timedelta(hours=1) // timedelta(microseconds=1)

    assert world.decide(cast.bob, memory, "approve", op="k") == first
    assert audit_rows(world) == rows
    with pytest.raises(OperationReusedError):
        world.decide(cast.bob, memory, "reject", op="k")
    other = world.propose(cast.ann, project)
    assert world.decide(cast.bea, other, "approve", op="k").status is Status.ACCEPTED


def test_a_refused_decision_leaves_its_operation_free(world, cast, project):
    memory = world.propose(cast.ann, project)
    with pytest.raises(RevisionConflictError):
        world.decide(cast.bob, replace(memory, revision=7), "approve", op="k")

    assert world.decide(cast.bob, memory, "approve", op="k").status is Status.ACCEPTED


def test_a_return_withdraws_what_was_decided(world, cast, project):
    memory = world.decide(cast.bob, put(world, cast, project, "accepted"), "return")

    assert (memory.status, memory.review_reason) == (Status.PROPOSED, "returned")
    assert [
        a.withdrawn for a in memories.get(world.store, cast.bob, memory.memory_id).approvals
    ] == [True]
    assert memory.content is not None
    assert memory.content.sensitivity is Sensitivity.NORMAL


def test_a_predecessor_that_moved_on_does_not_hold_its_successor_back(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project)
    pair = {"memory_id": old.memory_id, "revision": old.revision}
    new = world.accept(cast.abe, cast.bob, project, supersedes=pair)
    back = world.decide(cast.bob, new, "return")
    restored = world.decide(cast.bob, world.get(cast.bob, old).memory, "restore")

    again = world.decide(cast.bob, back, "approve")

    assert again.status is Status.ACCEPTED
    assert world.get(cast.bob, old).memory.revision == restored.revision


def test_the_author_of_a_team_entry_never_decides_it_even_where_own_approval_is_on(
    world, cast, project
):
    world.settings(project, allow_own_approval=True)
    team = world.team("red", cast.ann)
    ann = world.again(cast.ann)
    held = world.propose(ann, project, collection="team", team_id=team, sensitivity="sensitive")

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(ann, held, "approve")
