"""Whatever call fails, the store shows the state before or after, and a retry converges."""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from apsw import SQLITE_FULL as FULL

from codeflow_memory.domain.errors import CodeflowError, StorageFullError

from .power.drill import Rung, ladder, laid_out, state_of
from .power.faulty import CHANGING, IOERR, Call, Fault, Meter, failing
from .power.workloads import WITHOUT_RECEIPTS, WORKLOADS

LONG = os.environ.get("CODEFLOW_LONG") == "1"
RUNS_PER_STEP = 300 if LONG else 100
"""Runs with a fault that every step of a workload adds at least, on average."""

SAMPLES = 10_000 if LONG else 4
"""How many calls of a kind that comes in long, like rows fail, one after the other."""

LONG_ROWS = frozenset({Call.READ, Call.WRITE, Call.ACCESS, Call.FILE_SIZE, Call.LOCK, Call.OPEN})


def faults(rung: Rung, folder: Path, number: int) -> Iterator[Fault]:
    """Yield the faults of one rung; *number* shifts where the strides begin."""
    meter = Meter()
    with laid_out(rung.files, folder / "counted") as home, failing(meter) as vfs:
        rung.step.run(home, vfs)
    for call in Call:
        count = meter.counts[call]
        stride = max(1, count // SAMPLES) if call in LONG_ROWS else 1
        # After a call that changes nothing there is nothing that could stand.
        moments = (False, True) if call in CHANGING else (False,)
        for index in range(1 + number % stride, count + 1, stride):
            for code, after, sticky in product((IOERR[call], FULL), moments, (False, True)):
                yield Fault(call, index, code, after=after, sticky=sticky)


def outcome(rung: Rung, home: Path, meter: Meter, fault: Fault) -> str | None:
    """Run a step under *fault* and again without; return what was wrong, if anything."""
    refusal: CodeflowError | None = None
    with failing(meter) as vfs:
        try:
            rung.step.run(home, vfs)
        except CodeflowError as error:
            refusal = error
    state = state_of(home)
    if state not in rung.states:
        return "a state that is neither before nor after"
    if refusal is None and state != rung.after:
        return "success was answered, but the change is not there"
    if refusal is not None and state == rung.after and not fault.sticky and rung.workload.answers:
        return f"{refusal.code} was answered, but the change stands"
    if refusal is not None and not _fits(refusal, fault):
        return f"a full disk was answered with {refusal.code}"
    rung.step.run(home, None)
    if state_of(home) not in rung.rest:
        return f"the retry after {refusal and refusal.code} did not converge"
    rung.workload.standing(home)
    return None


def _fits(refusal: CodeflowError, fault: Fault) -> bool:
    full = fault.code == FULL and fault.call in {Call.WRITE, Call.TRUNCATE}
    return not full or isinstance(refusal, StorageFullError)


def test_an_operation_without_a_receipt_is_found(place):
    """Control: the commit stands although the removal of the journal reported an error."""
    (rung,) = ladder(WITHOUT_RECEIPTS, place)

    _, failures = swept(rung, place, 0)

    assert any("xDelete" in failure and "did not converge" in failure for failure in failures)


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_a_failing_call_leaves_before_or_after_and_a_retry_converges(workload, rungs_of, place):
    runs, failures = 0, []
    for number, rung in enumerate(rungs_of(workload)):
        more, wrong = swept(rung, place / str(number), number)
        runs += more
        failures += wrong

    print(f"I/O faults, {workload}: {runs} runs, {len(failures)} failures")  # noqa: T201 - a count
    assert failures == [], "\n".join(failures[:20])
    assert runs >= RUNS_PER_STEP * len(workload.steps)


def swept(rung: Rung, folder: Path, number: int) -> tuple[int, list[str]]:
    """Run *rung* under each of its faults; return how many hit, and what was wrong."""
    runs, failures = 0, []
    for fault in faults(rung, folder, number):
        meter = Meter(fault)
        with laid_out(rung.files, folder / str(fault)) as home:
            wrong = outcome(rung, home, meter, fault)
        runs += meter.fired > 0
        if wrong is not None:
            failures.append(f"{rung}: {fault}: {wrong}")
    return runs, failures
