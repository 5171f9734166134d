"""Conflicts: a functional key has one holder, and whoever contends for it says so."""

from dataclasses import replace
from threading import Barrier, Thread

import pytest

from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.errors import (
    ForbiddenError,
    NotFoundError,
    PreviouslyRejectedError,
    RevisionConflictError,
    UndoConflictError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import audits, decay, predicates, queue, undo
from codeflow_memory.services.mutation import Operation

KEY = "service | version"
DAY = 86_400_000_000
NEW = Operation(None, ())


@pytest.fixture
def background(cast):
    return replace(cast.ann, origin=Origin.BACKGROUND)


def value(world, caller, project, text, **fields):
    """Say what the version is, in the caller's own collection."""
    fields = {"collection": "private", "kind": "fact", "key": KEY, "body": text} | fields
    return world.propose(caller, project, title=f"The version is {text}", **fields)


def holders(world, caller, project, **fields):
    found = world.search(caller, project, "version", **fields)
    return {result.memory_id for result in found.results}


def test_a_person_s_new_value_takes_the_place_of_the_old_one(world, cast, project):
    old = value(world, cast.ann, project, "one")

    new = value(world, cast.ann, project, "two")

    assert (new.status, new.conflicts_with, new.trust) == (Status.ACCEPTED, (), 8_500)
    assert new.supersedes.memory_id == old.memory_id
    gone = world.get(cast.ann, old).memory
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, new.memory_id)
    assert gone.content.valid_to == world.clock.at
    assert holders(world, cast.ann, project) == {new.memory_id}


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "service | notes"},
        {"key": "other | version"},
        {"paths": ["docs"]},
        {"branches": ["release/*"]},
        {"kind": "skill"},
        {"valid_to": to_rfc3339(1)},
    ],
)
def test_what_is_about_something_else_stands_beside_it(world, cast, project, fields):
    old = value(world, cast.ann, project, "one")

    value(world, cast.ann, project, "two", **fields)

    assert world.get(cast.ann, old).memory.status is Status.ACCEPTED


def test_the_collections_of_two_people_have_nothing_to_do_with_each_other(world, cast, project):
    first, second = (value(world, who, project, who.principal_id) for who in (cast.ann, cast.abe))

    assert (first.status, second.status) == (Status.ACCEPTED, Status.ACCEPTED)
    assert second.conflicts_with == ()


@pytest.mark.parametrize("origin", [Origin.BACKGROUND, Origin.IMPORT, Origin.REPOSITORY])
def test_an_inference_never_takes_a_place_but_waits_and_says_so(world, cast, project, origin):
    old = value(world, cast.ann, project, "one")

    new = value(world, replace(cast.ann, origin=origin), project, "two")

    assert (new.status, new.conflicts_with) == (Status.PROPOSED, (old.memory_id,))
    assert (new.trust, new.standing) == (3_000, 6_000)
    assert world.get(cast.ann, old).memory == old
    assert holders(world, cast.ann, project) == {old.memory_id}


def test_acceptance_runs_the_same_step(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY, title="version one")
    new = world.propose(cast.abe, project, kind="fact", key=KEY.upper(), title="version two")
    assert (new.conflicts_with, new.trust) == ((old.memory_id,), 5_500)

    accepted = world.decide(cast.bob, new, "approve")

    assert (accepted.conflicts_with, accepted.trust) == ((), 8_500)
    assert accepted.supersedes.memory_id == old.memory_id
    gone = world.get(cast.bob, old).memory
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, new.memory_id)
    assert holders(world, cast.reader, project) == {new.memory_id}


def test_a_third_value_contends_with_whoever_holds_the_key_now(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY)
    second, third = (world.propose(cast.ann, project, kind="fact", key=KEY) for _ in range(2))

    world.decide(cast.bob, second, "approve")

    now = world.get(cast.bob, third).memory
    assert third.conflicts_with == (old.memory_id,)
    assert (now.conflicts_with, now.revision) == ((second.memory_id,), third.revision)


@pytest.mark.parametrize("how", ["outdate", "archive", "reject", "delete"])
def test_a_conflict_ends_with_its_holder_and_gives_the_trust_back(world, cast, project, how):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY)
    new = world.propose(cast.abe, project, kind="fact", key=KEY)
    assert (new.conflicts_with, new.trust) == ((old.memory_id,), 5_500)

    world.delete(cast.max, old) if how == "delete" else world.decide(cast.bob, old, how)

    now = world.get(cast.bob, new).memory
    assert (now.conflicts_with, now.trust, now.revision) == ((), 8_500, new.revision)


def test_who_names_what_it_takes_the_place_of_does_not_contradict_it(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY)
    pair = {"memory_id": old.memory_id, "revision": old.revision}

    new = world.propose(cast.abe, project, kind="fact", key=KEY, supersedes=pair)

    assert (new.conflicts_with, new.trust) == ((), 8_500)
    assert world.decide(cast.bob, new, "approve").status is Status.ACCEPTED
    assert world.get(cast.bob, old).memory.content.valid_to == world.clock.at


