"""Legal holds: who places them, and that no way of deleting passes one."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    LegalHoldError,
    NotFoundError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import batch, holds
from codeflow_memory.services.batch import Step
from codeflow_memory.services.holds import Target
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import audit

NEW = Operation(None, ())


def hold(world, access, **target):
    return holds.add(world.store, access, Target(**target), "a case", NEW)


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.OWNER])
def test_only_an_owner_places_releases_and_lists_holds(world, cast, project, role):
    memory = world.propose(cast.ann, project)
    caller = world.person("somebody", role)
    hold(world, world.owner, memory_id=memory.memory_id)

    with pytest.raises(ForbiddenError):
        hold(world, caller, memory_id=memory.memory_id)
    with pytest.raises(ForbiddenError):
        holds.remove(world.store, caller, Target(memory.memory_id), NEW)
    with pytest.raises(ForbiddenError):
        holds.list_all(world.store, caller)


def test_an_agent_that_owns_the_tenant_holds_nothing(world, cast, project):
    memory = world.propose(cast.ann, project)

    with pytest.raises(ForbiddenError):
        hold(world, world.person("bot", Role.OWNER, "agent"), memory_id=memory.memory_id)


def test_what_is_not_there_is_not_held(world, cast, project):
    stone = world.delete(cast.ann, world.propose(cast.ann, project))

    for target in ({"memory_id": "mem_0"}, {"memory_id": stone.memory_id}, {"project": "other"}):
        with pytest.raises(NotFoundError):
            hold(world, world.owner, **target)
    with pytest.raises(NotFoundError):
        holds.remove(world.store, world.owner, Target(project=project.project_id), NEW)


@pytest.mark.parametrize("reason", ["", " x", "a\nb", "a" * 201, "a\u202eb"])
def test_a_reason_is_a_line_of_text(world, project, reason):
    target = Target(project=project.project_id)

    with pytest.raises(InvalidRequestError) as refused:
        holds.add(world.store, world.owner, target, reason, NEW)
    assert refused.value.faults[0].pointer == "/reason"


@pytest.mark.parametrize("whole", [False, True])
def test_a_held_entry_is_deleted_by_nobody_until_it_is_released(world, cast, project, whole):
    memory = world.accept(cast.ann, cast.bob, project)
    target = {"project": project.project_id} if whole else {"memory_id": memory.memory_id}
    hold(world, world.owner, **target)

    for caller in (cast.ann, cast.max, world.owner):
        with pytest.raises(LegalHoldError) as refused:
            world.delete(caller, memory)
        assert refused.value.memory_ids == (memory.memory_id,)
    (done,) = batch.run(
        world.store,
        cast.ann,
        [Step("delete", memory.memory_id, memory.revision)],
        NEW,
        atomic=False,
        dry_run=False,
    ).results
    assert done.error.code == "legal-hold"
    assert world.get(cast.ann, memory).memory == memory
    holds.remove(world.store, world.owner, Target(**target), NEW)
    assert world.delete(cast.ann, memory).status is Status.DELETED


def test_who_may_not_delete_an_entry_is_told_nothing_of_its_hold(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    secret = world.propose(cast.ann, project, collection="private")
    hold(world, world.owner, project=project.project_id)

    with pytest.raises(ForbiddenError):
        world.delete(cast.abe, memory)
    with pytest.raises(NotFoundError):
        world.delete(cast.max, secret)


def test_a_hold_keeps_another_entry_from_nothing(world, cast, project):
    held, other = world.propose(cast.ann, project), world.propose(cast.ann, project)
    hold(world, world.owner, memory_id=held.memory_id)

    assert world.delete(cast.ann, other).status is Status.DELETED


def test_a_held_entry_is_revised_and_decided_like_any_other(world, cast, project):
    memory = world.propose(cast.ann, project)
    hold(world, world.owner, memory_id=memory.memory_id)

    memory = world.revise(cast.ann, memory, body="another")
    assert world.decide(cast.bob, memory, "approve").status is Status.ACCEPTED


def test_an_owner_holds_anothers_private_entry_and_sees_nothing_of_it(world, cast, project):
    memory = world.propose(cast.ann, project, collection="private")

    made = hold(world, world.owner, memory_id=memory.memory_id)

    assert (made.memory_id, made.project_id) == (memory.memory_id, project.project_id)
    assert holds.list_all(world.store, world.owner) == [made]
    with pytest.raises(NotFoundError):
        world.get(world.owner, memory)
    with pytest.raises(LegalHoldError):
        world.delete(cast.ann, memory)


def test_a_hold_that_is_there_stays_as_it_is_and_each_change_is_on_record(world, cast, project):
    memory = world.propose(cast.ann, project)
    first = hold(world, world.owner, memory_id=memory.memory_id)
    world.clock.at += 1
    target = Target(memory.memory_id)
    again = holds.add(world.store, world.owner, target, "another reason", Operation("k", ()))

    assert again == first == replace(first, reason="a case")
    holds.remove(world.store, world.owner, target, NEW)
    with pytest.raises(NotFoundError):
        holds.add(world.store, world.owner, target, "another reason", Operation("k", ()))
    with world.store.engine.read() as tx:
        rows = [v for _, v, _, _ in audit._rows(tx) if v["action"].startswith("hold.")]
        assert audit.first_fault(tx, world.store.keys.audit_hash) is None
    assert [(r["action"], r["item"]) for r in rows] == [
        ("hold.add", memory.memory_id),
        ("hold.remove", memory.memory_id),
    ]
