"""Trust: what moves it, when it sends an entry to review, and what a report makes of it."""

from dataclasses import replace

import pytest

from codeflow_memory.domain import trust as numbers
from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import decay, feedback, trust
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation

DAY = 86_400_000_000
NEW = Operation(None, ())


def judge(world, caller, memory, *, helpful):
    judgement = Judgement(helpful=helpful)
    return feedback.give(world.store, caller, memory.memory_id, judgement, NEW)


def now(world, caller, memory):
    return world.get(caller, memory).memory


def band(world, caller, trusted, project=None):
    """The counts of the band of a trust, without zeros."""
    project_id = None if project is None else project.project_id
    found = trust.report(world.store, caller, project_id, None)
    (one,) = [b for b in found if b.least <= trusted <= b.most]
    names = ("accepted", "rejected", "corrected", "confirmed", "unresolved")
    return {name: getattr(one, name) for name in names if getattr(one, name)}


def test_each_further_source_adds_up_to_three(world, cast, project):
    text = {"title": "The cache is cold", "body": "Warm it first."}
    memory = world.propose(replace(cast.ann, origin=Origin.BACKGROUND), project, **text)
    seen = []
    for name in ("p1", "p2", "p3", "p4"):
        for _ in range(2):
            world.propose(world.person(name), project, **text)
        seen.append(now(world, cast.bob, memory).trust)

    assert memory.trust == 6_000
    assert seen == [6_500, 7_000, 7_500, 7_500]
    assert now(world, cast.bob, memory).revision == memory.revision


def test_who_repeats_does_not_lift_an_entry_above_its_source(world, cast, project):
    source = world.propose(replace(cast.ann, origin=Origin.BACKGROUND), project)
    text = {"title": "The cache is cold", "body": "Warm it first."}
    pair = {"memory_id": source.memory_id, "revision": 1}
    memory = world.propose(cast.ann, project, derived_from=[pair], **text)

    world.propose(cast.abe, project, **text)
    waiting = now(world, cast.bob, memory).trust
    world.decide(cast.bob, now(world, cast.bob, memory), "approve")
    world.propose(cast.bea, project, **text)

    assert (memory.trust, waiting) == (6_000, 6_000)
    assert now(world, cast.bob, memory).trust == 6_500


def test_a_temporal_entry_halves_in_thirty_days_and_goes_back_to_review_on_the_way(
    world, cast, project
):
    memory = world.propose(cast.ann, project, kind="temporal", collection="private")
    steady = world.propose(cast.ann, project, kind="fact", collection="private")
    told = []
    for days in (10, 9, 1, 10):
        world.clock.at += days * DAY
        moved = decay.run(world.store)
        at = now(world, cast.ann, memory)
        told.append((moved, at.trust, at.status, at.review_reason))

    assert told == [
        (1, 6_746, Status.ACCEPTED, None),
        (1, 5_479, Status.PROPOSED, "trust"),
        (1, 5_354, Status.PROPOSED, "trust"),
        (1, 4_250, Status.PROPOSED, "trust"),
    ]
    assert decay.run(world.store) == 0
    assert now(world, cast.ann, steady) == steady


def test_an_entry_at_the_floor_stays_and_below_it_goes(world, cast, project):
    memory = world.propose(cast.ann, project, collection="private")
    assert judge(world, cast.ann, memory, helpful=False).trust == 7_000
    at_floor = world.revise(cast.ann, now(world, cast.ann, memory), tags=["x"])

    standing = judge(world, cast.ann, at_floor, helpful=False)
    below = world.revise(cast.ann, now(world, cast.ann, memory), tags=["y"])
    under = judge(world, cast.ann, below, helpful=False)

    assert (standing.trust, standing.status) == (numbers.REVIEW_FLOOR, Status.ACCEPTED)
    assert (under.trust, under.status) == (4_000, Status.PROPOSED)
    assert now(world, cast.ann, memory).review_reason == "trust"


def test_who_accepts_it_again_says_that_it_holds_now(world, cast, project):
    memory = world.propose(cast.ann, project, kind="temporal", collection="private")
    world.clock.at += 30 * DAY
    decay.run(world.store)

    back = world.decide(cast.ann, now(world, cast.ann, memory), "approve")

    assert (back.status, back.trust) == (Status.ACCEPTED, 8_500)
    assert decay.run(world.store) == 0


def test_an_entry_that_a_person_accepted_low_is_not_taken_out_by_its_age_alone(
    world, cast, project
):
    memory = world.propose(
        replace(cast.ann, origin=Origin.BACKGROUND), project, kind="temporal", collection="private"
    )
    judge(world, cast.ann, memory, helpful=False)
    accepted = world.decide(cast.ann, now(world, cast.ann, memory), "approve")
    world.clock.at += 5 * DAY

    decay.run(world.store)

    later = now(world, cast.ann, memory)
    assert accepted.trust == 4_500
    assert (later.status, later.trust) == (Status.ACCEPTED, 4_009)