def test_a_rejected_value_is_refused_and_its_conflict_over(world, cast, project):
    world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY)
    text = {"title": "The version is two", "body": "Two."}
    new = world.propose(cast.abe, project, kind="fact", key=KEY, **text)

    rejected = world.decide(cast.bob, new, "reject")

    assert rejected.conflicts_with == ()
    with pytest.raises(PreviouslyRejectedError):
        world.propose(cast.abe, project, kind="fact", key=KEY, **text)


def test_the_value_of_before_can_be_said_again(world, cast, project):
    old = value(world, cast.ann, project, "one")
    value(world, cast.ann, project, "two")

    again = world.write(
        cast.ann, project, collection="private", kind="fact", key=KEY,
        title=old.content.title, body=old.content.body,
    )  # fmt: skip

    assert (again.duplicate, again.memory.status) == (False, Status.ACCEPTED)
    assert again.memory.memory_id != old.memory_id
    assert holders(world, cast.ann, project) == {again.memory.memory_id}


def test_an_edit_that_gives_a_key_takes_its_place_too(world, cast, project):
    old = value(world, cast.ann, project, "one")
    other = value(world, cast.ann, project, "two", key=None)

    edited = world.revise(cast.ann, other, key=KEY)

    assert edited.status is Status.ACCEPTED
    assert world.get(cast.ann, old).memory.superseded_by == other.memory_id


def test_restoring_a_value_takes_the_key_back_with_its_validity(world, cast, project):
    old = value(world, cast.ann, project, "one", valid_to=to_rfc3339(world.clock.at + DAY))
    new = value(world, cast.ann, project, "two")
    gone = world.get(cast.ann, old).memory
    assert gone.content.valid_to == world.clock.at

    back = world.decide(cast.ann, gone, "restore")

    assert (back.status, back.content) == (Status.ACCEPTED, old.content)
    assert world.get(cast.ann, new).memory.status is Status.SUPERSEDED


def test_undo_brings_back_the_old_value_and_its_date(world, cast, project):
    """T038: the date that its author had given, not "open"."""
    old = value(world, cast.ann, project, "one", valid_to=to_rfc3339(world.clock.at + DAY))
    new = value(world, cast.ann, project, "two")

    undo.undo(world.store, cast.ann, NEW, batch=None, item=None)

    back = world.get(cast.ann, old).memory
    assert (back.status, back.content) == (Status.ACCEPTED, old.content)
    assert world.get(cast.ann, new).memory.status is Status.ARCHIVED


def test_undo_refuses_to_make_a_second_holder(world, cast, project):
    old = value(world, cast.ann, project, "one")
    world.decide(cast.ann, old, "outdate")
    new = value(world, cast.ann, project, "two")

    with pytest.raises(UndoConflictError) as refused:
        undo.undo(world.store, cast.ann, NEW, batch=None, item=old.memory_id)

    assert [change.memory_id for change in refused.value.later] == [new.memory_id]
    assert world.get(cast.ann, old).memory.status is Status.OUTDATED
    assert holders(world, cast.ann, project) == {new.memory_id}


def test_a_new_registry_counts_from_the_next_write(world, cast, project):
    first, second = (
        value(world, cast.ann, project, text, key="service | codename") for text in ("a", "b")
    )
    assert {first.status, second.status} == {Status.ACCEPTED}

    predicates_of(world, "codename")
    third = value(world, cast.ann, project, "c", key="service | codename")

    left = [world.get(cast.ann, m).memory.superseded_by for m in (first, second)]
    assert left == [third.memory_id, third.memory_id]


def predicates_of(world, *names):
    predicates.replace(world.store, world.owner, names, Operation(None, ()))


