"""Runs: bound to one project, short-lived, and never more than who started them."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codeflow_memory.domain.access import RANK, Access, Grant, Origin, Role, RunBinding
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.times import HOUR, SECOND
from codeflow_memory.services import grants, runs, teams, tokens
from codeflow_memory.services.access import narrowed
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.runs import MAX_TTL_SECONDS
from codeflow_memory.storage import runs as rows

NEW = Operation(None, ())


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"agent": ""}, "/agent"),
        ({"agent": "a\nb"}, "/agent"),
        ({"branch": ""}, "/branch"),
        ({"branch": "x" * 256}, "/branch"),
        ({"ttl_seconds": 0}, "/ttl_seconds"),
        ({"ttl_seconds": MAX_TTL_SECONDS + 1}, "/ttl_seconds"),
        ({"team_id": "team_1"}, "/team_id"),
        ({"project": None}, "/project_id"),
    ],
)
def test_a_run_without_the_form_is_refused(world, more, pointer):
    project = world.project("core")
    world.project("docs", project.repository_id)

    with pytest.raises(InvalidRequestError) as refused:
        world.run(world.person("ann"), **({"project": project} | more))

    assert refused.value.faults[0].pointer == pointer


def test_a_team_that_one_is_not_in_is_like_one_that_is_not_there(world):
    teams.create(world.store, world.owner, NEW, team_slug="red", name=None)
    team = teams.page(world.store, world.owner, after=None, limit=1).items[0].team_id
    ann, project = world.person("ann"), world.project()

    refusals = []
    for team_id in (team, "team_absent"):
        with pytest.raises(InvalidRequestError) as refused:
            world.run(ann, project, team_id=team_id)
        refusals.append(str(refused.value))

    assert len(set(refusals)) == 1


def test_a_project_out_of_reach_starts_no_run(world):
    project = world.project("core", world.repository(key="one").repository.repository_id)
    world.repository(key="two")

    for access in (world.person("ann", Role.OWNER, repo="two"), world.person("o", Role.OPERATOR)):
        with pytest.raises(NotFoundError):
            world.run(access, project)


def test_a_run_starts_no_other_run(world):
    project = world.project()
    run = world.sign_in(world.run(world.person("ann"), project).text)

    with pytest.raises(ForbiddenError):
        world.run(run, project)


def test_a_run_is_bound_to_what_it_was_started_with(world):
    project = world.project()
    ann = world.person("ann")
    started = world.run(ann, project, branch="main", ttl_seconds=60)
    run = world.sign_in(started.text)

    assert (run.principal_id, run.origin) == (ann.principal_id, Origin.AGENT)
    assert run.run.run_id == started.run.run_id
    assert (run.run.project_id, run.run.branch) == (project.project_id, "main")
    assert run.run.agent == "claude-code"
    assert not run.decides
    assert not run.may(Role.READER, None)
    assert not run.may(Role.READER, "rep_other")


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.OPERATOR])
def test_a_run_has_its_makers_role_but_never_more_than_a_reviewers(world, role):
    project = world.project()
    run = world.sign_in(world.run(world.person("ann", role), project).text)

    wanted = min(RANK[role], RANK[Role.REVIEWER])
    assert run.rank(project.repository_id) == wanted


def test_a_role_that_is_taken_back_narrows_the_run_at_once(world):
    project = world.project()
    run = world.sign_in(world.run(world.person("ann"), project).text)
    [grant] = grants.page(world.store, world.owner, principal="ann", after=None, limit=9).items

    grants.remove(world.store, world.owner, grant.grant_id, NEW)

    assert not world.again(run).may(Role.READER, project.repository_id)


def test_a_run_of_a_background_token_is_a_background_one(world):
    cron = world.person("cron", background=True)

    run = world.sign_in(world.run(cron, world.project()).text)

    assert run.origin is Origin.BACKGROUND


def test_a_run_lives_an_hour_and_no_longer_than_its_makers_token(world):
    project = world.project()
    short = world.person("ann", ttl_seconds=60)

    assert world.run(world.owner, project).expires_at == world.clock.at + HOUR
    assert world.run(short, project).expires_at == world.clock.at + 60 * SECOND
    started = world.run(world.owner, project, ttl_seconds=2)
    world.clock.at += 2 * SECOND
    with pytest.raises(UnauthenticatedError):
        world.sign_in(started.text)


def test_anothers_run_is_like_one_that_is_not_there_and_goes_on(world):
    project = world.project()
    theirs = world.run(world.person("abe"), project)
    ann = world.person("ann")

    refusals = []
    for run_id in (theirs.run.run_id, "run_absent"):
        for ask in (
            lambda i: runs.end(world.store, ann, i, NEW),
            lambda i: runs.show(world.store, ann, i),
        ):
            with pytest.raises(NotFoundError) as refused:
                ask(run_id)
            refusals.append(str(refused.value).replace(run_id, "ID"))

    assert len(set(refusals)) == 1
    assert world.sign_in(theirs.text)


@pytest.mark.parametrize("by_itself", [True, False])
def test_the_token_of_an_ended_run_is_dead_at_once(world, by_itself):
    ann = world.person("ann")
    started = world.run(ann, world.project())
    run = world.sign_in(started.text)

    ended = runs.end(world.store, run if by_itself else ann, started.run.run_id, NEW)

    everything = tokens.page(world.store, world.owner, principal="ann", after=None, limit=9).items
    [bound] = [i.token for i in everything if i.token.run_id is not None]
    assert ended.ended_at == bound.revoked_at == world.clock.at
    for refused in (lambda: world.sign_in(started.text), lambda: world.again(run)):
        with pytest.raises(UnauthenticatedError):
            refused()


def test_ending_a_run_again_is_no_change(world):
    ann = world.person("ann")
    started = world.run(ann, world.project())
    first = runs.end(world.store, ann, started.run.run_id, NEW)
    world.clock.at += HOUR

    assert runs.end(world.store, ann, started.run.run_id, NEW) == first


def test_a_run_ends_no_sibling(world):
    ann, project = world.person("ann"), world.project()
    run = world.sign_in(world.run(ann, project).text)
    sibling = world.run(ann, project)

    with pytest.raises(ForbiddenError):
        runs.end(world.store, run, sibling.run.run_id, NEW)
    assert world.sign_in(sibling.text)


def test_a_repetition_answers_with_the_same_run_without_its_token(world):
    ann, project = world.person("ann"), world.project()
    same = Operation("op-1", ("POST",))
    new = runs.NewRun("claude-code", project=project.project_id)

    first = runs.start(world.store, ann, new, same)
    second = runs.start(world.store, ann, new, same)

    assert first.text is not None
    assert (second.run, second.expires_at, second.text) == (first.run, first.expires_at, None)


def test_ones_runs_are_listed_newest_first_in_pages(world):
    project, ann = world.project(), world.person("ann")
    ids = [world.run(ann, project).run.run_id for _ in range(3)]
    world.run(world.person("abe"), project)

    first = runs.page(world.store, ann, after=None, limit=2)
    second = runs.page(world.store, ann, after=first.after, limit=2)

    assert [r.run_id for r in first.items + second.items] == ids[::-1]
    assert second.after is None


def test_entries_of_a_run_are_counted_in_its_row(world):
    started = world.run(world.person("ann"), world.project())
    where = (started.run.repository_id, started.run.run_id)

    with world.store.engine.write() as tx:
        assert [rows.count_entries(tx, *where, by) for by in (1, 1, -1)] == [1, 2, 1]
        assert rows.count_entries(tx, "rep_absent", where[1], 1) == 0
        assert rows.find(tx, *where).live_entries == 1


roles = st.sampled_from(list(Role))
places = st.sampled_from([None, "rep_1", "rep_2"])


@given(st.sets(st.builds(Grant, roles, places), min_size=1, max_size=5), st.booleans())
def test_a_run_can_do_nothing_that_its_maker_cannot(held, person):
    maker = Access(
        tenant="local",
        principal_id="prn_1",
        person=person,
        grants=frozenset(held),
        teams=frozenset(),
        origin=Origin.USER,
    )
    assume(maker.may(Role.READER, "rep_1"))
    project = Project("rep_1", "prj_1", "core", "core", None, 1)

    run = replace(
        maker,
        grants=narrowed([runs._role(maker, project)], held),
        run=RunBinding("run_1", "rep_1", "prj_1", None, "codex", None),
    )

    assert run.may(Role.READER, "rep_1")
    for place in (None, "rep_1", "rep_2"):
        for role in Role:
            allowed = place == "rep_1" and maker.may(role, place)
            assert not run.may(role, place) or (allowed and RANK[role] <= RANK[Role.REVIEWER])
    assert not run.decides
    assert not run.operates
