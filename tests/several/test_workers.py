"""Workers as processes of their own: what is due is done once, and of who was killed by another."""

import os
import signal
import threading
import time
import traceback
from itertools import pairwise

import pytest

from codeflow_memory.domain.times import SECOND
from codeflow_memory.services import jobs
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import migrate
from codeflow_memory.worker import Job, Worker

from .clients import until

WORKERS = 4
PERIOD = 0.3
WORK_SECONDS = 0.05

NOTES = """
CREATE TABLE notes (
    n INTEGER PRIMARY KEY, worker INTEGER NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL
) STRICT;
"""


def now():
    return time.time_ns() // 1_000


@pytest.fixture
def clock():
    """The workers' own: the time of a store never steps back behind one that was ahead."""
    return now


@pytest.fixture
def noted(world):
    """Read what workers noted of their runs: who, from when, until when; in order."""
    world.store.engine.script(NOTES, user_version=migrate.newest_version())

    def runs():
        with world.store.engine.read() as tx:
            return tx.rows("SELECT worker, began, ended FROM notes ORDER BY n")

    return runs


def note(number):
    """Return work that takes a while and then says so."""

    def work(store):
        began = now()
        threading.Event().wait(WORK_SECONDS)
        with store.engine.write() as tx:
            tx.execute(
                "INSERT INTO notes (n, worker, began, ended)"
                " SELECT COUNT(*) + 1, :worker, :began, :ended FROM notes",
                {"worker": number, "began": began, "ended": now()},
            )

    return work


def hang(_):
    threading.Event().wait(600)


@pytest.fixture
def processes(world, new_home):
    """Start a process that works as a server's worker does; each has a home of its own."""
    homes = [new_home() for _ in range(WORKERS)]
    children = []

    def start(number, work, *, once=True):
        # No connection may be open in both.
        world.tenants.close()
        child = os.fork()
        if child == 0:
            _be_a_worker(homes[number], {"noting": Job(PERIOD, work, once=once)})
        children.append(child)
        return child

    yield start
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _be_a_worker(home, known):
    try:
        with home.serving():
            tenants = Tenants(home, now=now)
            worker = Worker(tenants, time.monotonic, (), known)
            while True:
                worker.run_due()
                threading.Event().wait(0.01)
    # The child must not return into the parent's test run, whatever happened in it.
    except BaseException:  # noqa: BLE001 - as said
        traceback.print_exc()
    finally:
        os._exit(1)


def test_four_workers_do_each_run_once_and_never_two_at_a_time(noted, processes):
    for number in range(WORKERS):
        processes(number, note(number))

    until(60, lambda: len(noted()) > 20)

    runs = noted()
    begun = [began for _, began, _ in runs]
    assert all(before <= after for (_, _, before), (_, after, _) in pairwise(runs))
    # A period is counted from when work was taken, which is a moment before it begins.
    slack = 0.1 * SECOND
    assert all(later - earlier > PERIOD * SECOND - slack for earlier, later in pairwise(begun))
    print(f"{len(runs)} runs by {len({worker for worker, *_ in runs})} workers")  # noqa: T201 - counts


def test_without_turns_each_worker_does_every_run(noted, processes):
    """Control: the same four, each for itself."""
    for number in range(WORKERS):
        processes(number, note(number), once=False)

    until(60, lambda: len(noted()) > 20)

    begun = [began for _, began, _ in noted()]
    assert any(later - earlier < PERIOD * SECOND / 2 for earlier, later in pairwise(begun))


def test_what_a_killed_worker_was_at_is_taken_over_when_its_lease_is_over(
    world, noted, processes, monkeypatch
):
    """With a lease of two seconds, where the product has sixty."""
    monkeypatch.setattr(jobs, "LEASE", 2 * SECOND)
    monkeypatch.setattr(jobs, "RENEWAL_SECONDS", 0.5)
    doomed = processes(0, hang)
    until(30, lambda: status(world) == "leased")
    leased = time.monotonic()
    processes(1, note(1))
    # It keeps what it is at, longer than a lease.
    until(30, lambda: time.monotonic() - leased > 3)
    assert noted() == []

    os.kill(doomed, signal.SIGKILL)

    took = until(10, lambda: noted() != [])
    assert noted()[0][0] == 1
    assert took < 4
    print(f"taken over after {took:.2f} s")  # noqa: T201 - a figure


def status(world):
    with world.store.engine.read() as tx:
        return tx.value("SELECT status FROM jobs")
