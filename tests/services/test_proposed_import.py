"""The import of an export as proposals: all of it passes governance."""

import json

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Content, Status, canonical_json
from codeflow_memory.services import listing, memories, proposed_import, review
from codeflow_memory.services.export import Format, export
from codeflow_memory.services.listing import Filter
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision

NEW = Operation(None, ())


@pytest.fixture
def exported(world):
    """An export with an accepted and a rejected project entry and a private one."""
    ann, bob = world.person("ann"), world.person("bob", Role.REVIEWER)
    project = world.project("source")

    def create(**fields):
        raw = {"collection": "project", "kind": "fact", "body": "B."} | fields
        return memories.create(
            world.store, ann, project.project_id, None, parse_candidate(raw), NEW
        ).memory

    def decide(memory, action):
        review.decide(world.store, bob, memory.memory_id, Decision(action), 1, NEW)

    decide(
        create(title="Good", sources=["session:s1", "url:https://example.org/a"]), Action.APPROVE
    )
    decide(create(title="Bad"), Action.REJECT)
    create(title="Own", collection="private")
    return export(world.store, ann, Format.JSONL)


def run(world, access, text, project):
    return proposed_import.run(world.store, access, text.encode(), project.project_id, None)


def listed(world, access, project, status):
    wanted = Filter(status=status)
    page = listing.find(world.store, access, project.project_id, None, wanted, None, 100)
    return tuple(view.memory for view in page.items)


def test_a_project_out_of_reach_is_not_found(world, exported):
    with pytest.raises(NotFoundError):
        proposed_import.run(world.store, world.owner, exported.encode(), "none", None)


def test_a_faulty_file_proposes_nothing(world, exported):
    target = world.project("target")

    with pytest.raises(InvalidRequestError):
        run(world, world.owner, exported + "{}\n", target)

    assert listed(world, world.owner, target, Status.PROPOSED) == ()


def test_everything_lands_in_review_with_new_ids(world, exported):
    target, cat = world.project("target"), world.person("cat")

    result = run(world, cat, exported, target)

    assert (result.proposed, result.skipped, result.refused) == (2, 1, ())
    proposed = listed(world, cat, target, Status.PROPOSED)
    assert {m.content.title for m in proposed} == {"Good", "Own"}
    assert {m.origin for m in proposed} == {"import"}
    assert {m.owner for m in proposed} == {cat.principal_id}
    assert not any(m.memory_id in exported for m in proposed)
    good = next(m for m in proposed if m.content.title == "Good")
    assert good.content.sources == ("url:https://example.org/a",)
    assert listed(world, cat, target, Status.ACCEPTED) == ()


def test_a_file_that_comes_again_proposes_nothing_new(world, exported):
    target, cat = world.project("target"), world.person("cat")
    run(world, cat, exported, target)

    result = run(world, cat, exported, target)

    assert (result.proposed, result.duplicates) == (0, 2)


def test_hidden_characters_are_shown_and_what_cannot_be_a_draft_is_refused(world, exported):
    target, cat = world.project("target"), world.person("cat")
    lines = [json.loads(line) for line in exported.splitlines()]
    first, second = (line for line in lines if line.get("status") == "accepted")
    for line, title in ((first, "Sly\u202e"), (second, "")):
        content = line["content"] | {"title": title}
        line["content"] = content
        line["content_sha256"] = hash_of(content)
        line["revisions"][-1] |= {"content": content, "content_sha256": hash_of(content)}
    text = "".join(canonical_json(line) + "\n" for line in lines)

    result = run(world, cat, text, target)

    assert [type(r.error) for r in result.refused] == [InvalidRequestError]
    assert [m.content.title for m in listed(world, cat, target, Status.PROPOSED)] == [
        "Sly\\u{202E}"
    ]


def hash_of(fields):
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return Content(**fields).sha256()
