"""A process killed at any state-changing step leaves the old state or the new, never a mix."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from .power.drill import Rung, ladder, laid_out, state_of
from .power.killing import killed
from .power.workloads import IN_TWO_TRANSACTIONS, WORKLOADS

LONG = os.environ.get("CODEFLOW_LONG") == "1"
STRIDE = 1 if LONG else 3
KILLS_PER_STEP = 30 if LONG else 10
"""Kills that every step of a workload adds at least, on average."""


def test_a_change_in_two_transactions_is_found(place):
    """Control: the state between the two must not pass for old or new."""
    (rung,) = ladder(IN_TWO_TRANSACTIONS, place)
    strict = replace(rung, states=(rung.before, rung.after))

    _, failures = swept(strict, place / "homes", first=1)

    assert any("a mix of old and new" in failure for failure in failures)


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_a_kill_at_any_step_leaves_old_or_new_and_a_rerun_converges(workload, rungs_of, place):
    kills, failures = 0, []
    for number, rung in enumerate(rungs_of(workload)):
        more, wrong = swept(rung, place / str(number), first=1 + number % STRIDE)
        kills += more
        failures += wrong

    print(f"kills, {workload}: {kills}, {len(failures)} failures")  # noqa: T201 - what it reached
    assert failures == [], "\n".join(failures[:20])
    assert kills >= KILLS_PER_STEP * len(workload.steps)


def swept(rung: Rung, folder: Path, *, first: int) -> tuple[int, list[str]]:
    """Kill a run of *rung* at every step from *first*; return how many, and what was wrong."""
    kills, failures = 0, []
    step, alive = first, True
    while alive:
        with laid_out(rung.files, folder / str(step)) as home:
            alive, wrong = killed_at(rung, home, step)
        kills += alive
        if wrong is not None:
            failures.append(f"{rung}: step {step}: {wrong}")
        step += STRIDE
    return kills, failures


def killed_at(rung: Rung, home: Path, step: int) -> tuple[bool, str | None]:
    """Kill a run of *rung* at *step*, run it again; tell whether it was killed, and what failed."""
    if not killed(home, step, lambda vfs: rung.step.run(home, vfs)):
        return False, None if state_of(home) == rung.after else "a whole run did not converge"
    state = state_of(home)
    if state not in rung.states:
        return True, "a mix of old and new"
    rung.step.run(home, None)
    if state_of(home) not in rung.rest:
        return True, "running it again did not converge"
    rung.workload.standing(home)
    return True, None
