"""Deletion: who deletes what, and that no word of a deleted text stays."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.errors import (
    ForbiddenError,
    NotFoundError,
    OperationReusedError,
    RevisionConflictError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import feedback, manifests, memories, replay
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.storage import audit, graph, revisions
from codeflow_memory.storage import manifests as stored

from ..remains import IN_DATABASE

NEW = Operation(None, ())
NEEDLE = "quinquagesimal"


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.CONTRIBUTOR, False),
        (Role.REVIEWER, False),
        (Role.MAINTAINER, True),
        (Role.OWNER, True),
    ],
)
def test_others_project_entries_are_a_maintainers_to_delete(world, cast, project, role, allowed):
    memory = world.accept(cast.ann, cast.bob, project)
    caller = world.person("somebody", role)
    if allowed:
        assert world.delete(caller, memory).status is Status.DELETED
        return

    with pytest.raises(ForbiddenError):
        world.delete(caller, memory)


def test_a_reader_deletes_nothing_and_an_operator_finds_nothing(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)

    with pytest.raises(ForbiddenError):
        world.delete(cast.reader, memory)
    with pytest.raises(NotFoundError):
        world.delete(world.person("ops", Role.OPERATOR), memory)


@pytest.mark.parametrize("who", ["abe", "max"])
def test_anothers_private_entry_is_not_there_to_be_deleted(world, cast, project, who):
    memory = world.propose(cast.ann, project, collection="private")

    with pytest.raises(NotFoundError):
        world.delete(getattr(cast, who), memory)
    assert world.delete(cast.ann, memory).status is Status.DELETED


def test_a_maintainer_outside_the_team_does_not_see_its_entries(world, cast, project):
    team = world.team("red", cast.ann, cast.abe)
    memory = world.propose(world.again(cast.ann), project, collection="team", team_id=team)

    with pytest.raises(NotFoundError):
        world.delete(cast.max, memory)
    with pytest.raises(ForbiddenError):
        world.delete(world.again(cast.abe), memory)


def test_a_stale_deletion_is_a_conflict(world, cast, project):
    memory = world.propose(cast.ann, project)

    with pytest.raises(RevisionConflictError):
        world.delete(cast.ann, replace(memory, revision=2))


def test_a_deletion_is_done_once(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project)
    stone = world.delete(cast.max, memory, op="k")
    with world.store.engine.read() as tx:
        rows = audit.count(tx)

    assert world.delete(cast.max, memory, op="k") == stone
    assert world.delete(cast.max, stone) == stone
    with pytest.raises(RevisionConflictError):
        world.delete(cast.max, memory)
    with pytest.raises(OperationReusedError):
        world.delete(cast.max, world.propose(cast.ann, project), op="k")
    with world.store.engine.read() as tx:
        assert audit.count(tx) == rows + 1


def fill_with_needle(world, cast, project):
    """One memory whose every field, and all that was said about it, holds the needle."""
    memory = world.propose(
        cast.ann,
        project,
        title=f"Title {NEEDLE} one",
        body=f"first {NEEDLE}",
        tags=[NEEDLE],
        paths=[f"src/{NEEDLE}/**"],
        branches=[NEEDLE],
        key=NEEDLE,
        sources=[f"session:{NEEDLE}", f"file:src/{NEEDLE}/a.py", f"run:{NEEDLE}"],
    )
    memory = world.revise(cast.ann, memory, body=f"second {NEEDLE}")
    memory = world.decide(cast.bob, memory, "approve", comment=NEEDLE)
    memory = world.decide(cast.bob, memory, "outdate", reason=f"because {NEEDLE}")
    return world.decide(cast.bob, memory, "restore", reason="wrong")


def select_and_judge(world, cast, project, memory):
    made = world.select(
        cast.ann, project, query=f"the {NEEDLE}", paths=(f"src/{NEEDLE}/a.py",), branch=NEEDLE
    )
    judgement = Judgement(helpful=True, note=NEEDLE, selection_id=made.manifest.manifest_id)
    feedback.give(world.store, cast.ann, memory.memory_id, judgement, NEW)
    return made


def test_no_word_of_a_deleted_text_stays_in_the_home(world, cast, project):
    memory = fill_with_needle(world, cast, project)
    suspect(world, memory)
    made = select_and_judge(world, cast, project, memory)
    assert f"the cited file src/{NEEDLE}/a.py is changed; check it" in made.context
    assert world.holding(NEEDLE) == [IN_DATABASE]

    stone = world.delete(cast.max, memory, reason=f"all about {NEEDLE}")
    assert world.holding(NEEDLE) == []
    assert (stone.content, stone.tombstone.reason) == (None, None)
    assert recompute(world.store, sample=None)[1] == []


def suspect(world, memory):
    """Let the last check have found the memory's cited file changed."""
    with world.store.engine.write() as tx:
        tx.execute(
            """
            INSERT INTO citations (repository_id, memory_id, source, blob_hash, result, checked_at)
            VALUES (:repository_id, :memory_id, :source, '', 'changed', 1)
            """,
            {
                "repository_id": memory.repository_id,
                "memory_id": memory.memory_id,
                "source": f"file:src/{NEEDLE}/a.py",
            },
        )


def test_a_code_is_all_that_stays_of_reasons(world, cast, project):
    memory = fill_with_needle(world, cast, project)

    stone = world.delete(cast.max, memory, reason="not-durable")

    assert stone.tombstone.reason == "not-durable"
    with world.store.engine.read() as tx:
        kept = revisions.find_all(tx, memory.repository_id, memory.memory_id)
    assert [r.reason for r in kept] == [None, None, None, None, "wrong", "not-durable"]
    assert {(r.content, r.content_sha256) for r in kept} == {(None, None)}


