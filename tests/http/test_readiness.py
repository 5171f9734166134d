"""``/readyz``: no where the databases are away, whoever asks and however often."""

import asyncio
import threading
import time

import pytest

from codeflow_memory.domain.errors import BusyError, StoreUnusableError, UnreachableError
from codeflow_memory.http import readiness
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.readiness import Readiness

WAIT = 10


class Stores:
    """Databases that answer when they are let, and as they are told."""

    def __init__(self) -> None:
        self.asked = 0
        self.refusal: Exception | None = None
        self.began, self.go = threading.Event(), threading.Event()
        self.go.set()

    def ask(self) -> None:
        self.asked += 1
        self.began.set()
        assert self.go.wait(WAIT)
        if self.refusal is not None:
            raise self.refusal


@pytest.fixture
def stores():
    return Stores()


@pytest.fixture
def pool(stores):
    made = Pool(threads=2, waiting=2)
    yield made
    stores.go.set()
    made.close()


@pytest.fixture
def forgetful(monkeypatch):
    """Keep no answer."""
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 0.0)


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("refusal", [UnreachableError(), StoreUnusableError("the database", "no")])
def test_what_the_databases_refuse_is_refused_until_they_answer(stores, pool, refusal):
    ready = Readiness(pool, stores)
    stores.refusal = refusal

    async def call():
        for _ in range(2):
            with pytest.raises(type(refusal)):
                await ready.check()
        stores.refusal = None
        await ready.check()

    asyncio.run(call())
    assert stores.asked == 3


@pytest.mark.usefixtures("forgetful")
def test_an_answer_that_does_not_come_is_a_refusal_and_holds_one_thread(stores, pool, monkeypatch):
    monkeypatch.setattr(readiness, "SECONDS", 0.02)
    monkeypatch.setattr("codeflow_memory.http.pool.GRACE_SECONDS", 0.0)
    ready = Readiness(pool, stores)
    stores.go.clear()

    async def call():
        for _ in range(5):
            with pytest.raises(BusyError):
                await ready.check()
        held = pool.in_use, stores.asked
        stores.go.set()
        while pool.in_use:
            await asyncio.sleep(0)
        await ready.check()
        return held

    assert asyncio.run(call()) == (1, 1)


def test_without_room_for_work_nothing_is_ready(stores):
    pool = Pool(threads=1, waiting=0)
    release = threading.Event()

    async def call():
        held = asyncio.create_task(pool.run(lambda: release.wait(WAIT)))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await Readiness(pool, stores).check()
        release.set()
        await held

    asyncio.run(call())
    pool.close()
    assert stores.asked == 0


@pytest.mark.parametrize("refusal", [None, UnreachableError()])
def test_many_askers_are_one_question(stores, pool, monkeypatch, refusal):
    monkeypatch.setattr(readiness, "KEPT_SECONDS", WAIT)
    ready = Readiness(pool, stores)
    stores.refusal = refusal

    async def call():
        together = await asyncio.gather(*(ready.check() for _ in range(50)), return_exceptions=True)
        later = await asyncio.gather(ready.check(), return_exceptions=True)
        return [*together, *later]

    assert set(asyncio.run(call())) == {refusal}
    assert stores.asked == 1


def test_who_goes_away_takes_the_answer_from_nobody(stores, pool):
    ready = Readiness(pool, stores)
    stores.go.clear()

    async def call():
        first, second = (asyncio.create_task(ready.check()) for _ in range(2))
        assert await asyncio.to_thread(stores.began.wait, WAIT)
        first.cancel()
        await asyncio.sleep(0)
        stores.go.set()
        await second
        return first.cancelled()

    assert asyncio.run(call())


def test_a_server_says_so(serve_product, shared_world, request):
    served = serve_product()
    assert served.get("/readyz").status == 200
    url = shared_world.tenants.home.server
    if url is None:
        return
    cluster = request.getfixturevalue("cluster")
    name = url.partition("?")[0].rpartition("/")[2]
    cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    cluster.sql(
        f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"  # noqa: S608 - a name of ours
    )
    try:
        status, body = until(served, lambda status: status != 200)
        assert (status, b'"code":"store-unusable"' in body) == (503, True)
        assert served.get("/healthz").status == 200
    finally:
        cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    until(served, lambda status: status == 200)


def until(served, done):
    """Ask until the answer is as wanted."""
    began = time.monotonic()
    while True:
        answer = served.get("/readyz")
        if done(answer.status):
            return answer.status, answer.body
        assert time.monotonic() - began < WAIT
