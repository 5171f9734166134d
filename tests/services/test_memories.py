"""Memories: writing, reading and editing, and what nobody may learn by trying."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import (
    ForbiddenError,
    IllegalTransitionError,
    InvalidRequestError,
    NotFoundError,
    OperationReusedError,
    PreviouslyRejectedError,
    ProvenanceInvalidError,
    RevisionConflictError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.times import HOUR
from codeflow_memory.services import access as accesses
from codeflow_memory.services import diffs, feedback, memories, runs
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.storage import audit, receipts, sightings

NEW = Operation(None, ())
ABSENT = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"


def pair(memory, revision=None):
    return {"memory_id": memory.memory_id, "revision": revision or memory.revision}


def tables(world):
    """How many rows the tables of records have."""
    with world.store.engine.read() as tx:
        counted = [
            tx.value(f"SELECT COUNT(*) FROM {name}")  # noqa: S608 - names of ours
            for name in ("memories", "memory_revisions", "receipts", "approvals", "scopes")
        ]
        return [*counted, audit.count(tx)]


def seen_sources(world, memory):
    with world.store.engine.read() as tx:
        return sightings.sources(tx, memory.repository_id, memory.memory_id)


@pytest.mark.parametrize("collection", ["private", "project"])
@pytest.mark.parametrize("role", [Role.OPERATOR, Role.READER])
def test_who_may_not_write_writes_nothing(world, project, role, collection):
    caller = world.person("somebody", role)
    before = tables(world)

    with pytest.raises(ForbiddenError if role is Role.READER else NotFoundError):
        world.write(caller, project, collection=collection)

    assert tables(world) == before


def test_a_project_out_of_reach_is_like_one_that_is_not_there(world, project):
    stranger = world.person("eve", Role.OWNER, repo=world.repository().repository.repository_id)
    candidate = parse_candidate(
        {"collection": "project", "kind": "fact", "title": "t", "body": "b"}
    )

    told = []
    for project_id in (project.project_id, "prj_absent"):
        with pytest.raises(NotFoundError) as refused:
            memories.create(world.store, stranger, project_id, None, candidate, NEW)
        told.append(str(refused.value).replace(project_id, "ID"))

    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"collection": "team", "team_id": "team_absent"}, "/team_id"),
        ({"run_id": "run_absent"}, "/run_id"),
    ],
)
def test_a_team_or_run_of_others_is_invalid(world, cast, project, fields, pointer):
    with pytest.raises(InvalidRequestError) as refused:
        world.write(cast.ann, project, **fields)

    assert refused.value.faults[0].pointer == pointer


def test_anothers_team_and_run_are_told_apart_from_absent_ones_by_nothing(world, cast, project):
    team, run = world.team("red", cast.abe), world.run(cast.abe, project).run.run_id

    told = []
    for fields in (
        {"collection": "team", "team_id": team},
        {"collection": "team", "team_id": "team_absent"},
        {"run_id": run},
        {"run_id": "run_absent"},
    ):
        with pytest.raises(InvalidRequestError) as refused:
            world.write(cast.ann, project, **fields)
        told.append(str(refused.value))

    assert told[0] == told[1]
    assert told[2] == told[3]


def test_an_agent_writes_private_entries_in_a_run_only(world, project):
    agent = world.person("robo", kind="agent")
    with pytest.raises(InvalidRequestError) as refused:
        world.write(agent, project, collection="private")
    assert refused.value.faults[0].pointer == "/run_id"

    started = world.run(agent, project)
    memory = world.write(world.sign_in(started.text), project, collection="private").memory
    named = world.write(agent, project, collection="private", run_id=started.run.run_id).memory

    assert {memory.run_id, named.run_id} == {started.run.run_id}
    assert (memory.owner, memory.origin) == (agent.principal_id, "agent")


@pytest.mark.parametrize("where", ["run", "project"])
def test_a_body_that_contradicts_the_run_is_forbidden(world, cast, project, where):
    other = world.project("docs", project.repository_id)
    run = world.sign_in(world.run(cast.ann, project).text)
    second = world.run(cast.ann, project).run.run_id

    place, fields = (project, {"run_id": second}) if where == "run" else (other, {})
    with pytest.raises(ForbiddenError, match="bound to another"):
        world.write(run, place, **fields)


@pytest.mark.parametrize(
    ("collection", "status"),
    [("project", Status.PROPOSED), ("private", Status.ACCEPTED), ("team", Status.ACCEPTED)],
)
@pytest.mark.parametrize("role", [Role.CONTRIBUTOR, Role.OWNER])
def test_a_project_entry_is_proposed_whoever_writes_it(world, project, role, collection, status):
    caller = world.person("somebody", role)
    fields = {"collection": collection}
    if collection == "team":
        fields["team_id"] = world.team("red", caller)
        caller = world.again(caller)

    memory = world.propose(caller, project, **fields)

    assert (memory.status, memory.revision) == (status, 1)
    assert (memory.owner, memory.author, memory.origin) == (
        caller.principal_id,
        caller.principal_id,
        "user",
    )


@pytest.mark.parametrize("kind", ["absent", "private", "future", "deleted"])
def test_provenance_that_cannot_be_relied_on_is_refused_alike(world, cast, project, kind):
    pairs = {
        "absent": lambda: {"memory_id": ABSENT, "revision": 1},
        "private": lambda: pair(world.propose(cast.abe, project, collection="private")),
        "future": lambda: pair(world.propose(cast.ann, project), 2),
        "deleted": lambda: pair(world.delete(cast.ann, world.propose(cast.ann, project))),
    }
    author, named = cast.ann, pairs[kind]()
    before = tables(world)

    with pytest.raises(ProvenanceInvalidError) as refused:
        world.write(author, project, derived_from=[named])

    assert str(refused.value) == "/derived_from/0: no such revision, or it is deleted"
    assert tables(world) == before


def test_a_memory_of_another_repository_may_have_been_in_the_authors_context(world, cast, project):
    source = world.accept(cast.ann, cast.bob, world.project("else"))

    child = world.write(cast.ann, project, derived_from=[pair(source)])

    assert child.resolved == (True,)


def test_an_earlier_revision_is_provenance_that_does_not_resolve(world, cast, project):
    source = world.propose(cast.ann, project)
    now = world.revise(cast.ann, source, title="another")
    child = world.write(cast.ann, project, derived_from=[pair(source), pair(now)])

    assert child.resolved == (False, True)


@pytest.mark.parametrize("change", ["edit", "outdate", "supersede", "delete", "hide"])
def test_what_no_longer_stands_does_not_resolve_and_does_not_say_why(world, cast, project, change):
    source = world.accept(cast.ann, cast.bob, project)
    child = world.accept(cast.ann, cast.bob, project, derived_from=[pair(source)])
    assert world.get(cast.reader, child).resolved == (True,)

    if change == "edit":
        world.revise(cast.ann, source, title="another")
    elif change == "delete":
        world.delete(cast.max, source)
    elif change == "hide":
        world.decide(cast.bob, source, "return")
    else:
        successor = world.accept(cast.ann, cast.bob, project).memory_id
        facts = {"superseded_by": successor} if change == "supersede" else {}
        world.decide(cast.bob, source, change, **facts)

    assert world.get(cast.reader, child).resolved == (False,)


@pytest.mark.parametrize("status", ["proposed", "rejected", "returned"])
def test_a_reader_sees_no_proposed_or_rejected_entry(world, cast, project, status):
    memory = world.propose(cast.ann, project)
    if status == "rejected":
        memory = world.decide(cast.bob, memory, "reject")
    if status == "returned":
        memory = world.decide(cast.bob, world.decide(cast.bob, memory, "approve"), "return")

    asks = [
        lambda i: memories.get(world.store, cast.reader, i),
        lambda i: memories.history(world.store, cast.reader, i),
        lambda i: memories.at_revision(world.store, cast.reader, i, 1),
        lambda i: diffs.compare(world.store, cast.reader, i, 1, 1),
    ]
    for ask in asks:
        told = []
        for memory_id in (memory.memory_id, ABSENT):
            with pytest.raises(NotFoundError) as refused:
                ask(memory_id)
            told.append(str(refused.value).replace(memory_id, "ID"))
        assert told[0] == told[1]
    assert world.get(cast.abe, memory).memory == memory


@pytest.mark.parametrize("collection", ["project", "private"])
def test_what_is_secret_exists_for_its_owner_alone(world, cast, project, collection):
    memory = world.propose(cast.ann, project, collection=collection, sensitivity="secret")
    stone = world.delete(cast.ann, memory)

    for caller in (cast.abe, cast.bob, cast.max, cast.reader, world.owner):
        with pytest.raises(NotFoundError):
            world.get(caller, stone)
    assert world.get(cast.ann, stone).memory == stone


def test_an_entry_that_was_opened_keeps_its_secret_revisions_to_its_owner(world, cast, project):
    memory = world.propose(cast.ann, project, body="the vault code", sensitivity="secret")
    opened = world.revise(cast.ann, memory, body="there is a vault", sensitivity="normal")
    world.decide(cast.bob, opened, "approve")

    for caller, revisions in ((cast.bob, [2, 3]), (cast.reader, [2, 3]), (cast.ann, [1, 2, 3])):
        listed = memories.history(world.store, caller, memory.memory_id)
        assert [r.revision for r in listed] == revisions
    for ask in (
        lambda: memories.at_revision(world.store, cast.bob, memory.memory_id, 1),
        lambda: diffs.compare(world.store, cast.bob, memory.memory_id, 1, 2),
    ):
        with pytest.raises(NotFoundError):
            ask()
    assert diffs.compare(world.store, cast.ann, memory.memory_id, 1, 2)["fields"]


def test_a_sponsor_does_not_see_the_secret_of_an_agent(world, project):
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)
    memory = world.propose(run, project, collection="private", sensitivity="secret")
    held = world.propose(run, project, collection="private", sensitivity="sensitive")

    with pytest.raises(NotFoundError):
        world.get(world.owner, memory)
    assert world.get(world.owner, held).memory == held


@pytest.mark.parametrize("before", ["proposed", "rejected", "accepted"])
def test_a_tombstone_is_shown_to_those_who_could_read_the_memory(world, cast, project, before):
    memory = world.propose(cast.ann, project)
    action = {"rejected": "reject", "accepted": "approve"}.get(before)
    memory = memory if action is None else world.decide(cast.bob, memory, action)
    stone = world.delete(cast.max, memory)

    assert world.get(cast.abe, stone).memory.content is None
    if before == "accepted":
        assert world.get(cast.reader, stone).memory == stone
        return
    with pytest.raises(NotFoundError):
        world.get(cast.reader, stone)


def test_a_duplicate_is_the_entry_that_says_it_already(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    first = world.write(cast.ann, project, **text)

    again = world.write(cast.abe, project, **text)
    spaced = world.write(cast.abe, project, title="one  TITLE", body="one body")

    assert (first.duplicate, again.duplicate, spaced.duplicate) == (False, True, True)
    assert again.memory == spaced.memory
    assert again.memory == replace(first.memory, trust=9_000)
    assert seen_sources(world, first.memory) == [f"principal:{cast.abe.principal_id}"]


@pytest.mark.parametrize("action", ["supersede", "outdate", "archive"])
def test_a_text_that_was_in_service_is_known_whatever_became_of_it(world, cast, project, action):
    text = {"title": "The queue is slow", "body": "It waits for a lock."}
    memory = world.accept(cast.ann, cast.bob, project, **text)
    other = world.accept(cast.ann, cast.bob, project, title="Quick", body="No lock is left.")
    named = {"superseded_by": other.memory_id} if action == "supersede" else {}
    world.decide(cast.bob, memory, action, **named)

    again = world.write(cast.ann, project, **text)

    assert (again.duplicate, again.memory.memory_id) == (True, memory.memory_id)


def test_a_sighting_counts_once_for_each_run_or_principal_but_its_author(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    memory = world.write(cast.ann, project, **text).memory
    started = world.run(cast.ann, project)
    before = tables(world)[-1]

    for caller in (cast.ann, cast.abe, world.sign_in(started.text), world.sign_in(started.text)):
        assert world.write(caller, project, **text).duplicate

    assert seen_sources(world, memory) == sorted(
        [f"principal:{cast.abe.principal_id}", f"run:{started.run.run_id}"]
    )
    assert world.get(cast.ann, memory).memory == replace(memory, trust=9_500)
    assert tables(world)[-1] > before


def test_what_the_caller_does_not_see_is_no_duplicate(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    for fields in ({"collection": "private"}, {"sensitivity": "secret"}):
        world.write(cast.abe, project, **text, **fields)

    assert not world.write(cast.ann, project, **text).duplicate


def test_equal_texts_for_other_places_and_traces_are_kept_both(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    world.write(cast.ann, project, **text, paths=["a.py"])

    assert not world.write(cast.ann, project, **text, paths=["b.py"]).duplicate
    assert not world.write(cast.ann, project, **text, kind="trace").duplicate
    assert not world.write(cast.ann, project, **text, kind="trace").duplicate


@pytest.mark.parametrize("how", ["reject", "delete"])
def test_a_decided_text_is_refused_unless_a_reviewer_asks(world, cast, project, how):
    text = {"title": "One title", "body": "One body"}
    memory = world.write(cast.ann, project, **text).memory
    if how == "reject":
        world.decide(cast.bob, memory, "reject")
    else:
        world.delete(cast.ann, memory)
    before = tables(world)

    for caller in (cast.ann, cast.abe, world.person("robo", Role.REVIEWER, kind="agent")):
        with pytest.raises(PreviouslyRejectedError) as refused:
            world.write(caller, project, **text)
        assert refused.value.facts == {"memory_id": memory.memory_id}
    assert tables(world)[:2] == before[:2]
    assert world.write(cast.bob, project, **text).memory.status is Status.PROPOSED
    assert world.write(cast.ann, project, **text).duplicate


def test_only_the_projects_decisions_and_ones_own_refuse(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    other = world.project("docs", project.repository_id)
    world.decide(cast.bob, world.write(cast.ann, other, **text).memory, "reject")
    secret = world.write(cast.abe, project, **text, sensitivity="secret").memory
    private = world.write(cast.abe, project, **text, collection="private").memory
    for memory in (secret, private):
        world.delete(cast.abe, memory)

    assert not world.write(cast.ann, project, **text).duplicate
    with pytest.raises(PreviouslyRejectedError):
        world.write(cast.abe, project, **text, collection="private")


@pytest.mark.parametrize("who", ["abe", "bob", "max", "reader"])
def test_anothers_private_entry_is_edited_by_nobody(world, cast, project, who):
    memory = world.propose(cast.ann, project, collection="private")

    with pytest.raises(NotFoundError):
        world.revise(getattr(cast, who), memory, title="mine now")


def test_a_project_entry_is_edited_by_its_author_and_by_reviewers(world, cast, project):
    memory = world.propose(cast.ann, project)
    agent = world.person("robo", Role.REVIEWER, kind="agent")

    for caller in (cast.abe, agent, world.sign_in(world.run(cast.bob, project).text)):
        with pytest.raises(ForbiddenError):
            world.revise(caller, memory, title="mine now")
    with pytest.raises(NotFoundError):
        world.revise(cast.reader, memory, title="mine now")
    assert world.revise(cast.bob, memory, title="Reviewed").revision == 2


@pytest.mark.parametrize("status", ["rejected", "superseded", "archived", "deleted"])
def test_what_is_out_of_the_game_is_not_edited(world, cast, project, status):
    memory = world.propose(cast.ann, project)
    if status == "rejected":
        memory = world.decide(cast.bob, memory, "reject")
    elif status == "deleted":
        memory = world.delete(cast.ann, memory)
    else:
        memory = world.decide(cast.bob, memory, "approve")
        successor = world.accept(cast.ann, cast.bob, project).memory_id
        memory = (
            world.decide(cast.bob, memory, "archive")
            if status == "archived"
            else world.decide(cast.bob, memory, "supersede", superseded_by=successor)
        )

    with pytest.raises(IllegalTransitionError) as refused:
        world.revise(cast.ann, memory, title="another")

    assert refused.value.facts["from"] == status


def test_an_edit_of_accepted_guidance_goes_back_to_review(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body="old words")

    edited = world.revise(cast.ann, memory, body="new words")

    assert (edited.status, edited.revision) == (Status.PROPOSED, 3)
    assert [a.withdrawn for a in world.get(cast.ann, edited).approvals] == [True]
    assert world.search(cast.reader, project, "words").results == ()
    assert recompute(world.store, sample=None)[1] == []


def test_an_edit_of_ones_own_stays_in_service(world, cast, project):
    memory = world.propose(cast.ann, project, collection="private", body="old words")

    edited = world.revise(cast.ann, memory, body="new things")

    assert edited.status is Status.ACCEPTED
    assert world.search(cast.ann, project, "words").results == ()
    assert len(world.search(cast.ann, project, "things").results) == 1
    assert recompute(world.store, sample=None)[1] == []


@pytest.mark.parametrize("changes", [{}, {"title": "The same"}, {"tags": []}])
def test_an_edit_that_changes_nothing_writes_nothing(world, cast, project, changes):
    memory = world.accept(cast.ann, cast.bob, project, title="The same")
    before = tables(world)

    assert world.revise(cast.ann, memory, **changes) == memory

    after = tables(world)
    assert after[2] == before[2] + 1
    assert after[:2] + after[3:] == before[:2] + before[3:]


def test_a_trace_and_a_text_change_places_in_what_is_known(world, cast, project):
    text = {"title": "One title", "body": "One body"}
    memory = world.write(cast.ann, project, **text).memory
    memory = world.revise(cast.ann, memory, kind="trace")
    other = world.write(cast.abe, project, **text)
    assert not other.duplicate

    assert world.write(cast.bob, project, **text).memory.memory_id == other.memory.memory_id


def test_the_tags_of_a_standing_text_change_whatever_was_decided_about_its_like(
    world, cast, project
):
    text = {"title": "One title", "body": "One body"}
    world.delete(cast.ann, world.write(cast.ann, project, **text, collection="private").memory)
    memory = world.write(cast.abe, project, **text).memory
    mine = world.write(cast.ann, project, title="Mine", body="words").memory

    assert world.revise(cast.abe, memory, paths=["src"]).revision == 2
    with pytest.raises(PreviouslyRejectedError):
        world.revise(cast.ann, mine, **text, paths=["docs"])


def test_a_stale_edit_is_told_what_stands_now(world, cast, project):
    memory = world.propose(cast.ann, project)
    world.revise(cast.ann, memory, body="newer")

    with pytest.raises(RevisionConflictError) as refused:
        world.revise(cast.ann, memory, body="late")

    facts = refused.value.facts
    assert (facts["expected_revision"], facts["current_revision"]) == (1, 2)
    assert facts["current"]["body"] == "newer"


def test_every_revision_stays_as_it_was(world, cast, project, clock):
    memory = world.propose(cast.ann, project, body="first")
    clock.at += HOUR
    world.decide(cast.bob, world.revise(cast.ann, memory, body="second"), "approve")

    first = memories.at_revision(world.store, cast.ann, memory.memory_id, 1).memory
    listed = memories.history(world.store, cast.ann, memory.memory_id)

    assert (first.content, first.status, first.updated_at) == (
        memory.content,
        Status.PROPOSED,
        memory.updated_at,
    )
    assert [r.revision for r in listed] == [1, 2, 3]
    assert [r.action for r in listed] == ["create", "revise", "approve"]


@pytest.mark.parametrize("revision", [-1, 0, 4, 2**40])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_revision_that_never_was_is_not_found(world, cast, project, revision, deleted):
    memory = world.accept(cast.ann, cast.bob, project)
    if deleted:
        memory = world.delete(cast.max, memory)

    with pytest.raises(NotFoundError):
        memories.at_revision(world.store, cast.ann, memory.memory_id, revision)


def test_an_operation_is_answered_alike_and_done_once(world, cast, project):
    first = world.write(cast.ann, project, op="k", title="Title", body="Body")
    before = tables(world)

    again = world.write(cast.ann, project, op="k", title="Title", body="Body")

    assert again == first
    assert tables(world) == before
    with pytest.raises(OperationReusedError):
        world.write(cast.ann, project, op="k", title="Title", body="Another")
    assert world.write(cast.abe, project, op="k", title="Abe's", body="Own").memory.revision == 1


def test_the_answer_of_an_operation_is_the_tombstone_once_it_is_deleted(world, cast, project):
    text = {"title": "Title", "body": "Body"}
    memory = world.write(cast.ann, project, op="k", **text).memory
    stone = world.delete(cast.ann, memory)

    assert world.write(cast.ann, project, op="k", **text).memory == stone


def test_a_refused_operation_leaves_no_receipt(world, cast, project):
    with pytest.raises(ProvenanceInvalidError):
        world.write(cast.ann, project, op="k", derived_from=[{"memory_id": ABSENT, "revision": 1}])

    with world.store.engine.read() as tx:
        assert receipts.find(tx, cast.ann.principal_id, world.store.keys.operation_id("k")) is None


def test_a_leaver_loses_sight_of_the_team_and_its_answers(world, cast, project):
    team = world.team("red", cast.ann)
    ann = world.again(cast.ann)
    memory = world.write(ann, project, op="k", collection="team", team_id=team).memory
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM team_members")

    left = world.again(ann)
    with pytest.raises(NotFoundError):
        world.get(left, memory)
    with world.store.engine.read() as tx:
        assert memory.scope_id not in accesses.reach_everywhere(tx, left).scopes


def test_a_reader_reads_the_texts_that_were_in_service_and_no_draft(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body="the first words")
    draft = world.revise(cast.ann, memory, body="a draft that nobody approved")
    world.decide(cast.bob, world.revise(cast.ann, draft, body="the last words"), "approve")

    def bodies(access):
        found = memories.history(world.store, access, memory.memory_id)
        return [r.content.body for r in found]

    assert bodies(cast.reader) == ["the first words"] * 2 + ["the last words"] * 2
    assert "a draft that nobody approved" in bodies(cast.ann)
    with pytest.raises(NotFoundError):
        memories.at_revision(world.store, cast.reader, memory.memory_id, draft.revision)


def test_the_revisions_end_with_the_one_that_stands_for_a_reader_too(world, cast, project):
    draft = world.propose(cast.ann, project)
    outdated = world.decide(cast.bob, draft, "outdate")

    shown = world.get(cast.reader, outdated).memory
    listed = memories.history(world.store, cast.reader, outdated.memory_id)

    assert [(r.revision, r.content) for r in listed] == [(shown.revision, shown.content)]


def test_a_repetition_is_answered_as_the_first_time_whatever_came_since(
    world, cast, project, clock
):
    first = world.write(cast.ann, project, op="again", title="W", body="a walrus")
    world.settings(project, required_approvals=2)
    clock.at += HOUR
    world.decide(cast.bob, first.memory, "approve")
    feedback.give(
        world.store, cast.abe, first.memory.memory_id, Judgement(helpful=True), Operation(None, ())
    )

    assert world.write(cast.ann, project, op="again", title="W", body="a walrus") == first


def test_an_edit_that_repeats_another_entry_says_so_to_the_reviewer(world, cast, project):
    one = world.propose(cast.ann, project)
    other = world.propose(cast.ann, project)

    edited = world.revise(cast.ann, other, title=one.content.title, body=one.content.body)

    assert edited.review_reason == f"duplicate:{one.memory_id}"


def test_an_ended_run_writes_nothing_more(world, cast, project):
    started = world.run(cast.ann, project)
    run_id = started.run.run_id
    runs.end(world.store, cast.ann, run_id, Operation(None, ()))

    with pytest.raises(InvalidRequestError) as refused:
        world.write(cast.ann, project, collection="private", run_id=run_id)
    assert refused.value.faults[0].pointer == "/run_id"


def test_what_nearly_repeats_an_entry_says_so_and_an_agents_waits(world, cast, project):
    words = "The client retries GET and PUT three times with jitter and POST never"
    known = world.accept(cast.ann, cast.bob, project, title="Retries", body=words)
    note = world.propose(cast.ann, project, collection="private", title="Mine", body=words)
    world.decide(cast.ann, note, "approve")
    agent = world.sign_in(world.run(cast.ann, project).text)

    proposed = world.propose(cast.abe, project, title="Retries", body=words + " at all")
    by_agent = world.propose(
        agent, project, collection="private", title="Mine", body=words + " at all"
    )
    by_person = world.propose(
        cast.ann, project, collection="private", title="Mine", body=words + " ever"
    )
    distinct = world.propose(cast.abe, project, title="Ports", body="The service listens on 8080")

    assert proposed.review_reason == f"similar:{known.memory_id}"
    assert (by_agent.status, by_agent.review_reason) == (
        Status.PROPOSED,
        f"similar:{note.memory_id}",
    )
    assert by_person.status is Status.ACCEPTED
    assert distinct.review_reason is None


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another title"},
        {"body": "Another body"},
        {"tags": ["another"]},
        {"paths": ["src/another.py"], "sources": ["file:src/third.py"]},
        {"branches": ["another"]},
        {"key": "another"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_field_is_edited_its_derived_rows_follow(world, project, changes):
    owner = world.person("owner", Role.OWNER)
    memory = world.propose(owner, project, collection="private", tags=["first"], paths=["src/**"])
    assert memory.status is Status.ACCEPTED

    world.revise(owner, memory, **changes)

    assert recompute(world.store, sample=None)[1] == []
