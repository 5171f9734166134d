"""The counts of the harnesses: what a run promises, and that ``ops/check --long`` raises each.

A harness asserts what it reached itself; here stands what it has to reach.
"""

import json
import os
import re
import subprocess
import sys

import pytest

from .tree import ROOT, modules, snippet

COUNTS = {
    "tests.backup.test_tampering": ("LEAST", 25_000, 250_000),
    "tests.backup.tampers": ("len(BITS)", 8, 255),
    "tests.backup.homes.test_round_trip": ("STORES", 200, 500),
    "tests.backup.homes.test_faults": ("DRAWS", 1, 60),
    "tests.cli.test_any_input": ("EXAMPLES", 250, 3_000),
    "tests.services.test_residue": ("ENTRIES", 500, 1_000),
    "tests.faults.test_disk_full": ("len(SIZES)", 25, 100),
    "tests.faults.test_io_faults": ("RUNS_PER_STEP", 100, 300),
    "tests.faults.test_kill": ("KILLS_PER_STEP", 10, 30),
    "tests.faults.test_many_writers": ("ROUNDS", 8, 100),
    "tests.faults.test_power_loss": ("FACTOR", 1, 3),
    "tests.faults.test_removal_kill": ("-STRIDE", -7, -1),
    "tests.faults.test_restoring_kill": ("KILLS", 7, 50),
    "tests.stateful.matrix.sampling": ("int(LONG)", 0, 1),
    "tests.stateful.test_api_fuzz": ("SECONDS", 240, 3_000),
    "tests.stateful.test_engines": ("len(SEEDS) * OPERATIONS", 450, 12_000),
    "tests.stateful.test_governance": ("EXAMPLES['sqlite'] + EXAMPLES['postgresql']", 20, 360),
    "tests.stateful.test_model": ("EXAMPLES['sqlite'] + EXAMPLES['postgresql']", 43, 900),
}
"""By module: an expression, and the least that it may be without ``--long`` and with it."""

ALWAYS = {
    "tests.stateful.test_matrix": ("FEWEST", 2_000),
    "tests.stateful.test_timing": ("PAIRS", 20_000),
    "tests.http.test_edge_table": ("len(ROWS)", 100),
    "tests.adapters.test_git_matrix": ("len(SPRINGS)", 40),
    "tests.backup.test_vectors": ("len(INDEX['vectors'])", 200),
}
"""The same where a run with ``--long`` does no more."""

_SWITCH = re.compile(r"""environ.*["']CODEFLOW_LONG["']""")
_SLEEP = re.compile(r"\btime\.sleep\(|\basyncio\.sleep\((?!0\))|from time import .*\bsleep\b")


def switched() -> set[str]:
    """Name the modules of tests that ask whether the run is a long one."""
    return {
        module.place.removesuffix(".py").replace("/", ".")
        for module in modules("tests")
        if _SWITCH.search(module.text) and not module.place.startswith("tests/architecture/")
    }


def values(expressions: dict[str, str], **environment: str) -> dict[str, int]:
    """Tell what each expression is in its module, in a process of its own."""
    program = (
        "import importlib, json, sys\n"
        "for name, said in json.loads(sys.argv[1]).items():\n"
        "    print(json.dumps([name, eval(said, vars(importlib.import_module(name)))]))\n"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")}
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", program, json.dumps(expressions)],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_each_module_that_asks_for_a_long_run_is_listed():
    assert switched() - COUNTS.keys() == set()
    assert len(switched()) >= 10


@pytest.mark.parametrize("long", [False, True], ids=["usual", "long"])
def test_each_harness_does_as_much_as_it_must(long):
    least = {name: row[1 + long] for name, row in COUNTS.items()}
    least |= {name: count for name, (_, count) in ALWAYS.items()}
    said = {name: row[0] for name, row in (COUNTS | ALWAYS).items()}

    found = values(said, **({"CODEFLOW_LONG": "1"} if long else {}))

    assert found.keys() == least.keys()
    assert {name: count for name, count in found.items() if count < least[name]} == {}


def test_the_gate_leaves_nothing_out_of_a_long_run_and_switches_it_on():
    gate = (ROOT / "ops" / "check").read_text("utf-8")
    (long,) = re.findall(r"^ +--long\) (.*) ;;$", gate, re.MULTILINE)

    assert long == "export CODEFLOW_LONG=1"
    assert re.findall(r"^tests=\(\)$", gate, re.MULTILINE) == ["tests=()"]


def sleepers(found) -> list[str]:
    return [module.place for module in found if _SLEEP.search(module.text)]


def test_no_test_sleeps():
    assert sleepers(modules("tests")) == []


def test_the_check_sees_a_test_that_sleeps():
    """Control."""
    for call in ("time." + "sleep(1)", "asyncio." + "sleep(0.1)"):
        assert sleepers([snippet(f"import time, asyncio\n{call}\n", "tests/snippet.py")])
    assert sleepers([snippet("asyncio.sleep(0)", "tests/snippet.py")]) == []
