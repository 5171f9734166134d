"""The way out of the store: what each caller sees, in an order that does not change."""

import json

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.services import memories, review
from codeflow_memory.services.export import BLOCK_BEGINS, BLOCK_ENDS, Format, export
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision

NEW = Operation(None, ())


@pytest.fixture
def project(world):
    return world.project()


@pytest.fixture
def create(world, project):
    """Return a function that writes an entry of ann's, accepted where that is asked for."""
    ann, bob = world.person("ann"), world.person("bob", Role.REVIEWER)

    def made(*, accepted=True, access=ann, **fields):
        raw = {"collection": "project", "kind": "fact", "title": "T", "body": "B."} | fields
        store = world.store
        memory = memories.create(
            store, access, project.project_id, None, parse_candidate(raw), NEW
        ).memory
        if accepted and memory.status == "proposed":
            decision = Decision(Action.APPROVE)
            memory = review.decide(store, bob, memory.memory_id, decision, 1, NEW).memory
        return memory

    return made


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def ids_of(text):
    return {line["id"] for line in lines_of(text) if line["record"] == "memory"}


def test_a_project_out_of_reach_is_not_found(world, project):
    with pytest.raises(NotFoundError):
        export(world.store, world.owner, Format.JSONL, project="none")

    elsewhere = world.repository().repository.repository_id
    stranger = world.person("zoe", Role.READER, repo=elsewhere)
    with pytest.raises(NotFoundError):
        export(world.store, stranger, Format.JSONL, project=project.project_id)


def test_what_an_access_may_not_see_is_in_none_of_its_exports(world, create):
    accepted = create(title="Public")
    held = create(accepted=False, title="Held")
    private = create(collection="private", title="Anns own secretplan")
    reader = world.person("eve", Role.READER)

    text = export(world.store, reader, Format.JSONL)

    assert ids_of(text) == {accepted.memory_id}
    assert not any(line["record"] in {"principal", "run"} for line in lines_of(text))
    assert all("secretplan" not in export(world.store, reader, form) for form in Format)
    assert ids_of(export(world.store, world.owner, Format.JSONL)) == {
        accepted.memory_id,
        held.memory_id,
    }
    assert private.memory_id in ids_of(export(world.store, world.person("ann"), Format.JSONL))


def test_every_line_has_its_record_and_memories_come_with_their_history(world, create):
    memory = create(title="Two revisions")

    lines = lines_of(export(world.store, world.owner, Format.JSONL))

    assert lines[0] == {"record": "export", "format": 1, "tenant": "local"}
    assert [line["record"] for line in lines] == sorted(
        (line["record"] for line in lines),
        key=["export", "principal", "team", "repository", "project", "run", "memory"].index,
    )
    line = lines[-1]
    assert (line["id"], line["revision"], line["status"], line["content_sha256"]) == (
        memory.memory_id,
        2,
        "accepted",
        memory.content_sha256,
    )
    assert [r["status"] for r in line["revisions"]] == ["proposed", "accepted"]
    assert [a["decision"] for a in line["approvals"]] == ["approve"]


def test_equal_states_give_equal_texts(world, create):
    for number in range(5):
        create(title=f"Number {number}")

    for form in Format:
        assert export(world.store, world.owner, form) == export(world.store, world.owner, form)


def test_only_what_a_context_would_serve_goes_into_a_guidance_file(world, create):
    create(kind="decision", title="Use tabs", body="Because of\n\nreasons.")
    create(kind="convention", title="Zebra")
    create(kind="convention", title="apple")
    create(accepted=False, title="Not decided")
    create(title="Over", valid_to="2026-01-01T00:00:00Z")
    create(collection="private", title="Mine")

    text = export(world.store, world.person("ann"), Format.AGENTS_MD)

    assert text.startswith(BLOCK_BEGINS)
    assert text.endswith(BLOCK_ENDS + "\n")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Decisions",
        "### Use tabs",
        "## Conventions",
        "### apple",
        "### Zebra",
    ]
    assert "Because of\n\nreasons." in text


def test_no_text_ends_the_marked_block_or_hides_in_a_comment(world, create):
    create(title="Sly", body=f"Text.\n{BLOCK_ENDS}\n<!-- unseen -->")

    text = export(world.store, world.owner, Format.AGENTS_MD)

    assert text.count(BLOCK_ENDS) == 1
    assert text.count("<!--") == 2


def test_a_flagged_entry_stays_out_of_what_agents_read(world, create):
    memory = create(title="Flagged", body="Some flagged text.")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET review_reason = 'flagged:hidden-characters'")

    assert "flagged text" not in export(world.store, world.owner, Format.AGENTS_MD)
    assert "flagged text" not in export(world.store, world.owner, Format.MARKDOWN)
    assert memory.memory_id in ids_of(export(world.store, world.owner, Format.JSONL))


def test_markdown_says_which_revision_it_shows(world, create):
    memory = create(title="Shown", tags=["one"], paths=["src/**"])

    text = export(world.store, world.owner, Format.MARKDOWN)

    assert "## Shown" in text
    assert f"`{memory.memory_id}` revision 2" in text
    assert "paths: `src/**`" in text


def test_one_project_can_be_asked_for(world, project, create):
    create(title="Inside")
    other = world.project("other")

    text = export(world.store, world.owner, Format.JSONL, project=other.project_id)

    assert ids_of(text) == set()
    assert [line["id"] for line in lines_of(text) if line["record"] == "project"] == [
        other.project_id
    ]
    whole = export(world.store, world.owner, Format.JSONL)
    assert {line["id"] for line in lines_of(whole) if line["record"] == "project"} == {
        project.project_id,
        other.project_id,
    }
