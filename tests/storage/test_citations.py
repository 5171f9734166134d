"""Citations: found by memory, never by walking the repository's."""

from codeflow_memory.storage import citations


def test_every_statement_goes_by_an_index_to_the_memories_that_are_named(asked, goes_by):
    citations.find_all(asked, "rep_1", ["mem_1", "mem_2"])
    citations.retain(asked, "rep_1", "mem_1", ["file:a"])
    citations.delete(asked, "rep_1", "mem_1")

    assert len(asked.statements) == 4
    assert all(goes_by(s, "(repository_id=? AND memory_id=?)") for s in asked.statements)


def test_suspects_are_found_without_the_citations_that_hold(asked, plan):
    citations.suspects(asked, "rep_1")

    assert "citations_suspect" in plan(*asked.statements[0])
