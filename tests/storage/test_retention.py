"""How the statements of retention run: each reads a repository through once, by its keys."""

import re

import pytest

from codeflow_memory.storage import retention


@pytest.mark.parametrize(
    ("ask", "keys"),
    [
        (lambda tx: retention.unchanged_since(tx, "rep_1", 1), ["repository_id"]),
        (
            lambda tx: retention.derivations(tx, "rep_1"),
            ["repository_id", "repository_id, project_id, kind", "scope_id, target"],
        ),
        (
            lambda tx: retention.used_after(tx, "rep_1", {"mem_1"}, 1),
            ["repository_id, manifest_id", "repository_id, manifest_id", "repository_id"],
        ),
    ],
)
def test_a_repository_is_read_through_by_its_keys(asked, plan, engine_name, ask, keys):
    ask(asked)

    steps = [step for sql, given in asked.statements for step in plan(sql, given).splitlines()]
    searched = [step for step in steps if not step.startswith("USE TEMP B-TREE")]
    found = [", ".join(re.findall(r"(\w+)[=>]\?", step)) for step in searched]
    # PostgreSQL chooses among the keys by what the tables hold: next to nothing here.
    assert found == keys if engine_name == "sqlite" else all(found)
