"""Publication: what travels from a private entry to the project, and what refuses it."""

import json
from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    NotFoundError,
    PublicationRefusedError,
    RevisionConflictError,
)
from codeflow_memory.domain.memory import Pair, Status
from codeflow_memory.services import legacy_import, memories, projects
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.projects import NewProject
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

NEW = Operation(None, ())
COMMIT = "c" * 40
TOKEN = "ghp" + "_" + "Ab3" * 12
"""Has the form of a credential; it is none."""

OLD_ENTRY = {
    "id": f"mem_{1:026}",
    "revision": 1,
    "collection": "private",
    "runId": "r1",
    "agent": "claude",
    "repo": "/srv/code/shop",
    "projectId": "core",
    "status": "accepted",
    "createdAt": "2026-03-01T08:00:00Z",
    "updatedAt": "2026-03-01T08:00:00Z",
    "title": "Where the registry is",
}
"""A private entry of the older ``memory.json``, without its body."""


def private(world, author, project, **fields):
    return world.propose(author, project, collection="private", **fields)


def reason(world, caller, memory):
    with pytest.raises(PublicationRefusedError) as refused:
        world.publish(caller, memory)
    return refused.value.facts["reason"]


@pytest.mark.parametrize("who", ["abe", "bob", "max", "reader"])
def test_anothers_private_entry_is_not_there(world, cast, project, who):
    memory = private(world, cast.ann, project)

    told = []
    for shown in (memory, replace(memory, memory_id="mem_absent")):
        with pytest.raises(NotFoundError) as refused:
            world.publish(getattr(cast, who), shown)
        told.append(str(refused.value).replace(shown.memory_id, "ID"))

    assert told[0] == told[1]


def test_who_may_no_longer_write_does_not_publish(world, cast, project):
    memory = private(world, cast.ann, project)
    demoted = replace(cast.reader, principal_id=cast.ann.principal_id, token_id=None)

    with pytest.raises(ForbiddenError):
        world.publish(demoted, memory)


@pytest.mark.parametrize("revision", [2, 7])
def test_another_revision_than_the_current_one_is_a_conflict(world, cast, project, revision):
    memory = private(world, cast.ann, project)

    with pytest.raises(RevisionConflictError):
        world.publish(cast.ann, replace(memory, revision=revision))


@pytest.mark.parametrize("status", ["proposed", "outdated", "archived", "deleted", "rejected"])
def test_only_what_is_accepted_for_its_owner_is_published(world, cast, project, status):
    held = {"sensitivity": "sensitive"} if status in {"proposed", "rejected"} else {}
    memory = private(world, cast.ann, project, **held)
    if status == "deleted":
        memory = world.delete(cast.ann, memory)
    elif status != "proposed":
        action = {"outdated": "outdate", "archived": "archive", "rejected": "reject"}[status]
        memory = world.decide(cast.ann, memory, action)

    assert reason(world, cast.ann, memory) == "status"


def test_what_is_sensitive_is_not_published(world, cast, project):
    held = private(world, cast.ann, project, sensitivity="sensitive")

    assert reason(world, cast.ann, world.decide(cast.ann, held, "approve")) == "sensitivity"


@pytest.mark.parametrize(
    ("body", "why"), [(f"Its token is {TOKEN}", "secret"), ("At home", None)], ids=["held", "none"]
)
def test_an_imported_text_that_holds_a_secret_is_not_published(
    world, tmp_path, clock, new_server, body, why
):
    """An import keeps texts as they are; what was written here has lost its secrets before."""
    home = Home(tmp_path / "older", new_server())
    home.make()
    entries = [OLD_ENTRY | {"body": body}]
    document = {"version": 2, "entries": entries, "receipts": [], "feedback": []}
    (home.path / "memory.json").write_text(json.dumps(document))
    legacy_import.run(home, now=clock)
    world.tenants.close()
    world.tenants = Tenants(home, now=clock)
    memory = memories.get(world.store, world.owner, OLD_ENTRY["id"]).memory
    assert memory.content.body == body

    if why is None:
        assert world.publish(world.owner, memory).status is Status.PROPOSED
    else:
        assert reason(world, world.owner, memory) == why
    world.tenants.close()


def test_what_belongs_to_the_project_is_not_published_again(world, cast, project):
    assert reason(world, cast.bob, world.accept(cast.ann, cast.bob, project)) == "collection"


@pytest.mark.parametrize("change", ["outdate", "delete"])
@pytest.mark.parametrize("depth", [1, 2])
def test_an_ancestor_out_of_service_refuses(world, cast, project, change, depth):
    root = child = private(world, cast.ann, project)
    for _ in range(depth):
        pair = {"memory_id": child.memory_id, "revision": child.revision}
        child = private(world, cast.ann, project, derived_from=[pair])
    if change == "delete":
        world.delete(cast.ann, root)
    else:
        world.decide(cast.ann, root, change)

    assert reason(world, cast.ann, child) == "ancestor"


def test_an_ancestor_that_the_author_lost_sight_of_refuses_in_the_same_words(world, cast, project):
    team = world.team("red", cast.ann, cast.abe)
    ann = world.again(cast.ann)
    root = world.propose(ann, project, collection="team", team_id=team)
    child = private(
        world, ann, project, derived_from=[{"memory_id": root.memory_id, "revision": 1}]
    )
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM team_members")

    assert reason(world, ann, child) == "ancestor"


