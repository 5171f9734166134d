"""Access: what each role and each reach lets a caller do and see."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.domain.access import (
    RANK,
    Access,
    Grant,
    Origin,
    Reach,
    Role,
    RunBinding,
    Scope,
)
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Kind,
    Memory,
    Sensitivity,
    Status,
    Tombstone,
)

MEMORY_ROLES = [role for role in Role if role is not Role.OPERATOR]
BINDING = RunBinding("run_1", "rep_1", "prj_1", None, "codex", None)
SCOPES = {
    1: Scope(1, "rep_1", "prj_1", "project"),
    2: Scope(2, "rep_1", "prj_1", "private:prn_1"),
    3: Scope(3, "rep_1", "prj_1", "private:prn_agent"),
}


def access(*grants, person=True, run=None):
    return Access(
        tenant="local",
        principal_id="prn_1",
        person=person,
        grants=frozenset(grants),
        teams=frozenset(),
        origin=Origin.USER,
        run=run,
    )


def memory(scope_id, status, sensitivity=Sensitivity.NORMAL, owner="prn_2"):
    deleted = status is Status.DELETED
    collection = Collection.PROJECT if scope_id == 1 else Collection.PRIVATE
    return Memory(
        memory_id="mem_1",
        revision=1,
        repository_id="rep_1",
        project_id="prj_1",
        scope_id=scope_id,
        collection=collection,
        owner=owner,
        team_id=None,
        run_id=None,
        status=status,
        content=None if deleted else Content(Kind.FACT, "t", "b", sensitivity=sensitivity),
        content_sha256=None,
        author=owner,
        origin="user",
        trust=0,
        created_at=1,
        updated_at=1,
        tombstone=Tombstone("prn_2", 1, None, sensitivity) if deleted else None,
    )


def reach(role=Role.OWNER, held=()):
    return Reach(access(Grant(role, "rep_1")), SCOPES, frozenset(held))


@pytest.mark.parametrize(("held", "asked"), list(product(MEMORY_ROLES, MEMORY_ROLES)))
def test_each_role_may_do_what_the_ones_below_it_may(held, asked):
    caller = access(Grant(held, "rep_1"))

    assert caller.may(asked, "rep_1") is (RANK[held] >= RANK[asked])
    assert not caller.may(asked, "rep_2")
    assert not caller.may(asked, None)


@pytest.mark.parametrize("asked", MEMORY_ROLES)
def test_an_operator_and_a_stranger_may_nothing_with_memories(asked):
    assert not access(Grant(Role.OPERATOR)).may(asked, "rep_1")
    assert not access().may(asked, "rep_1")


@pytest.mark.parametrize(
    ("grants", "run", "expected"),
    [
        ((Grant(Role.OPERATOR),), None, True),
        ((Grant(Role.OWNER),), None, True),
        ((Grant(Role.OWNER, "rep_1"),), None, False),
        ((Grant(Role.MAINTAINER),), None, False),
        ((Grant(Role.OWNER),), BINDING, False),
    ],
)
def test_who_may_back_up(grants, run, expected):
    assert access(*grants, run=run).operates is expected


def test_a_run_has_no_role_outside_its_repository():
    caller = access(Grant(Role.OWNER), run=BINDING)

    assert caller.may(Role.OWNER, "rep_1")
    assert not caller.may(Role.READER, "rep_2")
    assert not caller.may(Role.READER, None)


@pytest.mark.parametrize(
    ("person", "run", "expected"),
    [(True, None, True), (True, BINDING, False), (False, None, False), (False, BINDING, False)],
)
def test_only_a_person_outside_a_run_decides(person, run, expected):
    assert access(person=person, run=run).decides is expected


@pytest.mark.parametrize(("role", "status"), list(product(MEMORY_ROLES, Status)))
def test_a_reader_sees_no_proposed_or_rejected_project_entry(role, status):
    held = status in {Status.PROPOSED, Status.REJECTED}

    assert reach(role).sees(memory(1, status)) is not (held and role is Role.READER)


@pytest.mark.parametrize(("role", "before"), list(product(MEMORY_ROLES, Status)))
def test_a_tombstone_is_seen_by_whom_the_entry_was_seen(role, before):
    stone = memory(1, Status.DELETED)

    assert reach(role).sees(stone, before=before) is reach(role).sees(memory(1, before))


@pytest.mark.parametrize(("scope_id", "status"), list(product(SCOPES, Status)))
def test_what_is_secret_is_its_owners_alone(scope_id, status):
    for before in Status:
        others = memory(scope_id, status, Sensitivity.SECRET)
        assert not reach(held={3}).sees(others, before=before)
    own = memory(scope_id, status, Sensitivity.SECRET, owner="prn_1")
    assert reach().sees(own)


@pytest.mark.parametrize("status", list(Status))
def test_a_sponsor_sees_of_an_agents_private_entries_what_is_to_be_decided(status):
    caller = reach(held={3})

    assert caller.sees(memory(3, status)) is (status is Status.PROPOSED)
    assert caller.sees(memory(2, status))


@settings(max_examples=50)
@given(st.integers(4, 9), st.sampled_from(Status), st.sampled_from(Sensitivity))
def test_what_lies_in_no_scope_of_the_caller_is_never_seen(scope_id, status, sensitivity):
    assert not reach().sees(memory(scope_id, status, sensitivity, owner="prn_1"))
