"""The graph's rows: rewritten with their memory, and gone with the last that names them."""

import pytest

from codeflow_memory.domain.access import Scope
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.provenance import Edge
from codeflow_memory.storage import graph, projects, scopes


def put(tx, scope, memory_id, *files, revision=1):
    edges = [Edge(scope.scope_id, memory_id, revision, "applies_to", "file", f) for f in files]
    graph.replace(tx, scope, memory_id, edges)
    return edges


def find(tx, scope, *memory_ids, limit=100):
    return graph.find(tx, scope.repository_id, [scope.scope_id], memory_ids, limit)


def suppliers(tx, scope, *files, limit=100, scope_ids=None):
    entities = [("file", file) for file in files]
    ids = [scope.scope_id] if scope_ids is None else scope_ids
    return graph.suppliers(tx, scope.repository_id, scope.project_id, ids, entities, limit)


def entities(tx):
    return sorted(row[0] for row in tx.rows("SELECT key FROM entities"))


def test_edges_are_rewritten_with_their_memory(tx, scope):
    put(tx, scope, "mem_1", "old.py", "same.py")
    edges = put(tx, scope, "mem_1", "new.py", "same.py", revision=2)

    assert find(tx, scope, "mem_1") == edges
    assert entities(tx) == ["new.py", "same.py"]


def test_first_edges_are_those_that_rewriting_nothing_gives(tx, scope):
    put(tx, scope, "mem_1", "shared.py", "one.py")
    edges = [
        Edge(scope.scope_id, "mem_2", 1, "applies_to", "file", "two.py"),
        Edge(scope.scope_id, "mem_2", 1, "cites", "file", "shared.py"),
    ]

    graph.add(tx, scope, reversed(edges))

    assert find(tx, scope, "mem_2") == edges
    assert entities(tx) == ["one.py", "shared.py", "two.py"]
    graph.replace(tx, scope, "mem_2", edges)
    assert find(tx, scope, "mem_2") == edges


def test_an_entity_stays_while_any_memory_of_the_project_names_it(tx, scope):
    private = scopes.ensure(tx, "rep_1", "prj_1", "private:prn_1")
    put(tx, scope, "mem_1", "shared.py")
    put(tx, private, "mem_2", "shared.py")

    put(tx, scope, "mem_1")
    assert entities(tx) == ["shared.py"]
    put(tx, private, "mem_2")

    assert entities(tx) == []


def test_equal_names_of_two_projects_are_two_entities(tx, scope):
    projects.insert(tx, Project("rep_1", "prj_2", "docs", "docs", None, 1))
    other = scopes.ensure(tx, "rep_1", "prj_2", "project")
    put(tx, scope, "mem_1", "same.py")
    put(tx, other, "mem_2", "same.py")

    assert [e.memory_id for e in suppliers(tx, scope, "same.py")] == ["mem_1"]
    assert entities(tx) == ["same.py", "same.py"]


def test_one_memory_may_come_from_two_revisions_of_another(tx, scope):
    edges = [
        Edge(scope.scope_id, "mem_1", 1, "derived_from", "memory", "mem_0", revision)
        for revision in (1, 2)
    ]

    graph.replace(tx, scope, "mem_1", edges)

    assert find(tx, scope, "mem_1") == edges


def test_nothing_of_another_scope_or_repository_is_found(tx, scope):
    put(tx, scope, "mem_1", "a.py")

    assert suppliers(tx, scope, "a.py", scope_ids=[scope.scope_id + 1]) == []
    assert graph.find(tx, "rep_2", [scope.scope_id], ["mem_1"], 9) == []
    assert graph.find(tx, "rep_1", [scope.scope_id + 1], ["mem_1"], 9) == []
    stranger = Scope(scope.scope_id, "rep_2", "prj_1", "project")
    assert suppliers(tx, stranger, "a.py") == []


def test_limits_cut_in_a_fixed_order(tx, scope):
    for number in range(5):
        put(tx, scope, f"mem_{number}", "a.py", "b.py")

    assert [e.memory_id for e in suppliers(tx, scope, "a.py", "b.py", limit=3)] == [
        "mem_0",
        "mem_0",
        "mem_1",
    ]
    assert len(find(tx, scope, "mem_0", "mem_1", limit=3)) == 3


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda a: graph.find(a, "rep_1", [1], ["mem_1"], 9), "(scope_id=? AND memory_id=?)"),
        (
            lambda a: graph.suppliers(a, "rep_1", "prj_1", [1], [("file", "a")], 9),
            "relationships_to",
        ),
        (
            lambda a: graph.of_accepted(a, "rep_1", 1),
            "SEARCH m USING COVERING INDEX memories_listed (scope_id=? AND status=?)",
        ),
    ],
)
def test_every_statement_goes_by_an_index(asked, goes_by, ask, index):
    ask(asked)

    assert goes_by(asked.statements[0], index)
