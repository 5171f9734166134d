"""Principals, teams and grants: what only the owner may do, and what a removal takes away."""

import pytest

from codeflow_memory.domain.access import Access, Grant, Origin, Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    OperationReusedError,
    UnauthenticatedError,
)
from codeflow_memory.services import grants, principals, repositories, teams, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.storage import audit

NEW = Operation(None, ())
"""A request without an idempotency key."""

CHANGES = [
    lambda s, a: principals.create(s, a, NEW, name="eve", kind="user"),
    lambda s, a: principals.remove(s, a, "owner", NEW),
    lambda s, a: teams.create(s, a, NEW, team_slug="red", name=None),
    lambda s, a: teams.remove(s, a, "red", NEW),
    lambda s, a: teams.add_member(s, a, "red", "owner", NEW),
    lambda s, a: teams.remove_member(s, a, "red", "owner", NEW),
    lambda s, a: grants.create(s, a, NEW, principal="owner", role=Role.OWNER, repo=None),
    lambda s, a: grants.remove(s, a, "grt_1", NEW),
    lambda s, a: tokens.create(s, a, NewToken("eve", "user", Role.OWNER), NEW),
    lambda s, a: tokens.revoke(s, a, "x", NEW),
    lambda s, a: principals.page(s, a, after=None, limit=1),
    lambda s, a: teams.page(s, a, after=None, limit=1),
    lambda s, a: teams.members(s, a, "red", after=None, limit=1),
    lambda s, a: grants.page(s, a, principal=None, after=None, limit=1),
    lambda s, a: tokens.page(s, a, principal=None, after=None, limit=1),
]
"""Every call of administration."""


def callers(world):
    """One of everybody who is not a person that owns the whole tenant."""
    repository = world.repository(key="shop").repository
    project = world.project("core", repository.repository_id)
    yield from (world.person(role.value, role) for role in Role if role is not Role.OWNER)
    yield world.person("owner-of-one", Role.OWNER, repo="shop")
    yield world.person("agent", Role.OWNER, "agent")
    boss = world.person("boss", Role.OWNER)
    yield world.sign_in(world.run(boss, project).text)
    yield world.person("boss", Role.MAINTAINER)


def test_nobody_but_a_person_who_owns_the_tenant_administers_it(world):
    for caller in list(callers(world)):
        before = state(world)
        for change in CHANGES:
            with pytest.raises(ForbiddenError):
                change(world.store, caller)
        assert state(world) == before


def state(world):
    with world.store.engine.read() as tx:
        return audit.count(tx), tx.value("SELECT COUNT(*) FROM receipts")


@pytest.mark.parametrize("name", ["owner", "", " x", "a\u202eb", "x" * 201])
def test_a_name_that_is_taken_or_no_label_is_refused(world, name):
    with pytest.raises(InvalidRequestError) as refused:
        principals.create(world.store, world.owner, NEW, name=name, kind="user")

    assert refused.value.faults[0].pointer == "/name"


def test_the_last_owner_can_neither_be_removed_nor_lose_the_role(world):
    owner = world.owner
    world.person("agent", Role.OWNER, "agent")
    [grant] = grants.page(world.store, owner, principal="owner", after=None, limit=9).items

    with pytest.raises(ForbiddenError):
        principals.remove(world.store, owner, owner.principal_id, NEW)
    with pytest.raises(ForbiddenError):
        grants.remove(world.store, owner, grant.grant_id, NEW)

    assert world.again(owner).may(Role.OWNER, None)


def test_an_agent_is_sponsored_by_the_person_who_made_it(world):
    boss = world.person("boss", Role.OWNER)

    agent = principals.create(world.store, boss, NEW, name="bot", kind="agent")
    person = principals.create(world.store, boss, NEW, name="ann", kind="user")

    assert (agent.sponsor_id, person.sponsor_id) == (boss.principal_id, None)
    assert world.again(boss).sponsored == {agent.principal_id}


def test_a_removed_principal_is_dead_at_once_and_its_name_stays_taken(world):
    text = world.token("ann", Role.REVIEWER).text
    ann = world.sign_in(text)
    teams.create(world.store, world.owner, NEW, team_slug="red", name=None)
    teams.add_member(world.store, world.owner, "red", "ann", NEW)

    gone = principals.remove(world.store, world.owner, "ann", NEW)

    [issued] = tokens.page(world.store, world.owner, principal=None, after=None, limit=9).items
    assert gone.removed_at == issued.token.revoked_at == world.clock.at
    with pytest.raises(UnauthenticatedError):
        world.sign_in(text)
    with pytest.raises(UnauthenticatedError):
        world.again(ann)
    with pytest.raises(NotFoundError):
        principals.remove(world.store, world.owner, "ann", NEW)
    with pytest.raises(InvalidRequestError):
        principals.create(world.store, world.owner, NEW, name="ann", kind="user")
    with pytest.raises(InvalidRequestError):
        world.token("ann", Role.READER)
    assert teams.members(world.store, world.owner, "red", after=None, limit=9).items == ()
    live = principals.page(world.store, world.owner, after=None, limit=9).items
    assert [p.name for p in live] == ["owner"]


def test_a_repetition_changes_nothing_and_answers_the_same(world):
    same = Operation("op-1", ("POST", "ann"))
    first = principals.create(world.store, world.owner, same, name="ann", kind="user")
    before = state(world)

    assert principals.create(world.store, world.owner, same, name="ann", kind="user") == first
    assert state(world) == before
    other = Operation("op-1", ("POST", "bob"))
    with pytest.raises(OperationReusedError):
        principals.create(world.store, world.owner, other, name="bob", kind="user")


