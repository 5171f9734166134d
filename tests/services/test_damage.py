"""A flipped bit in a text reaches nobody: not by id, not by search, not in a context."""

import pytest

from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import memories, search, selections
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import Drift, recompute
from codeflow_memory.services.search import Question


@pytest.fixture
def damaged(world):
    ann, project = world.person("ann"), world.project()
    content = Content(Kind.FACT, "Port", "The service listens on 8080")
    made = memories.create(
        world.store,
        ann,
        project.project_id,
        None,
        Candidate(content, Collection.PRIVATE),
        Operation(None, ()),
    )
    with world.store.engine.write() as tx:
        for table in ("memories", "memory_revisions"):
            tx.execute(f"UPDATE {table} SET content = REPLACE(content, '8080', '8081')")  # noqa: S608 - two names from here
    return ann, project, made.memory


@pytest.mark.parametrize("way", ["get", "revision", "history", "search", "select"])
def test_a_damaged_text_is_refused_wherever_it_would_leave_the_store(world, damaged, way):
    ann, project, memory = damaged
    where = (world.store, ann)
    ways = {
        "get": lambda: memories.get(*where, memory.memory_id),
        "revision": lambda: memories.at_revision(*where, memory.memory_id, 1),
        "history": lambda: memories.history(*where, memory.memory_id),
        "search": lambda: search.find(*where, project.project_id, None, Question("service port")),
        "select": lambda: selections.create(
            *where, project.project_id, None, Request(query="service port")
        ),
    }

    with pytest.raises(StoreUnusableError):
        ways[way]()


def test_an_inspection_of_everything_names_each_damaged_text(world, damaged):
    memory_id = damaged[2].memory_id

    assert recompute(world.store, sample=None) == (
        0,
        [Drift("text", memory_id), Drift("text", f"{memory_id} revision 1")],
    )


def test_an_old_revision_alone_is_inspected_too(world, damaged):
    memory = damaged[2]
    with world.store.engine.write() as tx:
        tx.execute("UPDATE memories SET content = REPLACE(content, '8081', '8080')")

    found = recompute(world.store, sample=None)[1]

    assert found == [Drift("text", f"{memory.memory_id} revision 1")]
    assert recompute(world.store)[1] == []
