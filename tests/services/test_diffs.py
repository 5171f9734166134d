"""Diffs: what changed between two revisions, by field and word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.services import diffs

texts = st.text(st.sampled_from("ab cd\n.,é字"), max_size=40)


@pytest.mark.parametrize(("old", "new"), [(0, 1), (1, 3), (7, 1)])
def test_a_revision_that_never_was_is_not_found(world, cast, project, old, new):
    memory = world.revise(cast.ann, world.propose(cast.ann, project), title="Another")

    with pytest.raises(NotFoundError):
        diffs.compare(world.store, cast.ann, memory.memory_id, old, new)


def test_only_fields_that_differ_are_shown(world, cast, project):
    memory = world.propose(cast.ann, project, body="keep this word", tags=["a"])
    memory = world.revise(cast.ann, memory, body="keep that word", tags=["b"])
    world.decide(cast.bob, memory, "approve")

    compared = diffs.compare(world.store, cast.ann, memory.memory_id, 1, 3)

    assert [f["field"] for f in compared["fields"]] == ["status", "body", "tags"]
    body = compared["fields"][1]
    assert body["words"] == [["=", "keep "], ["-", "this"], ["+", "that"], ["=", " word"]]
    assert (compared["from"], compared["to"]) == (1, 3)


def test_a_successor_is_compared_with_what_its_author_saw(world, cast, project):
    old = world.accept(cast.ann, cast.bob, project, title="Tabs", body="Use tabs here.")
    pair = {"memory_id": old.memory_id, "revision": old.revision}
    new = world.propose(cast.abe, project, title="Tabs", body="Use spaces here.", supersedes=pair)
    world.decide(cast.bob, old, "outdate")

    compared = diffs.against_superseded(world.store, cast.bob, new.memory_id)

    assert (compared["memory_id"], compared["from"], compared["to"]) == (new.memory_id, 2, 1)
    (body,) = compared["fields"]
    assert body["words"] == [["=", "Use "], ["-", "tabs"], ["+", "spaces"], ["=", " here."]]


def test_what_supersedes_nothing_has_no_such_comparison(world, cast, project):
    memory = world.propose(cast.ann, project)

    with pytest.raises(InvalidRequestError):
        diffs.against_superseded(world.store, cast.ann, memory.memory_id)
    with pytest.raises(NotFoundError):
        diffs.against_superseded(world.store, cast.reader, memory.memory_id)


def test_a_revision_differs_in_nothing_from_itself(world, cast, project):
    memory = world.propose(cast.ann, project)

    assert diffs.compare(world.store, cast.ann, memory.memory_id, 1, 1)["fields"] == []


def test_a_tombstone_has_no_text_to_compare(world, cast, project):
    stone = world.delete(cast.ann, world.propose(cast.ann, project, body="walrus"))

    compared = diffs.compare(world.store, cast.ann, stone.memory_id, 1, 2)

    assert "walrus" not in str(compared)


@settings(max_examples=100)
@given(texts, texts)
def test_the_kept_and_added_words_are_the_new_text(old, new):
    runs = diffs.words(old, new)

    assert "".join(text for op, text in runs if op != "-") == new
    assert "".join(text for op, text in runs if op != "+") == old


def test_long_texts_are_compared_by_lines():
    old = "\n".join(f"line {number}" for number in range(2_000))

    assert diffs.words(old, f"{old}\nmore")[-1] == ["+", "line 1999\nmore"]
