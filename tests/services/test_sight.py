"""What one caller's answers could tell of what only another sees."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.manifest import for_others
from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.services import replay, search
from codeflow_memory.services.search import Question


def as_others_read(selection):
    """The whole of a manifest that somebody else than its caller is given."""
    record, free = for_others(selection.record, selection.free)
    return canonical_json({n: v for n, v in record.items() if n not in {"id", "created_at"}}), free


@pytest.mark.parametrize("hidden", ["unlike", "alike"])
def test_a_reviewer_of_a_manifest_learns_nothing_of_its_callers_private_entries(
    world, cast, project, hidden
):
    for number in range(3):
        world.accept(cast.ann, cast.bob, project, title=f"W {number}", body="the walrus sleeps")
    asked = {"query": "walrus", "paths": ("src/a.py",)}
    before = as_others_read(world.select(cast.ann, project, **asked))

    facts = {"body": "a seal swims"} if hidden == "unlike" else {"paths": ["docs/**"]}
    for _ in range(4):
        note = world.propose(cast.ann, project, collection="private", **facts)
        assert note.content is not None
    made = world.select(cast.ann, project, **asked)

    assert as_others_read(made) == before
    again = replay.run(world.store, cast.bob, project.project_id, None, made.manifest.manifest_id)
    assert again.context == made.context


def test_a_successor_that_a_reader_does_not_see_is_not_named_to_it(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project)
    pair = {"memory_id": old.memory_id, "revision": old.revision}
    new = world.accept(cast.abe, cast.bob, project, supersedes=pair)
    assert world.get(cast.reader, old).memory.superseded_by == new.memory_id

    world.decide(cast.bob, new, "return")

    assert world.get(cast.reader, old).memory.superseded_by is None
    assert world.get(cast.ann, old).memory.superseded_by == new.memory_id


def test_a_secret_that_came_into_service_by_other_ways_is_found_by_nobody(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="the walrus sleeps")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET sensitivity = 'secret'")
        tx.execute("UPDATE scopes SET generation = generation + 1")

    found = search.find(
        world.store, cast.reader, project.project_id, None, Question("walrus")
    ).results
    chosen = world.select(cast.reader, project, query="walrus")

    assert found == ()
    assert chosen.record["entries"] == []


def test_who_marks_anothers_entry_secret_is_answered_once_and_sees_it_no_more(world, cast, project):
    memory = world.propose(cast.ann, project)

    edited = world.revise(cast.bob, memory, sensitivity="secret")

    assert edited.revision == 2
    assert world.get(cast.ann, memory).memory.revision == 2
    with pytest.raises(NotFoundError):
        world.get(cast.bob, memory)


def test_a_repetition_is_not_answered_to_who_has_lost_sight(world, cast, project):
    made = world.write(cast.ann, project, op="mine", title="T", body="a walrus")
    world.decide(cast.bob, made.memory, "reject")
    reader = replace(cast.ann, grants=cast.reader.grants, token_id=None)

    with pytest.raises(NotFoundError):
        world.write(reader, project, op="mine", title="T", body="a walrus")
    again = world.write(cast.ann, project, op="mine", title="T", body="a walrus")
    assert again.memory == made.memory
