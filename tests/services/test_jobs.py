"""Recurring work of a tenant is done once a period, by whichever worker takes it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeflow_memory.domain.errors import BusyError
from codeflow_memory.domain.times import HOUR, SECOND
from codeflow_memory.services import jobs
from codeflow_memory.services.jobs import LEASE
from codeflow_memory.storage import jobs as rows


def row(world):
    with world.store.engine.read() as tx:
        return tx.row("SELECT status, attempts, error_code, leased_until FROM jobs")


def done(world, fence):
    with jobs.held(world.store, "expiry", fence):
        pass


def test_work_is_taken_once_a_period_however_many_ask(world):
    first = jobs.take(world.store, "expiry", HOUR)
    done(world, first.fence)

    assert jobs.take(world.store, "expiry", HOUR) == jobs.Turn(None, HOUR)
    world.clock.at += HOUR - 1
    assert jobs.take(world.store, "expiry", HOUR) == jobs.Turn(None, 1)
    world.clock.at += 1
    assert jobs.take(world.store, "expiry", HOUR).fence == first.fence + 1


def test_of_many_at_once_one_gets_it(world):
    together = threading.Barrier(8)

    def take(_):
        together.wait()
        return jobs.take(world.store, "expiry", HOUR).fence

    for _ in range(3):
        with ThreadPoolExecutor(8) as threads:
            fences = [fence for fence in threads.map(take, range(8)) if fence is not None]
        assert len(fences) == 1
        world.clock.at += HOUR + LEASE


def test_kinds_of_work_do_not_wait_for_each_other(world):
    assert jobs.take(world.store, "expiry", HOUR).fence == 1
    assert jobs.take(world.store, "terms", HOUR).fence == 1


def test_work_of_who_was_killed_is_taken_over_when_its_lease_is_over(world):
    killed = jobs.take(world.store, "expiry", HOUR)

    assert jobs.take(world.store, "expiry", HOUR) == jobs.Turn(None, LEASE)
    world.clock.at += LEASE
    taken = jobs.take(world.store, "expiry", HOUR)

    assert taken.fence == killed.fence + 1
    # It was not killed, only slow: what it says is not heard any more.
    done(world, killed.fence)
    assert row(world)[:2] == ("leased", taken.fence)


def test_who_lost_its_work_to_another_does_not_hold_that_one_s(world):
    slow = jobs.take(world.store, "expiry", HOUR)
    world.clock.at += LEASE
    taken = jobs.take(world.store, "expiry", HOUR)
    before = row(world)

    with world.store.engine.write() as tx:
        assert not rows.keep(tx, "expiry", slow.fence, world.clock.at + 2 * LEASE)
    assert row(world) == before
    with world.store.engine.write() as tx:
        assert rows.keep(tx, "expiry", taken.fence, world.clock.at + 2 * LEASE)
    assert row(world)[3] == world.clock.at + 2 * LEASE


def test_who_is_at_work_keeps_it_however_long_it_takes(world, monkeypatch):
    monkeypatch.setattr(jobs, "RENEWAL_SECONDS", 0.01)
    turn = jobs.take(world.store, "expiry", HOUR)
    renewed = threading.Event()
    kept = rows.keep

    def keep(*arguments):
        found = kept(*arguments)
        renewed.set()
        return found

    monkeypatch.setattr(rows, "keep", keep)
    with jobs.held(world.store, "expiry", turn.fence):
        for _ in range(3):
            world.clock.at += LEASE - SECOND
            renewed.clear()
            assert renewed.wait(10)
            assert jobs.take(world.store, "expiry", HOUR).fence is None

    assert row(world)[:2] == ("succeeded", turn.fence)


def test_work_that_failed_says_how_and_is_due_again_in_its_time(world):
    turn = jobs.take(world.store, "expiry", HOUR)

    with pytest.raises(BusyError), jobs.held(world.store, "expiry", turn.fence):
        raise BusyError

    assert row(world) == ("failed", 1, "busy", None)
    assert jobs.take(world.store, "expiry", HOUR) == jobs.Turn(None, HOUR)


def test_asking_for_what_is_not_due_writes_nothing(world):
    done(world, jobs.take(world.store, "expiry", HOUR).fence)
    world.clock.at += 5
    with world.store.engine.read() as tx:
        before = tx.value("SELECT latest_at FROM store")

    jobs.take(world.store, "expiry", HOUR)

    with world.store.engine.read() as tx:
        assert tx.value("SELECT latest_at FROM store") == before


def test_recurring_work_waits_for_nobody_and_is_no_backlog(world):
    turn = jobs.take(world.store, "expiry", HOUR)
    done(world, turn.fence)

    with world.store.engine.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM jobs WHERE status IN ('queued', 'leased')") == 0


def test_a_worker_whose_clock_is_behind_takes_nothing_twice(world):
    done(world, jobs.take(world.store, "expiry", HOUR).fence)
    world.clock.at -= 10 * HOUR

    assert jobs.take(world.store, "expiry", HOUR).fence is None