@pytest.mark.parametrize("twin", ["proposed", "accepted", "rejected", "outdated", "deleted"])
def test_a_twin_in_the_project_refuses(world, cast, project, twin):
    text = {"title": "One title", "body": "One body"}
    memory = private(world, cast.ann, project, **text)
    other = world.propose(cast.abe, project, **text)
    if twin == "rejected":
        world.decide(cast.bob, other, "reject")
    elif twin == "deleted":
        world.delete(cast.abe, other)
    elif twin != "proposed":
        other = world.decide(cast.bob, other, "approve")
        if twin == "outdated":
            world.decide(cast.bob, other, "outdate")

    assert reason(world, cast.ann, memory) == "twin"


def test_a_rejected_twin_refuses_a_reviewer_too(world, cast, project):
    """Who may propose a rejected text again does not do so by publishing it."""
    text = {"title": "One title", "body": "One body"}
    world.decide(cast.bea, world.propose(cast.abe, project, **text), "reject")

    assert reason(world, cast.bob, private(world, cast.bob, project, **text)) == "twin"


def test_a_twin_that_the_author_does_not_see_tells_nothing(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    world.propose(cast.abe, project, **text, sensitivity="secret")

    memory = world.publish(cast.ann, private(world, cast.ann, project, **text))

    assert memory.status is Status.PROPOSED


@pytest.mark.parametrize(("mine", "theirs"), [("trace", "trace"), ("fact", "skill")])
def test_a_twin_is_one_of_whatever_kind(world, cast, project, mine, theirs):
    text = {"title": "One title", "body": "One body"}
    world.propose(cast.abe, project, kind=theirs, **text)

    assert reason(world, cast.ann, private(world, cast.ann, project, kind=mine, **text)) == "twin"


def test_a_trace_is_published_once(world, cast, project):
    memory = private(world, cast.ann, project, kind="trace")

    assert world.publish(cast.ann, memory).status is Status.PROPOSED
    assert reason(world, cast.ann, memory) == "twin"


def test_nothing_of_the_private_original_travels_but_its_text(world, cast):
    repo = world.repository().repository.repository_id
    made = projects.create(
        world.store, world.owner, repo, NewProject("web", path_prefix="apps/web"), NEW
    )
    project = made.project
    started = world.run(cast.ann, project)
    memory = private(
        world,
        world.sign_in(started.text),
        project,
        paths=["apps/web/a.py", "apps/shop/secret.py", "apps", "apps/web-old/**", "*/web/**"],
        sources=[
            f"run:{started.run.run_id}",
            "session:s1",
            "message:m1",
            f"commit:{COMMIT}",
            "file:apps/web/a.py",
            f"file:apps/shop/secret.py@{COMMIT}#L1-L2",
            "url:https://docs.example/a",
        ],
        tags=["one"],
    )

    public = world.publish(cast.ann, memory)

    content = public.content
    assert content is not None
    assert (public.status, public.revision, public.run_id) == (Status.PROPOSED, 1, None)
    assert content.paths == ("apps/web/a.py", "apps", "*/web/**")
    assert content.sources == (
        f"commit:{COMMIT}",
        "file:apps/web/a.py",
        "url:https://docs.example/a",
    )
    assert content.derived_from == (Pair(memory.memory_id, 1),)
    assert (content.title, content.tags) == (memory.content.title, ("one",))
    assert world.get(cast.ann, memory).memory == memory


def test_a_publication_names_its_source_and_none_of_the_sources_of_that(world, cast, project):
    root = private(world, cast.ann, project)
    pair = {"memory_id": root.memory_id, "revision": root.revision}
    child = private(world, cast.ann, project, derived_from=[pair])
    child = world.revise(cast.ann, child, title="Another title")

    public = world.publish(cast.ann, child)

    assert public.content.derived_from == (Pair(child.memory_id, 2),)


def test_a_published_text_is_decided_by_another(world, cast, project):
    public = world.publish(cast.bob, private(world, cast.bob, project))

    with pytest.raises(ForbiddenError, match="somebody else"):
        world.decide(cast.bob, public, "approve")
    accepted = world.decide(cast.bea, public, "approve")

    view = world.get(cast.reader, accepted)
    assert (view.memory.status, view.resolved) == (Status.ACCEPTED, (False,))


def test_a_member_publishes_what_the_team_has(world, cast, project):
    team = world.team("red", cast.ann, cast.abe)
    ann, abe = world.again(cast.ann), world.again(cast.abe)
    memory = world.propose(ann, project, collection="team", team_id=team)

    public = world.publish(abe, memory)

    assert (public.team_id, public.author) == (None, abe.principal_id)


def test_an_agent_publishes_its_own_as_a_proposal(world, project):
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)

    public = world.publish(run, private(world, run, project))

    assert (public.status, public.run_id) == (Status.PROPOSED, None)


def test_the_role_that_may_propose_may_publish(world, project):
    for role in (Role.CONTRIBUTOR, Role.REVIEWER, Role.MAINTAINER):
        caller = world.person(f"a {role}", role)
        assert world.publish(caller, private(world, caller, project)).collection == "project"
