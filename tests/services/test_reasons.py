"""What callers say of why: where it is kept."""

import pytest

from codeflow_memory.services import feedback, memories, outcomes
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import feedback as judgements

NEW = Operation(None, ())
WHY = "it says what the code no longer does"


def reached(world, cast, project, action):
    """A memory at which *action* is legal."""
    if action in {"approve", "reject"}:
        return world.propose(cast.ann, project)
    memory = world.accept(cast.ann, cast.bob, project)
    return world.decide(cast.bob, memory, "archive") if action == "restore" else memory


@pytest.mark.parametrize("reason", ["wrong", WHY])
@pytest.mark.parametrize(
    "action", ["approve", "reject", "supersede", "outdate", "archive", "restore", "return"]
)
def test_the_reason_of_a_decision_is_kept_with_its_revision(world, cast, project, action, reason):
    memory = reached(world, cast, project, action)
    successor = world.accept(cast.ann, cast.bob, project)
    facts = {"superseded_by": successor.memory_id} if action == "supersede" else {}

    decided = world.decide(cast.bob, memory, action, reason=reason, **facts)

    *earlier, last = memories.history(world.store, cast.bob, memory.memory_id)
    assert (last.revision, last.action, last.reason) == (decided.revision, action, reason)
    assert {revision.reason for revision in earlier} == {None}


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_the_comment_of_a_decision_is_kept_with_it(world, cast, project, action):
    memory = world.propose(cast.ann, project)

    world.decide(cast.bob, memory, action, comment=WHY)

    assert [a.comment for a in world.get(cast.bob, memory).approvals] == [WHY]


@pytest.mark.parametrize("way", ["memory", "selection"])
def test_the_note_of_a_judgement_is_kept_with_it(world, cast, project, way):
    memory = world.accept(cast.ann, cast.bob, project, body="a walrus")
    selection = world.select(cast.ann, project, query="walrus").manifest.manifest_id
    judgement = Judgement(helpful=False, note=WHY, selection_id=selection)

    if way == "memory":
        feedback.give(world.store, cast.ann, memory.memory_id, judgement, NEW)
    else:
        where = (project.project_id, None, memory.memory_id)
        outcomes.give(world.store, cast.ann, *where, judgement, NEW)

    with world.store.engine.read() as tx:
        (kept,) = judgements.find_all(tx, memory.repository_id, memory.memory_id)
    assert (kept.note, kept.selection_id, kept.helpful) == (WHY, selection, False)


def test_a_reason_names_no_secret_of_the_author_to_who_reads_the_proposal(world, cast, project):
    text = {"title": "Deploy billing", "body": "Drain the blue cluster of billing before a deploy."}
    world.propose(cast.ann, project, **text, sensitivity="secret")

    near = world.propose(cast.ann, project, **(text | {"body": text["body"] + " Always."}))

    assert near.review_reason is None
