"""Projects: found by id or slug where they are visible, with limits that tell of nothing hidden."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.services import projects, teams
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.storage import scopes

NEW = Operation(None, ())


def resolve(world, access, project=None, repo=None):
    with world.store.engine.read() as tx:
        return projects.resolve(tx, access, project, repo)


@pytest.mark.parametrize(
    ("new", "pointer"),
    [
        (NewProject(""), "/slug"),
        (NewProject("Core"), "/slug"),
        (NewProject("core"), "/slug"),
        (NewProject("x", name=""), "/name"),
        (NewProject("x", path_prefix="/abs"), "/path_prefix"),
        (NewProject("x", path_prefix="a/../b"), "/path_prefix"),
    ],
)
def test_a_project_without_the_form_or_with_a_taken_slug_is_refused(world, new, pointer):
    repo = world.project("core").repository_id

    with pytest.raises(InvalidRequestError) as refused:
        projects.create(world.store, world.owner, repo, new, NEW)

    assert refused.value.faults[0].pointer == pointer


def test_a_reader_and_a_run_make_no_project(world):
    project = world.project("core")
    ann = world.person("ann")

    for access in (world.person("bob", Role.READER), world.sign_in(world.run(ann, project).text)):
        with pytest.raises(ForbiddenError):
            projects.create(world.store, access, project.repository_id, NewProject("x"), NEW)
    made = projects.create(world.store, ann, project.repository_id, NewProject("x"), NEW)
    assert made.project.name == "x"


def test_a_slug_names_the_only_visible_project_that_has_it(world):
    one = world.project("core", world.repository(key="one").repository.repository_id)
    two = world.project("core", world.repository(key="two").repository.repository_id)
    ann = world.person("ann", Role.READER, repo="one")

    assert projects.show(world.store, ann, "core", None).project == one
    assert projects.show(world.store, world.owner, "core", "two").project == two
    assert projects.show(world.store, world.owner, one.project_id, None).project == one
    for access, project, repo in (
        (world.owner, "core", None),
        (ann, two.project_id, None),
        (ann, "core", "two"),
        (world.owner, one.project_id, "two"),
        (world.person("ops", Role.OPERATOR), one.project_id, None),
    ):
        with pytest.raises(NotFoundError):
            projects.show(world.store, access, project, repo)


def test_a_project_may_be_left_out_where_there_is_exactly_one(world):
    with pytest.raises(InvalidRequestError):
        resolve(world, world.owner)
    one = world.project("core", world.repository(key="one").repository.repository_id)
    assert resolve(world, world.owner) == one
    two = world.project("core", world.repository(key="two").repository.repository_id)
    run = world.sign_in(world.run(world.person("ann"), two).text)

    with pytest.raises(InvalidRequestError):
        resolve(world, world.owner)
    assert resolve(world, world.owner, repo="one") == one
    assert resolve(world, world.person("bob", Role.READER, repo="one")) == one
    assert resolve(world, run) == two
    with pytest.raises(NotFoundError):
        resolve(world, run, project=one.project_id)


def test_a_run_sees_its_own_project_only(world):
    one = world.project("core")
    two = world.project("docs", one.repository_id)
    run = world.sign_in(world.run(world.person("ann"), one).text)

    page = projects.page(world.store, run, repo=None, after=None, limit=9)

    assert list(page.items) == [one]
    with pytest.raises(ForbiddenError):
        projects.show(world.store, run, two.project_id, None)


def test_lists_come_in_bounded_pages_without_gaps_or_doubles(world):
    repo = world.repository(key="one").repository.repository_id
    for place in range(5):
        world.project(f"p{place}", repo)

    first = projects.page(world.store, world.owner, repo="one", after=None, limit=3)
    second = projects.page(world.store, world.owner, repo="one", after=first.after, limit=3)

    assert [p.slug for p in first.items + second.items] == ["p0", "p1", "p2", "p3", "p4"]
    assert (first.after is None, second.after) == (False, None)


def limits(world, access, project):
    view = projects.show(world.store, access, project.project_id, None)
    return {(u.limit, u.audience): (u.value, u.maximum) for u in view.limits}


def fill(world, project, audience, **counts):
    with world.store.engine.write() as tx:
        scope = scopes.ensure(tx, project.repository_id, project.project_id, audience)
        scopes.count(tx, scope, accepted=0, **counts)


def test_limits_tell_of_the_callers_own_scopes_only(world):
    project = world.project("core")
    ann, bob = world.person("ann"), world.person("bob")
    team = teams.create(world.store, world.owner, NEW, team_slug="red", name=None).team_id
    teams.add_member(world.store, world.owner, "red", "ann", NEW)
    ann = world.again(ann)
    fill(world, project, "project", live=4, canonical_bytes=40)
    fill(world, project, f"private:{ann.principal_id}", live=1, canonical_bytes=10)
    fill(world, project, f"team:{team}", live=2, canonical_bytes=20)

    mebibytes = 32 * 1024 * 1024
    assert limits(world, ann, project) == {
        ("project_entries", "project"): (4, 5000),
        ("canonical_bytes", "project"): (40, mebibytes),
        ("canonical_bytes", "private"): (10, mebibytes),
        ("canonical_bytes", f"team:{team}"): (20, mebibytes),
    }
    assert limits(world, bob, project) == {
        ("project_entries", "project"): (4, 5000),
        ("canonical_bytes", "project"): (40, mebibytes),
        ("canonical_bytes", "private"): (0, mebibytes),
    }


def test_a_reader_is_told_no_count_because_it_sees_no_proposals(world):
    project = world.project("core")
    reader = world.person("bob", Role.READER)
    before = projects.show(world.store, reader, project.project_id, None)

    fill(world, project, "project", live=4, canonical_bytes=40)

    assert projects.show(world.store, reader, project.project_id, None) == before


def test_a_run_is_told_how_many_entries_it_has(world):
    project = world.project("core")
    started = world.run(world.person("ann"), project)
    run = world.sign_in(started.text)

    assert limits(world, run, project)["run_entries", started.run.run_id] == (0, 512)


def propose_secret(world, project, access):
    """A proposal of *access* that is visible to its owner alone, with its counters."""
    fill(world, project, "project", live=1, canonical_bytes=70)
    with world.store.engine.write() as tx:
        [scope] = scopes.of_project(tx, project.repository_id, project.project_id, ["project"])
        tx.execute(
            """
            INSERT INTO memories (
                repository_id, memory_id, scope_id, project_id, revision, collection, owner, status,
                kind, sensitivity, author, editor, origin, trust, created_at, updated_at,
                canonical_bytes, text_hash, content_sha256, title, content
            ) VALUES (
                :repository_id, 'mem_1', :scope_id, :project_id, 1, 'project', :owner, 'proposed',
                'fact', 'secret', :owner, :owner, 'user', 5000, 1, 1, 70, 'h', 'h', 't', '{}'
            )
            """,
            {
                "repository_id": project.repository_id,
                "scope_id": scope.scope_id,
                "project_id": project.project_id,
                "owner": access.principal_id,
            },
        )


def test_a_secret_proposal_counts_for_nobody_but_its_owner(world):
    project = world.project("core")
    ann, bob = world.person("ann"), world.person("bob", Role.OWNER)
    fill(world, project, "project", live=4, canonical_bytes=40)
    before = limits(world, bob, project)

    propose_secret(world, project, ann)

    assert limits(world, bob, project) == before
    assert limits(world, ann, project)["project_entries", "project"] == (5, 5000)
    assert limits(world, ann, project)["canonical_bytes", "project"][0] == 110
