"""Citations: found by memory, never by walking the repository's."""

from codeflow_memory.storage import citations


class Asked:
    """Stands where a transaction does and keeps what it is asked."""

    def __init__(self):
        self.statements = []

    def rows(self, sql, parameters):
        self.statements.append((sql, parameters))
        return []

    def execute(self, sql, parameters):
        self.statements.append((sql, parameters))
        return 0


def test_every_statement_goes_by_an_index_to_the_memories_that_are_named(plan):
    asked = Asked()
    citations.find_all(asked, "rep_1", ["mem_1", "mem_2"])
    citations.retain(asked, "rep_1", "mem_1", ["file:a"])
    citations.delete(asked, "rep_1", "mem_1")

    plans = [plan(*statement) for statement in asked.statements]

    assert len(plans) == 4
    assert all("(repository_id=? AND memory_id=?)" in steps for steps in plans)


def test_suspects_are_found_without_the_citations_that_hold(plan):
    asked = Asked()
    citations.suspects(asked, "rep_1")

    assert "citations_suspect" in plan(*asked.statements[0])
