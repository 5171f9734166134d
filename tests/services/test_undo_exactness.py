"""Each sentence of 03 §3: a row a change; a batch back exactly, and never over later changes."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.errors import ForbiddenError, UndoConflictError
from codeflow_memory.domain.memory import Pair, Status
from codeflow_memory.domain.times import DAY, to_rfc3339
from codeflow_memory.services import audits, batch, decay, expiry, feedback, undo
from codeflow_memory.services.batch import Step
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.storage import audit

NEW = Operation(None, ())


def undone(world, access, **named):
    chosen = {"batch": None, "item": None} | named
    return undo.undo(world.store, access, NEW, **chosen)


def judged(world, access, memory, *, helpful, **more):
    return feedback.give(world.store, access, memory.memory_id, Judgement(helpful), NEW, **more)


def rows(world, item=None):
    """Rows of the audit, oldest first: of one entry, or of all entries."""
    with world.store.engine.read() as tx:
        return tx.rows(
            """
            SELECT sequence, at, principal_id, origin, batch_id, action, item, from_revision,
                   to_revision, from_status, to_status, reason, previous_hash, hash
              FROM audit
             WHERE scope_id IS NOT NULL AND (item = :item OR :item = '')
             ORDER BY sequence
            """,
            {"item": item or ""},
        )


def actions(world, memory):
    return [row[5] for row in rows(world, memory.memory_id)]


def count(world):
    with world.store.engine.read() as tx:
        return audit.count(tx)


def value(world, caller, project, text, **fields):
    more = {"kind": "fact", "key": "api | version", "title": f"The API is {text}", "body": text}
    return world.write(caller, project, **(more | fields)).memory


def kept(memory):
    return memory.status, memory.content, memory.content_sha256, memory.superseded_by


def test_the_steps_of_one_request_are_one_batch_even_when_one_is_refused(world, cast, project):
    made = [world.propose(cast.ann, project) for _ in range(3)]
    own = world.propose(cast.bob, project)
    steps = [Step("approve", m.memory_id, 1, Decision("approve")) for m in (*made, own)]

    done = batch.run(world.store, cast.bob, steps, NEW, dry_run=False, atomic=False)

    assert [r.status for r in done.results] == ["accepted"] * 3 + [None]
    assert {row[4] for row in rows(world) if row[5] == "approve"} == {done.batch_id}
    back = undone(world, cast.bob)
    assert (back.of_batch, len(back.reverted)) == (done.batch_id, 3)
    assert {world.get(cast.bob, m).memory.status for m in made} == {Status.PROPOSED}


def test_a_repeated_request_is_the_same_batch(world, cast, project):
    memory = world.propose(cast.ann, project)
    steps = [Step("approve", memory.memory_id, 1, Decision("approve"))]
    named = Operation("once", (repr(steps),))

    first, again = (
        batch.run(world.store, cast.bob, steps, named, dry_run=False, atomic=False)
        for _ in range(2)
    )

    assert first == again
    assert first.batch_id in {row[4] for row in rows(world, memory.memory_id)}


@pytest.mark.parametrize(
    "how", [{"dry_run": True, "atomic": False}, {"dry_run": True, "atomic": True}]
)
def test_what_keeps_nothing_is_no_batch(world, cast, project, how):
    memory = world.propose(cast.ann, project)
    steps = [Step("approve", memory.memory_id, 1, Decision("approve"))]
    before, bob = count(world), cast.bob
    before = count(world)

    done = batch.run(world.store, bob, steps, NEW, **how)

    assert (done.batch_id, done.applied, count(world)) == (None, False, before)


def test_a_rehearsed_undo_refuses_what_the_undo_would_and_writes_nothing(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    world.revise(cast.ann, memory, title="An edit of accepted guidance")
    before = count(world)

    with pytest.raises(ForbiddenError):
        # To bring accepted guidance back is a reviewer's.
        undo.preview(world.store, cast.ann, batch=None, item=memory.memory_id)
    told = undo.preview(world.store, cast.bob, batch=None, item=memory.memory_id)

    assert [(r.memory_id, r.from_revision, r.to_revision) for r in told.reverted] == [
        (memory.memory_id, 3, 4)
    ]
    assert (count(world), world.get(cast.bob, memory).memory.revision) == (before, 3)
    assert undone(world, cast.bob, item=memory.memory_id).of_batch == told.of_batch


def test_validity_and_links_come_back_as_they_were(world, cast, project):
    until = to_rfc3339(world.clock.at + 90 * DAY)
    old = value(world, cast.ann, project, "two", collection="private", valid_to=until)
    world.clock.at += DAY
    new = value(world, cast.ann, project, "three", collection="private")
    closed = world.get(cast.ann, old).memory
    assert (closed.status, closed.superseded_by) == (Status.SUPERSEDED, new.memory_id)
    assert closed.content.valid_to != old.content.valid_to
    assert new.supersedes == Pair(old.memory_id, 1)

    undone(world, cast.ann)

    back, gone = world.get(cast.ann, old).memory, world.get(cast.ann, new).memory
    assert (kept(back), back.revision) == (kept(old), 3)
    assert (gone.status, gone.content) == (Status.ARCHIVED, new.content)


def test_an_undo_by_batch_by_item_and_of_the_last_lead_to_the_same(world, cast, project):
    for how in ("last", "batch", "item"):
        memory = world.write(cast.ann, project, collection="private").memory
        world.revise(cast.ann, memory, body=f"Another text by {how}")
        of_batch = rows(world, memory.memory_id)[-1][4]
        named = {"last": {}, "batch": {"batch": of_batch}, "item": {"item": memory.memory_id}}[how]

        done = undone(world, cast.ann, **named)

        back = world.get(cast.ann, memory).memory
        assert (done.of_batch, back.revision, kept(back)) == (of_batch, 3, kept(memory))


def test_an_item_of_a_batch_goes_back_alone(world, cast, project):
    one, two = (world.propose(cast.ann, project) for _ in "12")
    steps = [Step("approve", m.memory_id, 1, Decision("approve")) for m in (one, two)]
    batch.run(world.store, cast.bob, steps, NEW, dry_run=False, atomic=True)

    undone(world, cast.bob, item=one.memory_id)

    assert world.get(cast.bob, one).memory.status is Status.PROPOSED
    assert world.get(cast.bob, two).memory.status is Status.ACCEPTED


def test_a_refusal_lists_the_later_changes_of_every_entry(world, cast, project):
    made = [world.write(cast.ann, project, collection="private").memory for _ in range(2)]
    steps = [Step("archive", m.memory_id, 1, Decision("archive")) for m in made]
    done = batch.run(world.store, cast.ann, steps, NEW, dry_run=False, atomic=True)
    for memory in made:
        world.revise(
            cast.ann,
            world.decide(cast.ann, world.get(cast.ann, memory).memory, "restore"),
            title="x" + memory.memory_id,
        )
    before = count(world)

    with pytest.raises(UndoConflictError) as told:
        undone(world, cast.ann, batch=done.batch_id)

    later = {(c.memory_id, c.revision, c.action) for c in told.value.later}
    assert later == {
        (m.memory_id, revision, action)
        for m in made
        for revision, action in ((3, "restore"), (4, "revise"))
    }
    assert count(world) == before


def test_what_trust_did_by_itself_can_be_undone(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    for access in (cast.ann, cast.abe, cast.bob):
        judged(world, access, memory, helpful=False)
    sunk = world.get(cast.bob, memory).memory
    assert (sunk.status, sunk.review_reason) == (Status.PROPOSED, "trust")

    with pytest.raises(ForbiddenError):
        undone(world, cast.abe, item=memory.memory_id)
    undone(world, cast.bob, item=memory.memory_id)

    back = world.get(cast.bob, memory).memory
    assert (kept(back), back.trust) == (kept(memory), sunk.trust)


def test_a_deletion_leaves_its_rows_without_text(world, cast, project):
    memory = world.write(
        cast.ann, project, collection="private", body="It tells of a walrus."
    ).memory
    edited = world.revise(cast.ann, memory, title="Walrus")
    before = rows(world, memory.memory_id)
    world.delete(cast.ann, edited, reason="a walrus should not stay")

    after = rows(world, memory.memory_id)

    assert after[: len(before)] == before
    assert [row[5] for row in after] == ["create", "revise", "delete"]
    assert (after[-1][8:11], after[-1][11]) == ((3, "accepted", "deleted"), None)
    assert world.holding("walrus") == []
    assert audits.verify(world.store, world.owner).sound


def test_a_row_tells_all_that_the_contract_names_and_holds_the_one_before(world, cast, project):
    memory = world.propose(cast.ann, project)
    world.decide(cast.bob, memory, "reject", reason="wrong")

    created, _, rejected = rows(world, memory.memory_id)

    assert rejected[1:4] == (world.clock.at, cast.bob.principal_id, "user")
    assert rejected[5:12] == (
        "reject", memory.memory_id, 1, 2, "proposed", "rejected", "wrong",
    )  # fmt: skip
    assert rejected[4].startswith("bat_")
    assert created[4] != rejected[4]
    with world.store.engine.read() as tx:
        chain = tx.rows("SELECT sequence, previous_hash, hash FROM audit ORDER BY sequence")
    assert [row[0] for row in chain] == list(range(1, len(chain) + 1))
    assert [row[1] for row in chain] == ["", *(row[2] for row in chain[:-1])]


def test_every_kind_of_change_is_a_row(world, cast, project):
    """Each change of an entry, by whatever way, and the actions that it leaves; none without."""
    ann, bob = cast.ann, cast.bob
    background = replace(ann, origin=Origin.BACKGROUND)
    seen = {}

    def change(name, memory, work):
        before = len(rows(world, memory.memory_id))
        work()
        seen[name] = actions(world, memory)[before:]

    def now(memory):
        return world.get(bob, memory).memory

    memory = world.propose(ann, project)
    seen["create"] = actions(world, memory)
    change("edit", memory, lambda: world.revise(ann, memory, tags=["a"]))
    change("approve", memory, lambda: world.decide(bob, now(memory), "approve"))
    change("helpful", memory, lambda: judged(world, ann, memory, helpful=True))
    for number, access in enumerate((ann, cast.abe, bob)):
        name = f"unhelpful {number}"
        change(name, memory, lambda a=access: judged(world, a, memory, helpful=False))
    change("return", memory, lambda: world.decide(bob, now(memory), "return"))
    change("reject", memory, lambda: world.decide(bob, now(memory), "reject"))
    other = world.accept(ann, bob, project)
    for action in ("outdate", "restore", "archive"):
        change(action, other, lambda a=action: world.decide(bob, now(other), a))
    change("undo", other, lambda: undone(world, bob, item=other.memory_id))
    heir = world.accept(ann, bob, project)
    change(
        "supersede",
        other,
        lambda: world.decide(bob, now(other), "supersede", superseded_by=heir.memory_id),
    )
    change(
        "sighting",
        heir,
        lambda: world.write(cast.abe, project, title=heir.content.title, body=heir.content.body),
    )
    change("delete", heir, lambda: world.delete(cast.max, now(heir)))

    held = value(world, ann, project, "two", collection="private")
    rival = value(world, background, project, "three", collection="private")
    assert rival.conflicts_with == (held.memory_id,)
    change("conflict ended", rival, lambda: world.decide(ann, held, "archive"))
    change("conflict", rival, lambda: world.decide(ann, world.get(ann, held).memory, "restore"))

    dated = value(
        world, ann, project, "x", collection="private", key=None,
        valid_to=to_rfc3339(world.clock.at + DAY),
    )  # fmt: skip
    aged = world.write(ann, project, collection="private", kind="temporal").memory
    world.clock.at += 30 * DAY
    change("expiry", dated, lambda: expiry.run(world.store))
    change("decay", aged, lambda: decay.run(world.store))

    assert seen == {
        "create": ["create"],
        "edit": ["revise"],
        "approve": ["approve-given", "approve"],
        "helpful": ["feedback"],
        "unhelpful 0": [],
        "unhelpful 1": ["feedback"],
        "unhelpful 2": ["feedback"],
        "return": ["return"],
        "reject": ["reject-given", "reject"],
        "outdate": ["outdate"],
        "restore": ["restore"],
        "archive": ["archive"],
        "undo": ["undo"],
        "supersede": ["supersede"],
        "sighting": ["sighting"],
        "delete": ["delete"],
        "conflict ended": ["conflict-ended"],
        "conflict": ["conflict"],
        "expiry": ["outdate"],
        "decay": ["decay", "return"],
    }
    moved = [row for row in rows(world) if row[5] in {"feedback", "sighting", "conflict", "decay"}]
    assert all(row[11].startswith("trust:") for row in moved)
    assert audits.verify(world.store, world.owner).sound
