"""How the statements of an erasure run: a repository is read by its key, never a whole tenant."""

import re

import pytest

from codeflow_memory.storage import attribution, erasures


@pytest.mark.parametrize(
    ("ask", "tables"),
    [
        (lambda tx: erasures.entries(tx, "rep_1", "prn_1"), {"memories"}),
        (lambda tx: erasures.delete_selections(tx, "rep_1", "prn_1", 9), {"manifests"}),
        (
            lambda tx: attribution.move(tx, "rep_1", ["prn_1"], "prn_2"),
            {"memories", "memory_revisions", "approvals", "feedback", "sightings", "scopes"},
        ),
    ],
)
def test_each_table_is_searched_within_its_repository(asked, plan, ask, tables):
    ask(asked)

    steps = [step for sql, given in asked.statements for step in plan(sql, given).splitlines()]
    scanned = {found[1] for step in steps if (found := re.match(r"SCAN (\w+)", step))}
    searched = {
        found[1] for step in steps if (found := re.match(r"SEARCH (\w+) .*\(repository_id=", step))
    }
    assert scanned <= {"json_each"}
    assert tables <= searched
