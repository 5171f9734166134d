"""Scopes: made once, numbered over the tenant, with counters that move in one statement."""

import pytest

from codeflow_memory.domain.project import Project
from codeflow_memory.storage import projects, scopes


def test_a_scope_is_made_once_and_numbers_are_never_shared(tx, scope):
    projects.insert(tx, Project("rep_2", "prj_2", "core", "core", None, 1))

    again = scopes.ensure(tx, "rep_1", "prj_1", "project")
    private = scopes.ensure(tx, "rep_1", "prj_1", "private:prn_1")
    other = scopes.ensure(tx, "rep_2", "prj_2", "project")

    assert again == scope
    assert len({scope.scope_id, private.scope_id, other.scope_id}) == 3


def test_only_the_audiences_that_are_asked_for_are_found(tx, scope):
    private = scopes.ensure(tx, "rep_1", "prj_1", "private:prn_1")
    scopes.ensure(tx, "rep_1", "prj_1", "private:prn_2")

    assert scopes.of_project(tx, "rep_1", "prj_1", ["project", "private:prn_1"]) == [
        scope,
        private,
    ]
    assert scopes.of_project(tx, "rep_2", "prj_1", ["project"]) == []
    assert scopes.of_audiences(tx, ["private:prn_1"]) == [private]
    assert scopes.of_audiences(tx, []) == []


def test_counters_move_and_each_change_is_another_generation(tx, scope):
    before = scopes.generations(tx, [scope.scope_id])[scope.scope_id]

    assert scopes.count(tx, scope, live=2, accepted=1, canonical_bytes=300) == (2, 300)
    assert scopes.count(tx, scope, live=-1, accepted=0, canonical_bytes=-50) == (1, 250)
    scopes.touch(tx, "rep_1", scope.scope_id)
    scopes.touch(tx, "rep_2", scope.scope_id)

    assert scopes.counters(tx, [scope.scope_id]) == [(scope.scope_id, 1, 1, 250)]
    assert scopes.generations(tx, [scope.scope_id, 99]) == {scope.scope_id: before + 3}


def test_a_counter_never_goes_below_nothing(tx, scope, constraint_error):
    with pytest.raises(constraint_error), tx.attempt():
        scopes.count(tx, scope, live=-1, accepted=0, canonical_bytes=0)


def test_audiences_are_found_by_an_index(asked, plan):
    scopes.of_audiences(asked, ["project"])

    assert "scopes_of_audience" in plan(*asked.statements[0])
