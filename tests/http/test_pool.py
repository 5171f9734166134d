import asyncio
import threading
import time
from contextvars import ContextVar

import pytest

from codeflow_memory.domain.deadline import Deadline, current
from codeflow_memory.domain.errors import BusyError, DeadlineExceededError
from codeflow_memory.http.pool import Pool

WAIT = 5


class Endless:
    """Work that goes on until its deadline says stop, as a query's progress handler does."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()

    def __call__(self) -> str:
        limit = current.get()
        self.began.set()
        while not limit.passed():
            self.ended.wait(0.002)
        self.ended.set()
        return "stopped"


@pytest.fixture
def pool():
    made = Pool(threads=2, waiting=2, seconds=WAIT)
    yield made
    made.close()


def seen(event: threading.Event) -> asyncio.Future[bool]:
    return asyncio.get_running_loop().run_in_executor(None, event.wait, WAIT)


def test_work_that_raises_raises_here(pool):
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(lambda: 1 // 0))


def test_work_runs_elsewhere_with_the_callers_context_and_deadline(pool):
    setting: ContextVar[str] = ContextVar("setting")

    async def call():
        setting.set("mine")
        return await pool.run(lambda: (threading.get_ident(), setting.get(), current.get()))

    thread, value, limit = asyncio.run(call())

    assert thread != threading.get_ident()
    assert value == "mine"
    assert time.monotonic() < limit.at <= time.monotonic() + WAIT
    assert current.get() is None


def test_the_deadline_of_the_request_is_the_works_own(pool):
    limit = Deadline(time.monotonic() + WAIT)

    async def call():
        current.set(limit)
        return await pool.run(current.get)

    assert asyncio.run(call()) is limit


def test_work_past_its_deadline_is_stopped_and_refused(monkeypatch):
    monkeypatch.setattr("codeflow_memory.http.pool.GRACE_SECONDS", 0.0)
    release = threading.Event()
    pool = Pool(threads=1, waiting=0, seconds=0.02)

    with pytest.raises(DeadlineExceededError):
        asyncio.run(pool.run(lambda: release.wait(WAIT)))

    release.set()
    pool.close()


def test_work_that_ends_as_its_deadline_passes_is_told_as_it_ended():
    pool = Pool(threads=1, waiting=0, seconds=0.02)

    assert asyncio.run(pool.run(Endless())) == "stopped"
    pool.close()


def test_work_whose_deadline_passed_before_it_began_never_begins(pool):
    ran = []

    async def call():
        current.set(Deadline(time.monotonic() - 1))
        await pool.run(lambda: ran.append(1))

    with pytest.raises(DeadlineExceededError):
        asyncio.run(call())
    assert ran == []


def test_work_is_stopped_with_the_coroutine_that_waits_for_it(pool):
    work = Endless()

    async def call():
        task = asyncio.create_task(pool.run(work))
        assert await seen(work.began)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await seen(work.ended)

    assert asyncio.run(call())


def test_more_than_may_wait_is_busy_until_there_is_room_again():
    pool = Pool(threads=1, waiting=1, seconds=WAIT)
    release = threading.Event()

    async def call():
        held = [asyncio.create_task(pool.run(lambda: release.wait(WAIT))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.run(lambda: None)
        release.set()
        await asyncio.gather(*held)
        return await pool.run(lambda: "room")

    assert asyncio.run(call()) == "room"
    pool.close()


def test_the_loop_goes_on_while_work_waits(pool):
    release = threading.Event()

    async def call():
        task = asyncio.create_task(pool.run(lambda: release.wait(WAIT)))
        await asyncio.sleep(0)
        release.set()
        return await task

    assert asyncio.run(call()) is True


def test_work_that_outlives_its_loop_harms_nobody(monkeypatch):
    monkeypatch.setattr("codeflow_memory.http.pool.GRACE_SECONDS", 0.0)
    release = threading.Event()
    pool = Pool(threads=1, waiting=0, seconds=0.01)
    with pytest.raises(DeadlineExceededError):
        asyncio.run(pool.run(lambda: release.wait(WAIT)))

    release.set()
    pool.close()
