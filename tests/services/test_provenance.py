"""Where an entry comes from: the revisions that it was derived from, and who made its own."""

import pytest

from codeflow_memory.domain.errors import ProvenanceInvalidError
from codeflow_memory.services import graph, memories
from codeflow_memory.services.graph import Filter


def pair(memory):
    return {"memory_id": memory.memory_id, "revision": memory.revision}


def test_an_edit_names_no_revision_that_is_yet_to_come(world, cast, project):
    source, own = world.accept(cast.ann, cast.bob, project), world.propose(cast.ann, project)
    coming = pair(source) | {"revision": source.revision + 1}

    with pytest.raises(ProvenanceInvalidError) as refused:
        world.revise(cast.ann, own, derived_from=[pair(source), coming])

    assert refused.value.pointer == "/derived_from/1"
    assert world.get(cast.ann, own).memory == own


@pytest.mark.parametrize("change", ["outdate", "supersede"])
def test_what_no_longer_stands_does_not_resolve_at_its_current_revision_either(
    world, cast, project, change
):
    source = world.accept(cast.ann, cast.bob, project)
    successor = world.accept(cast.ann, cast.bob, project).memory_id
    facts = {"superseded_by": successor} if change == "supersede" else {}
    source = world.decide(cast.bob, source, change, **facts)

    child = world.write(cast.ann, project, derived_from=[pair(source)])
    picture = graph.draw(world.store, cast.ann, project.project_id, None, Filter())

    assert world.get(cast.ann, source).memory == source
    assert child.resolved == (False,)
    assert [e.target_key for e in picture.edges] == [source.memory_id]
    assert (picture.resolved, set(picture.titles)) == (frozenset(), {child.memory.memory_id})


def test_the_actor_of_a_revision_is_who_made_it(world, cast, project):
    memory = world.propose(cast.ann, project)
    world.decide(cast.bea, world.revise(cast.bob, memory, title="Bob's words"), "approve")

    listed = memories.history(world.store, cast.ann, memory.memory_id)

    assert [r.actor for r in listed] == [who.principal_id for who in (cast.ann, cast.bob, cast.bea)]
    assert world.get(cast.ann, memory).memory.author == cast.ann.principal_id
