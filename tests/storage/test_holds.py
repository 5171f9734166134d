"""How the statements on holds run."""

from codeflow_memory.storage import holds


def test_a_deletion_asks_for_holds_by_their_key(asked, plan, goes_by):
    holds.is_held(asked, "rep_1", "prj_1", "mem_1")

    (statement,) = asked.statements
    assert plan(*statement).startswith("SEARCH legal_holds USING COVERING INDEX")
    assert goes_by(statement, "repository_id=? AND project_id=? AND memory_id=?")


def test_an_entry_is_found_by_its_key(asked, plan):
    holds.project_of(asked, "rep_1", "mem_1")

    (found,) = (plan(sql, parameters) for sql, parameters in asked.statements)
    assert "SEARCH memories USING INDEX" in found