def test_a_manifest_keeps_its_hashes_without_the_words(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, title=f"Title {NEEDLE}")
    other = world.accept(cast.ann, cast.bob, project, body=f"other {NEEDLE}")
    made = world.select(cast.ann, project, query=NEEDLE, budget=Budget(entries=1))
    assert memory.memory_id in made.context
    world.delete(cast.ann, other)

    again = replay.run(world.store, cast.ann, project.project_id, None, made.manifest.manifest_id)

    assert again.manifest.free_text is None
    assert NEEDLE not in again.manifest.record
    assert again.context == made.context
    assert again.verified


def overtaken(monkeypatch, change):
    """Let *change* happen between what each selection reads and what it stores."""
    record = manifests.record

    def slow(*arguments):
        made = record(*arguments)
        change()
        return made

    monkeypatch.setattr(manifests, "record", slow)


@pytest.mark.parametrize("taken", [True, False])
def test_a_selection_that_a_deletion_overtook_keeps_no_words(
    world, cast, project, monkeypatch, taken
):
    memory = world.accept(cast.ann, cast.bob, project, body=f"words {NEEDLE}")
    overtaken(monkeypatch, lambda: world.delete(cast.max, memory))

    budget = Budget(entries=1, characters=12_000 if taken else 1)
    made = world.select(cast.ann, project, query=NEEDLE, budget=budget)

    assert memory.memory_id in json.dumps(made.record["entries" if taken else "omitted"])
    assert world.holding(NEEDLE) == []


def test_a_selection_that_another_change_overtook_keeps_its_words(
    world, cast, project, monkeypatch
):
    world.accept(cast.ann, cast.bob, project, body=f"words {NEEDLE}")
    other = world.accept(cast.ann, cast.bob, project, body="moss", kind="trace")
    overtaken(monkeypatch, lambda: world.delete(cast.max, other))

    made = world.select(cast.ann, project, query=NEEDLE)

    again = replay.run(world.store, cast.ann, project.project_id, None, made.manifest.manifest_id)
    assert again.manifest == made.manifest


def test_a_deletion_finds_every_selection_that_lists_its_entry(world, cast, project):
    memory = world.accept(cast.ann, cast.bob, project, body=f"words {NEEDLE}")
    world.accept(cast.ann, cast.bob, project, title=f"More words {NEEDLE}")
    budgets = (Budget(), Budget(entries=1), Budget(characters=1))
    listing = [
        world.select(caller, project, query=f"words {NEEDLE}", budget=budget).manifest
        for caller in (cast.ann, cast.bob)
        for budget in budgets
    ]
    without = world.select(cast.ann, project, query="absent").manifest

    world.delete(cast.max, memory)

    with world.store.engine.read() as tx:
        where = (project.repository_id, project.project_id)
        found = [stored.find(tx, *where, m.manifest_id) for m in (*listing, without)]
    assert [m.free_text is None for m in found] == [True] * len(listing) + [False]


@pytest.mark.parametrize("attempt", range(3))
def test_selections_and_deletions_at_once_leave_no_words(world, cast, project, attempt):
    memories = [
        world.accept(cast.ann, cast.bob, project, body=f"words {NEEDLE} {n} {attempt}")
        for n in range(6)
    ]

    def select(number):
        return world.select(cast.ann, project, query=f"{NEEDLE} {number}")

    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(select, number) for number in range(12)]
        gone = [pool.submit(world.delete, cast.max, memory) for memory in memories]
        for done in (*made, *gone):
            done.result()

    assert world.holding(NEEDLE) == []


def test_descendants_keep_their_text_and_their_pair(world, cast, project):
    source = world.accept(cast.ann, cast.bob, project)
    child = world.accept(
        cast.ann,
        cast.bob,
        project,
        derived_from=[{"memory_id": source.memory_id, "revision": source.revision}],
    )

    world.delete(cast.max, source)

    view = world.get(cast.ann, child)
    assert (view.memory, view.resolved) == (child, (False,))


def test_shared_entities_stay_while_anybody_names_them(world, cast, project):
    one = world.accept(cast.ann, cast.bob, project, paths=["src/shared.py"])
    two = world.accept(cast.ann, cast.bob, project, paths=["src/shared.py"])
    world.delete(cast.max, one)
    assert world.holding("src/shared.py") == [IN_DATABASE]

    world.delete(cast.max, two)

    assert world.holding("src/shared.py") == []
    with world.store.engine.read() as tx:
        assert graph.find(tx, one.repository_id, [one.scope_id], [one.memory_id], 10) == []


def test_a_tiny_entry_is_deleted_from_a_full_scope(world, cast, project):
    memory = world.propose(cast.ann, project, title="t", body="b", kind="fact")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE scopes SET canonical_bytes = 33554432")

    assert world.delete(cast.ann, memory).status is Status.DELETED


def test_the_history_of_a_tombstone_names_who_and_when(world, cast, project):
    stone = world.delete(cast.ann, world.propose(cast.ann, project))

    listed = memories.history(world.store, cast.ann, stone.memory_id)

    assert [(r.action, r.actor, r.status) for r in listed] == [
        ("create", cast.ann.principal_id, Status.PROPOSED),
        ("delete", cast.ann.principal_id, Status.DELETED),
    ]
