"""The authorisation matrix: what each caller may do to each entry, cell by cell, as tables say it.

The tables of `matrix/table.py` were written from the specification; every cell is carried out on a
home in which an entry stands in each state, through the services and through HTTP.
"""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from codeflow_memory.domain.access import RANK, Access, Reach, Role
from codeflow_memory.domain.memory import Memory
from codeflow_memory.services import deletion, review, runs
from codeflow_memory.services import memories as memory_services
from codeflow_memory.services.runs import NewRun
from codeflow_memory.storage.fingerprint import of_tables

from .matrix import rules, table
from .matrix.acting import BATCHED, NEW, sign_in
from .matrix.playing import Stage
from .matrix.rules import Cell, UndecidedError, expected
from .matrix.sampling import ABSENT, ABSENT_MANIFEST, LONG, sampled

FEWEST = 5_000
WITHOUT_AN_ID = {*table.LOOKUPS, *table.CREATIONS}
COSTLY = {"export", "select", "verify"}
"""They read or write a whole project for each cell."""


def differences(stage: Stage, cells: list[Cell], *, in_batch: bool = False) -> list[str]:
    """Play *cells*; say which did not answer as the tables say, and which rows decided."""
    found = []
    for cell in cells:
        got = stage.play(cell, in_batch=in_batch).answer
        if got != expected(cell):
            rows = {name: row.source for name, row in rules.deciding(cell)}
            found.append(f"{cell}: {got}, expected {expected(cell)} by {rows}")
    return found


def of_operation(script, operation: str) -> list[Cell]:
    return [cell for cell in script.cells() if cell.operation == operation]


# The tables themselves.


@pytest.mark.parametrize("rows", rules.TABLES, ids=lambda t: t.name)
def test_one_most_specific_row_decides_every_cell(rows):
    axes = [
        values if axis in rows.rows[0].where else values[:1] for axis, values in rules.AXES.items()
    ]

    for values in product(*axes):
        rows.row(Cell(*values))


def test_two_rows_that_cross_decide_nothing():
    crossing = rules.parse(
        "crossing",
        "\ncaller | relation | answer | source\nreader | * | a | x\n* | author | b | x\n",
    )

    with pytest.raises(UndecidedError):
        crossing.row(Cell("get", "reader", "author", "team", "accepted"))


def test_every_row_decides_a_cell_that_is_played(script):
    used = {
        (name, id(row)) for cell in sampled(script.cells()) for name, row in rules.deciding(cell)
    }

    assert [(t.name, r) for t in rules.TABLES for r in t.rows if (t.name, id(r)) not in used] == []


def test_the_grids_hold_every_operation_and_status():
    statuses = set(table.STATES) - {"returned", "withdrawn", "lapsed", "secret"}
    moved = {*table.CHANGES, *table.READS, "stale"}

    assert rules.MOVES.keys() == set(product(moved, statuses))
    assert rules.APPEARS.keys() == set(product(table.LOOKUPS, statuses))


def played(script, operation: str) -> list[Cell]:
    """Return the cells of an operation that are carried out through the services, one by one."""
    sparse = 4 if operation in COSTLY else 1
    return sampled(of_operation(script, operation), sparse=sparse * script.thin)


def test_enough_cells_are_played_and_every_answer_occurs(script):
    cells = [cell for operation in table.OPERATIONS for cell in played(script, operation)]
    answers = Counter(expected(cell) for cell in cells)

    assert len(cells) >= FEWEST // script.thin
    assert not LONG or set(cells) == set(script.cells())
    assert set(answers) == {
        "unauthenticated", "missing", "forbidden", "illegal", "invalid", "conflict", "refused",
        "done", "same", "listed", "unlisted", "shown", "redacted", "accepted", "proposed",
    }  # fmt: skip
    assert {c.operation for c in cells} == set(table.OPERATIONS)
    assert {c.caller for c in cells} == set(table.CALLERS)


# The product.


@pytest.mark.parametrize("operation", table.OPERATIONS)
def test_each_cell_answers_as_the_tables_say(script, stage, operation):
    assert differences(stage, played(script, operation)) == []


