"""The authorisation matrix through HTTP: the same cells, and administration.

What a caller may not see is answered as what is not there, byte for byte.
"""

import subprocess
import sys
from dataclasses import replace

import pytest

from codeflow_memory.services import access as accesses

from .matrix import administration, rules, tools, wire
from .matrix.administration import ADMINISTRATION, Act
from .matrix.rules import Cell, expected
from .matrix.sampling import ABSENT, ABSENT_MANIFEST, ABSENT_PROJECT, LONG, sampled
from .matrix.wire import SPOKEN

FEWEST_SPOKEN = 600
FEWEST_TOLD = 150
SECONDS = 60
OUT = administration.GROUPS["out"].split()


def spoken(script) -> list[Cell]:
    """The cells that HTTP is asked: those that change something are more of them."""
    cells = [cell for cell in script.cells() if cell.operation in SPOKEN]
    return sampled(cells, sparse=6 * script.thin)


def test_the_product_answers_http_as_the_tables_say(script, stage, client):
    cells, found = spoken(script), []
    assert len(cells) >= FEWEST_SPOKEN // script.thin
    for cell in cells:
        entry = script.entry(cell)
        got = client.send(script.token(cell), wire.request(cell, entry, script.places))
        if wire.answer(cell, entry, got) != expected(cell):
            found.append(f"{cell}: {got.status} {got.text}, expected {expected(cell)}")
        stage.put_back()

    assert found == []


def test_the_tools_answer_as_the_tables_say(script, stage, client):
    cells, found, asked = (
        [cell for cell in spoken(script) if cell.operation in tools.OFFERED],
        [],
        0,
    )
    for cell in cells:
        entry = script.entry(cell)
        for name, request in tools.requests(cell, entry, script.places):
            asked += 1
            got = client.send(script.token(cell), request)
            if tools.answer(cell, entry, got) != tools.wanted(cell, name):
                told = f"{got.status} {got.text}, expected {tools.wanted(cell, name)}"
                found.append(f"{name} for {cell}: {told}")
            stage.put_back()

    assert asked >= FEWEST_TOLD // script.thin
    assert found == []


def test_what_is_out_of_sight_is_byte_for_byte_what_is_absent(script, client):
    cells = [cell for cell in spoken(script) if rules.hidden(cell)]

    assert len(cells) > 100
    for cell in cells:
        entry, token = script.entry(cell), script.token(cell)
        absent = replace(entry, memory_id=ABSENT, manifest=ABSENT_MANIFEST)
        away = rules.SPACE.answer(cell) == "missing"
        places = script.places | ({"project": ABSENT_PROJECT} if away else {})
        hidden = client.send(token, wire.request(cell, entry, script.places))
        missing = client.send(token, wire.request(cell, absent, places))
        known = (entry.memory_id, entry.manifest, script.project)
        lacking = (ABSENT, ABSENT_MANIFEST, ABSENT_PROJECT)
        assert hidden.shape(*known) == missing.shape(*lacking), cell


def test_one_most_specific_row_decides_every_act_of_administration():
    assert {ADMINISTRATION.row(act).answer for act in administration.acts()} == {
        "unauthenticated", "forbidden", "missing", "done",
    }  # fmt: skip


@pytest.mark.parametrize("operation", administration.REQUESTS)
def test_administration_answers_as_its_table_says(script, stage, client, operation):
    found = []
    for caller, named in administration.TOKENS.items():
        act = Act(operation, caller)
        asked = administration.request(act, script.places)
        got = client.send(script.tokens[named], asked)
        answer = got.refusal or "done"
        wanted = ADMINISTRATION.answer(act)
        if answer != wanted:
            found.append(f"{act}: {got.status} {got.text}, expected {wanted}")
        if caller == "foreign" or answer != "done":
            assert "local" not in stage.written(), act
        stage.put_back()

    assert found == []


def test_what_administration_does_not_show_is_byte_for_byte_what_is_absent(script, client):
    there, absent = script.places, {name: f"absent-{name}" for name in script.places}
    acts = [act for act in administration.acts() if ADMINISTRATION.answer(act) == "missing"]

    for act in acts:
        token = script.tokens[administration.TOKENS[act.caller]]
        sees_one = act.operation == "repository.merge" and act.caller not in OUT
        places = there | {"other": absent["other"]} if sees_one else absent
        hidden = client.send(token, administration.request(act, there))
        missing = client.send(token, administration.request(act, places))
        assert hidden.shape(*there.values()) == missing.shape(*places.values()), act


def test_a_product_that_asks_for_no_role_is_found_through_http(script, stage, client, monkeypatch):
    monkeypatch.setattr(accesses, "require", lambda *_: None)

    answers = {}
    for caller, named in administration.TOKENS.items():
        asked = administration.request(Act("principal.create", caller), script.places)
        answers[caller] = client.send(script.tokens[named], asked).refusal or "done"
        stage.put_back()

    wrong = {
        c for c, a in answers.items() if a != ADMINISTRATION.answer(Act("principal.create", c))
    }
    assert {"reader", "maintainer", "repo-owner", "elsewhere", "operator"} <= wrong


# Commands that have no route: the record of changes, and the tenants of the home.

COMMANDS = {
    "audit verify": (("audit", "verify"), {"owner", "owner-agent", "foreign"}),
    "tenant list": (("tenant", "list"), {"owner", "owner-agent"}),
    "tenant create": (("tenant", "create", "--dry-run", "maple"), {"owner", "owner-agent"}),
}
"""01 §3, row 6: owner; the record is the caller's own tenant's, tenants are for one of `local`."""

ASKED = ["owner", "maintainer", "operator", "repo-owner", "foreign", "revoked"]
"""Who is asked where not all of them are: each is a process."""


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_of_administration_are_the_owners(script, stage, name):
    command, allowed = COMMANDS[name]
    everybody = sorted(administration.TOKENS.keys() - {"nobody", "expired"})
    stage.tenants.close()

    for caller in everybody if LONG else ASKED:
        token = script.tokens[administration.TOKENS[caller]]
        done = subprocess.run(  # noqa: S603 - this program, no shell
            [sys.executable, "-I", "-m", "codeflow_memory", *command],
            env={
                "CODEFLOW_HOME": str(stage.home.path),
                "CODEFLOW_DATABASE": stage.home.server or "",
                "CODEFLOW_TOKEN": token,
            },
            cwd=stage.home.path.parent,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

        assert done.returncode == (0 if caller in allowed else 3), (caller, done.stderr)
        if caller not in allowed:
            code = "unauthenticated" if caller == "revoked" else "forbidden"
            assert done.stderr.rstrip().endswith(f"[{code}]"), done.stderr
            assert done.stdout == ""
    assert stage.tenants.slugs() == ["local", "birch"]