def test_an_entry_that_a_person_accepted_low_is_not_taken_out_by_who_finds_it_helpful(
    world, cast, project
):
    memory = world.propose(replace(cast.ann, origin=Origin.BACKGROUND), project)
    for caller in (cast.ann, cast.abe):
        judge(world, caller, memory, helpful=False)
    accepted = world.decide(cast.bob, now(world, cast.bob, memory), "approve")

    better = judge(world, cast.ann, accepted, helpful=True)
    worse = judge(world, cast.abe, accepted, helpful=False)

    assert accepted.trust == 3_000
    assert (better.trust, better.status) == (4_000, Status.ACCEPTED)
    assert (worse.trust, worse.status) == (2_500, Status.PROPOSED)


def test_recovering_is_noted_for_the_reviewer_and_decides_nothing(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    for caller in (cast.ann, cast.abe, cast.max):
        judge(world, caller, memory, helpful=False)
    held = now(world, cast.bob, memory)
    assert (held.status, held.trust, held.review_reason) == (Status.PROPOSED, 4_000, "trust")

    told = []
    for name in ("q1", "q2", "q3", "q4"):
        judge(world, world.person(name), held, helpful=True)
        at = now(world, cast.bob, memory)
        told.append((at.trust, at.status, at.review_reason))

    assert told == [
        (5_000, Status.PROPOSED, "trust"),
        (6_000, Status.PROPOSED, "trust"),
        (7_000, Status.PROPOSED, "trust"),
        (8_000, Status.PROPOSED, "recovered"),
    ]


def test_every_movement_is_on_record_with_the_trust_that_it_left(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, kind="temporal")
    judge(world, cast.abe, memory, helpful=True)
    world.clock.at += DAY
    decay.run(world.store)

    with world.store.engine.read() as tx:
        rows = tx.rows(
            """
            SELECT action, origin, reason
              FROM audit
             WHERE item = :id
               AND reason LIKE 'trust:%'
             ORDER BY sequence
            """,
            {"id": memory.memory_id},
        )
    left = now(world, cast.bob, memory).trust
    assert rows == [("feedback", "user", "trust:9500"), ("decay", "system", f"trust:{left}")]


def test_the_report_counts_what_became_of_what_was_accepted(world, cast, project):
    kept, sent_back, corrected, replaced, liked = (
        world.accept(cast.ann, cast.bob, project) for _ in range(5)
    )
    world.propose(cast.ann, project)
    world.decide(cast.bob, sent_back, "reject")
    world.revise(cast.ann, corrected, body="The corrected text.")
    pair = {"memory_id": replaced.memory_id, "revision": replaced.revision}
    world.accept(cast.ann, cast.bob, project, supersedes=pair)
    judge(world, cast.abe, liked, helpful=True)

    counted = band(world, cast.bob, 8_500, project)

    # An edit of accepted guidance also sends it back to review.
    assert counted == {
        "accepted": 6,
        "rejected": 2,
        "corrected": 2,
        "confirmed": 1,
        "unresolved": 2,
    }
    assert kept.status is Status.ACCEPTED
    assert band(world, cast.bob, 8_500) == counted


def test_the_report_counts_in_the_band_of_the_acceptance(world, cast, project):
    background = replace(cast.ann, origin=Origin.BACKGROUND)
    memory = world.accept(background, cast.bob, project)
    judge(world, cast.abe, memory, helpful=True)
    world.delete(cast.max, now(world, cast.bob, memory))

    assert band(world, cast.bob, 6_000) == {"accepted": 1, "confirmed": 1}
    assert band(world, cast.bob, 7_000) == {}


def test_the_report_tells_nobody_of_what_they_do_not_see(world, cast, project):
    world.propose(cast.ann, project, collection="private")
    world.decide(cast.bob, world.accept(cast.ann, cast.bob, project), "reject")

    assert band(world, cast.ann, 8_500) == {"accepted": 2, "rejected": 1, "unresolved": 1}
    assert band(world, cast.abe, 8_500) == {"accepted": 1, "rejected": 1}
    assert band(world, cast.reader, 8_500) == {}
    assert band(world, world.person("ops", Role.OPERATOR), 8_500) == {}
    for name in (project.project_id, "absent"):
        with pytest.raises(NotFoundError):
            trust.report(world.store, world.person("ops", Role.OPERATOR), name, None)
    with pytest.raises(NotFoundError):
        trust.report(world.store, cast.ann, None, "absent")


def test_the_report_tells_no_sponsor_what_its_agent_keeps(world, project):
    agent = world.person("bot", kind="agent")
    own = world.sign_in(world.run(agent, project).text)
    memory = world.propose(own, project, collection="private")

    assert memory.status is Status.ACCEPTED
    assert band(world, own, memory.trust) == {"accepted": 1, "unresolved": 1}
    assert band(world, world.again(world.owner), memory.trust) == {}


def test_the_bands_cover_the_scale_without_a_gap(world, cast):
    bands = trust.report(world.store, cast.ann, None, None)

    assert (bands[0].least, bands[-1].most) == (0, 10_000)
    assert [b.most + 1 for b in bands[:-1]] == [b.least for b in bands[1:]]
