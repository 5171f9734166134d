"""Readiness: whether what carries the tenants' databases answers.

Anybody may ask, without a token. So there is one question at a time, whoever wants to know, and the
answer is kept for a while: a thousand askers cost no more than one.
"""

import asyncio
import threading
import time
from contextvars import Context
from typing import Final

from codeflow_memory.domain import deadline
from codeflow_memory.domain.deadline import Deadline
from codeflow_memory.domain.errors import CodeflowError, DeadlineExceededError, UnreachableError
from codeflow_memory.http.caller import Stores
from codeflow_memory.http.pool import Pool

SECONDS: Final = 2.0
"""How long the databases may take to answer; the grace of the pool comes on top."""

KEPT_SECONDS: Final = 1.0


class Readiness:
    """Asks for a sign of life.

    Args:
        pool: Where the question waits: without a free thread nothing is ready either.
        stores: The tenants.
    """

    def __init__(self, pool: Pool, stores: Stores) -> None:
        self._pool = pool
        self._stores = stores
        self._task: asyncio.Task[None] | None = None
        self._refusal: CodeflowError | None = None
        self._until = 0.0
        self._asking = threading.Lock()

    async def check(self) -> None:
        """Return where work can be done.

        Raises:
            BusyError: Too much is waiting, or the databases do not answer.
            StoreUnusableError: They refuse us.
        """
        if self._task is None and time.monotonic() >= self._until:
            # In an empty context: the deadline of this request is not that of who else waits.
            self._task = asyncio.create_task(self._run(), context=Context())
        if self._task is not None:
            await asyncio.shield(self._task)
        if self._refusal is not None:
            raise self._refusal.with_traceback(None)

    async def _run(self) -> None:
        deadline.current.set(Deadline(time.monotonic() + SECONDS))
        try:
            await self._pool.run(self._ask)
            self._refusal = None
        except DeadlineExceededError:
            self._refusal = UnreachableError()
        except CodeflowError as error:
            self._refusal = error
        finally:
            self._until = time.monotonic() + KEPT_SECONDS
            self._task = None

    def _ask(self) -> None:
        # A question that nobody answers keeps its thread: it must not take one thread each time.
        if not self._asking.acquire(blocking=False):
            raise UnreachableError
        try:
            self._stores.ask()
        finally:
            self._asking.release()