def test_accepting_two_values_at_once_leaves_one_holder(world, cast, project):
    rivals = [world.propose(cast.ann, project, kind="fact", key=KEY) for _ in range(6)]
    together, failures = Barrier(len(rivals)), []

    def approve(memory):
        together.wait()
        try:
            world.decide(cast.bob, memory, "approve")
        except RevisionConflictError as error:
            failures.append(error)

    threads = [Thread(target=approve, args=(memory,)) for memory in rivals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    after = [world.get(cast.bob, memory).memory for memory in rivals]
    held = [memory for memory in after if memory.status is Status.ACCEPTED]
    assert failures == []
    assert len(held) == 1
    assert sum(m.status is Status.SUPERSEDED for m in after) == len(rivals) - 1
    assert all(m.conflicts_with == () for m in after)


def test_a_repeated_operation_is_answered_as_it_was(world, cast, project, background):
    old = value(world, cast.ann, project, "one")
    fields = {"collection": "private", "kind": "fact", "key": KEY, "title": "t", "body": "two"}
    first = world.write(background, project, "op-1", **fields)
    assert first.memory.conflicts_with == (old.memory_id,)

    world.decide(cast.ann, old, "outdate")
    again = world.write(background, project, "op-1", **fields)

    assert again == first


def test_what_an_agent_takes_from_unreviewed_text_waits(world, cast, project):
    agent = replace(cast.ann, origin=Origin.AGENT)
    source = world.propose(replace(cast.abe, origin=Origin.IMPORT), project)
    pair = {"memory_id": source.memory_id, "revision": source.revision}

    before = world.propose(agent, project, collection="private", derived_from=[pair])
    world.decide(cast.bob, source, "approve")
    after = world.propose(agent, project, collection="private", derived_from=[pair])

    reason = f"tainted:{source.memory_id}"
    assert (before.status, before.review_reason) == (Status.PROPOSED, reason)
    assert after.status is Status.ACCEPTED
    assert (before.trust, after.trust) == (6_000, 6_000)


def test_what_is_refused_takes_no_place(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project, kind="fact", key=KEY)
    new = world.propose(cast.ann, project, kind="fact", key=KEY)

    with pytest.raises(ForbiddenError):
        world.decide(cast.ann, new, "approve")

    assert world.get(cast.bob, old).memory == old


def test_a_conflict_and_its_end_are_on_record(world, cast, project, background):
    old = value(world, cast.ann, project, "one")
    new = value(world, background, project, "two")
    world.decide(cast.ann, old, "outdate")
    value(world, cast.ann, project, "three")

    with world.store.engine.read() as tx:
        rows = tx.rows(
            """
            SELECT action, reason
              FROM audit
             WHERE item = :id
             ORDER BY sequence
            """,
            {"id": new.memory_id},
        )
    assert rows == [
        ("create", None),
        ("conflict-ended", "trust:6000"),
        ("conflict", "trust:3000"),
    ]
    assert decay.run(world.store) == 0


def test_all_who_contend_are_settled_together_and_each_is_on_record(
    world, cast, project, background
):
    kinds = ["fact", "temporal", "fact", "environment", "fact"]
    waiting = [
        value(world, background, project, f"number {number}", kind=kind)
        for number, kind in enumerate(kinds)
    ]
    world.clock.at += 30 * DAY
    holder = value(world, cast.ann, project, "one", kind="temporal")
    contending = [world.get(cast.ann, memory).memory for memory in waiting]
    world.decide(cast.ann, holder, "outdate")
    ended = [world.get(cast.ann, memory).memory for memory in waiting]

    assert {memory.conflicts_with for memory in contending} == {(holder.memory_id,)}
    assert [memory.trust for memory in contending] == [3_000, 0, 3_000, 3_000, 3_000]
    assert {memory.conflicts_with for memory in ended} == {()}
    assert [memory.trust for memory in ended] == [6_000, 3_000, 6_000, 6_000, 6_000]
    found = audits.find(
        world.store, cast.ann, batch=None, item=None, principal=None, after=None, limit=100
    ).items
    for action in ("conflict", "conflict-ended"):
        told = [entry for entry in found if entry.action == action]
        assert sorted(e.item for e in told) == [memory.memory_id for memory in waiting]
        assert len({entry.batch_id for entry in told}) == 1
    assert audits.verify(world.store, world.owner).sound


def test_a_sponsor_is_not_told_what_its_agent_s_proposal_contradicts(world, project):
    agent = world.person("bot", kind="agent")
    own = world.sign_in(world.run(agent, project).text)
    holder = value(world, own, project, "one")
    waiting = value(world, replace(own, origin=Origin.BACKGROUND), project, "two")
    owner = world.again(world.owner)

    assert (holder.status, waiting.conflicts_with) == (Status.ACCEPTED, (holder.memory_id,))
    assert waiting.memory_id in {m.memory_id for m in listed(world, owner, project)}
    for memory in (world.get(owner, waiting).memory, *listed(world, owner, project)):
        assert memory.conflicts_with == ()
    with pytest.raises(NotFoundError):
        world.get(owner, holder)


def test_a_sponsor_is_not_told_what_its_agent_s_proposal_repeats(world, project):
    agent = world.person("bot", kind="agent")
    own = world.sign_in(world.run(agent, project).text)
    text = "Warm the cache of the walrus before each of the nightly benchmarks"
    kept = world.propose(own, project, collection="private", title="The cache", body=f"{text}.")
    waiting = world.propose(own, project, collection="private", title="The cache", body=f"{text}!")
    owner = world.again(world.owner)

    assert (kept.status, waiting.review_reason) == (Status.ACCEPTED, f"similar:{kept.memory_id}")
    assert world.get(owner, waiting).memory.review_reason == "similar"
    page = queue.find(world.store, owner, project.project_id, None, queue.Filter(), None, 10)
    told = {item.view.memory.memory_id: item.reasons for item in page.items}
    assert told == {waiting.memory_id: ("similar",)}


def listed(world, caller, project):
    page = queue.find(world.store, caller, project.project_id, None, queue.Filter(), None, 10)
    return [item.view.memory for item in page.items]
