"""The threads that do the work of requests, so that the event loop never waits for a store.

Handlers are coroutines and hand each piece of synchronous work to `Pool.run`. That costs a third of
Litestar's ``sync_to_thread`` (measured), and gives the work a deadline that it can see.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar

from codeflow_memory.domain.deadline import Deadline, current
from codeflow_memory.domain.errors import BusyError, DeadlineExceededError

REQUEST_SECONDS: Final = 30.0

GRACE_SECONDS: Final = 1.0
"""How long stopped work may take to say how it ended: a commit that was made is told as made."""

_T = TypeVar("_T")


class Pool:
    """A few threads and a bounded queue before them.

    Args:
        threads: At least 1.
        waiting: How many pieces of work may wait for a thread.
        seconds: The deadline of work outside a request; within one the request's own holds.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float = REQUEST_SECONDS) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="work")
        self._size = self._room = threads + waiting
        self._seconds = seconds

    @property
    def in_use(self) -> int:
        """How many pieces of work run or wait."""
        return self._size - self._room

    @property
    def size(self) -> int:
        """How many may run or wait."""
        return self._size

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do *work* in a thread, in a copy of the caller's context, and return its result.

        The work finds its deadline in ``domain.deadline.current``. When it passes, when the client
        goes away or when this coroutine is cancelled, the work is told to stop; work that has not
        begun by then never does.

        Raises:
            BusyError: Too much is waiting already.
            DeadlineExceededError: The work did not end in time. It may yet have an effect.
        """
        if self._room <= 0:
            raise BusyError
        deadline = current.get()
        if deadline is None:
            deadline = Deadline(time.monotonic() + self._seconds)
        context = copy_context()
        context.run(current.set, deadline)
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_T] = loop.create_future()
        self._room -= 1
        # Not run_in_executor: the pair of chained futures that it makes costs as much again.
        task = self._executor.submit(context.run, _start, deadline, work)
        task.add_done_callback(partial(_call, loop, self._settle, outcome))
        remaining = max(0.0, deadline.at - time.monotonic())
        timer = loop.call_later(remaining, _stop, loop, deadline, outcome)
        try:
            return await outcome
        except asyncio.CancelledError:
            deadline.cancelled = True
            raise
        finally:
            timer.cancel()

    def close(self) -> None:
        """Wait for what runs and drop what waits."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _settle(self, outcome: asyncio.Future[_T], task: Future[_T]) -> None:
        self._room += 1
        if outcome.done() or task.cancelled():
            outcome.cancel()
        elif (error := task.exception()) is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(task.result())


def _start(deadline: Deadline, work: Callable[[], _T]) -> _T:
    if deadline.passed():
        raise DeadlineExceededError
    return work()


def _call(
    loop: asyncio.AbstractEventLoop,
    settle: Callable[[asyncio.Future[_T], Future[_T]], None],
    outcome: asyncio.Future[_T],
    task: Future[_T],
) -> None:
    # The loop may be closed by the time that abandoned work ends; nobody waits for it then.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(settle, outcome, task)


def _stop(loop: asyncio.AbstractEventLoop, deadline: Deadline, outcome: asyncio.Future[_T]) -> None:
    deadline.cancelled = True
    loop.call_later(GRACE_SECONDS, _give_up, outcome)


def _give_up(outcome: asyncio.Future[_T]) -> None:
    if not outcome.done():
        outcome.set_exception(DeadlineExceededError())