def test_lists_come_in_bounded_pages_without_gaps_or_doubles(world):
    for place in range(5):
        principals.create(world.store, world.owner, NEW, name=f"p{place}", kind="user")

    seen, after = [], None
    while True:
        page = principals.page(world.store, world.owner, after=after, limit=2)
        assert len(page.items) <= 2
        seen += [p.name for p in page.items]
        after = page.after
        if after is None:
            break

    assert seen == ["owner", "p0", "p1", "p2", "p3", "p4"]


def test_a_team_is_named_by_id_or_slug_and_its_slug_is_unique(world):
    red = teams.create(world.store, world.owner, NEW, team_slug="red", name="Red")
    ann = world.person("ann")

    teams.add_member(world.store, world.owner, red.team_id, "ann", NEW)
    teams.add_member(world.store, world.owner, "red", ann.principal_id, NEW)

    with pytest.raises(InvalidRequestError):
        teams.create(world.store, world.owner, NEW, team_slug="red", name=None)
    [member] = teams.members(world.store, world.owner, "red", after=None, limit=9).items
    assert member.principal_id == ann.principal_id
    assert world.again(ann).teams == {red.team_id}


def test_who_leaves_a_team_is_out_of_it_at_once(world):
    teams.create(world.store, world.owner, NEW, team_slug="red", name=None)
    ann = world.person("ann")
    teams.add_member(world.store, world.owner, "red", "ann", NEW)

    teams.remove_member(world.store, world.owner, "red", "ann", NEW)

    assert world.again(ann).teams == frozenset()
    with pytest.raises(NotFoundError):
        teams.remove_member(world.store, world.owner, "red", "ann", NEW)


def test_a_team_that_a_run_names_stays(world):
    red = teams.create(world.store, world.owner, NEW, team_slug="red", name=None)
    teams.create(world.store, world.owner, NEW, team_slug="blue", name=None)
    teams.add_member(world.store, world.owner, "red", "owner", NEW)
    world.run(world.owner, world.project(), team_id=red.team_id)

    with pytest.raises(ForbiddenError):
        teams.remove(world.store, world.owner, "red", NEW)
    teams.remove(world.store, world.owner, "blue", NEW)

    assert [t.slug for t in teams.page(world.store, world.owner, after=None, limit=9).items] == [
        "red"
    ]


def test_a_role_for_an_unknown_principal_or_repository_is_not_found(world):
    world.person("ann")
    for principal, repo in (("nobody", None), ("ann", "nowhere")):
        with pytest.raises(NotFoundError):
            grants.create(
                world.store,
                world.owner,
                NEW,
                principal=principal,
                role=Role.READER,
                repo=repo,
            )


def test_the_same_role_twice_is_one_grant(world):
    world.repository(key="shop")
    give = {"principal": "owner", "role": Role.REVIEWER, "repo": "shop"}

    first = grants.create(world.store, world.owner, NEW, **give)
    second = grants.create(world.store, world.owner, NEW, **give)

    assert first == second
    listed = grants.page(world.store, world.owner, principal=None, after=None, limit=9).items
    assert len(listed) == 2


def test_every_change_has_an_audit_row_of_the_one_who_made_it(world):
    boss = world.person("boss", Role.OWNER)
    repositories_before = state(world)[0]

    principals.create(world.store, boss, NEW, name="ann", kind="user")
    teams.create(world.store, boss, NEW, team_slug="red", name=None)
    teams.add_member(world.store, boss, "red", "ann", NEW)
    grant = grants.create(world.store, boss, NEW, principal="ann", role=Role.READER, repo=None)
    grants.remove(world.store, boss, grant.grant_id, NEW)

    with world.store.engine.read() as tx:
        found = tx.rows(
            "SELECT principal_id, action FROM audit WHERE sequence > :n ORDER BY sequence",
            {"n": repositories_before},
        )
        assert audit.first_fault(tx, world.store.keys.audit_hash) is None
    assert found == [
        (boss.principal_id, "principal.create"),
        (boss.principal_id, "team.create"),
        (boss.principal_id, "team.add_member"),
        (boss.principal_id, "grant.create"),
        (boss.principal_id, "grant.delete"),
    ]


def test_own_decisions_are_allowed_in_local_while_it_has_one_person(world):
    repository = world.repository().repository

    def allowed():
        with world.store.engine.read() as tx:
            return repositories.own_approval_allowed(tx, world.store, repository)

    assert allowed()
    world.person("bot", Role.REVIEWER, "agent")
    assert allowed()
    world.person("ann")
    assert not allowed()
    principals.remove(world.store, world.owner, "ann", NEW)
    assert allowed()


def test_own_decisions_are_not_allowed_in_another_tenant_of_one_person(world):
    world.tenants.create("birch")
    world.tenant = "birch"
    repository = world.repository().repository

    with world.store.engine.read() as tx:
        assert not repositories.own_approval_allowed(tx, world.store, repository)


def test_an_access_without_a_token_is_the_principal_with_all_its_roles(world):
    owner = world.owner

    assert owner == Access(
        tenant="local",
        principal_id=owner.principal_id,
        person=True,
        grants=frozenset({Grant(Role.OWNER)}),
        teams=frozenset(),
        origin=Origin.USER,
    )
