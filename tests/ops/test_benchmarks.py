"""The benchmarks run, in small, and tell of both engines; their figures are judged by people."""

import json
import re
import subprocess
import sys

import pytest

from codeflow_memory.domain.limits import PROJECT_ENTRIES

from .test_runbooks import ROOT

SECONDS = 300
SMALL = {
    "latency.py": ("--sizes", "20", "--repeats", "2"),
    "scale.py": ("--counts", "1", "2", "--entries", "5", "--repeats", "2"),
    "tenants.py": ("--counts", "1", "2", "--repeats", "2"),
}
LARGEST = {"latency.py": PROJECT_ENTRIES, "scale.py": 50, "tenants.py": 1_000}
"""How far each goes unless it is told otherwise: entries, projects, tenants."""

_GROWTH = re.compile(r'"--(?:sizes|counts)".*default=\[(.*)\]')


def named(results: object) -> set[str]:
    """Name the engines of which there are figures."""
    if not isinstance(results, dict):
        return set()
    words = {word for key in results for word in key.split()}
    found = {engine for engine in ("sqlite", "postgresql") if engine in words}
    return found.union(*map(named, results.values()))


@pytest.mark.slow
@pytest.mark.parametrize("program", SMALL)
def test_each_program_tells_of_both_engines(program):
    done = subprocess.run(  # noqa: S603 - this repository's own program
        [sys.executable, ROOT / "benchmarks" / program, *SMALL[program]],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["benchmark"] == program.removesuffix(".py")
    assert named(told["results"]) == {"sqlite", "postgresql"}


@pytest.mark.parametrize("program", LARGEST)
def test_each_program_goes_to_the_limits(program):
    (steps,) = _GROWTH.findall((ROOT / "benchmarks" / program).read_text("utf-8"))

    sizes = [int(step.replace("_", "")) for step in steps.split(",")]
    assert sizes == sorted(sizes)
    assert sizes[-1] == LARGEST[program]
    assert len(sizes) >= 3