@pytest.mark.parametrize("operation", BATCHED)
def test_a_batch_answers_each_cell_as_a_single_request_does(script, stage, operation):
    cells = sampled(of_operation(script, operation), sparse=2 * script.thin)

    assert differences(stage, cells, in_batch=True) == []


def test_what_is_out_of_sight_is_refused_in_the_words_of_what_is_absent(script, stage):
    cells = [
        cell
        for cell in sampled(script.cells(), sparse=3 * script.thin)
        if rules.hidden(cell) and cell.operation not in WITHOUT_AN_ID
    ]

    assert len(cells) > 100
    for cell in cells:
        entry = script.entry(cell)
        absent = replace(entry, memory_id=ABSENT, manifest=ABSENT_MANIFEST)
        hidden, missing = stage.play(cell).refusal, stage.perform(cell, absent).refusal
        assert type(hidden) is type(missing), cell
        assert hidden.facts == missing.facts, cell
        assert anonymous(str(hidden), entry) == anonymous(str(missing), absent), cell


def anonymous(text: str, entry) -> str:
    for known in (entry.memory_id, entry.manifest):
        text = text if known is None else text.replace(known, "ID")
    return text


def test_a_run_may_never_do_more_than_who_started_it(script, stage):
    started = 0
    for key, token in script.tokens.items():
        if key[0] not in {*table.GROUPS["seers"].split()} - {"run", "run-of-owner", "agent-run"}:
            continue
        store, maker = sign_in(stage, token)
        if key[1] == "elsewhere":
            continue
        text = runs.start(store, maker, NewRun("codex", project=script.project), NEW).text
        _, run = sign_in(stage, text)
        shop, other = script.places["shop"], script.places["other"]
        started += 1

        assert run.rank(shop) == min(maker.rank(shop), RANK[Role.REVIEWER]), key
        assert (run.rank(None), run.rank(other)) == (-1, -1), key
        assert not run.decides, key
        assert not run.operates, key
        assert run.teams == maker.teams, key
    stage.put_back()

    assert started > 20


def test_a_stage_that_was_played_on_is_put_back_as_it_was_built(script, stage):
    def rows(tenant):
        with stage.get(tenant).engine.read() as tx:
            return of_tables(tx)

    built = {tenant: rows(tenant) for tenant in ("local", "birch")}
    changing = ("create", "update", "delete", "supersede", "publish", "feedback", "select")
    for operation in changing:
        for cell in sampled(of_operation(script, operation), sparse=4):
            stage.play(cell)

    assert stage.written() == set()
    assert {tenant: rows(tenant) for tenant in built} == built


# Controls: a product with one check less must not pass.


def sees_its_scopes(self: Reach, memory: Memory, **_) -> bool:
    """Whatever the status: what a reader sees of proposals."""
    return memory.scope_id in self.scopes


def may_at_least(self: Access, role: Role, repository_id: str | None) -> bool:
    """The role that is asked for, or the one below it."""
    below = {Role.REVIEWER: Role.CONTRIBUTOR, Role.MAINTAINER: Role.REVIEWER}
    return PLAIN_MAY(self, below.get(role, role), repository_id)


PLAIN_MAY = Access.may

BROKEN = {
    "a reader sees proposals": ("get", Reach, "sees", sees_its_scopes),
    "a contributor reviews": ("approve", Access, "may", may_at_least),
    "an agent decides": ("approve", Access, "decides", True),
    "one's own proposal": ("approve", review, "_may_decide", lambda *_: False),
    "anybody deletes": ("delete", deletion, "_may_delete", lambda *_: None),
    "anybody edits": ("update", memory_services, "may_edit", lambda *_: None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_product_with_one_check_less_is_found(script, stage, monkeypatch, name):
    operation, where, check, weaker = BROKEN[name]
    cells = sampled(of_operation(script, operation), sparse=2)
    assert differences(stage, cells[::9]) == []

    monkeypatch.setattr(where, check, weaker)

    assert differences(stage, cells) != []
