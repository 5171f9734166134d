"""The door to the protocol: imports the SDK when it is first needed, and keeps its loop.

The SDK takes half a second of CPU to import, so nothing else waits for it: it is loaded in a
thread, by `preload` once a server serves, else by the first message.
"""

import asyncio
import importlib
import json
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, Protocol, cast

from codeflow_memory.domain.offers import Session
from codeflow_memory.mcp.handshake import fits, greet

_SERVER: Final = "codeflow_memory.mcp.server"
_LONGEST_GREETING: Final = 16_384


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to a client over HTTP."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Exchange(Protocol):
    """The SDK at work: what `codeflow_memory.mcp.server` makes."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep the loop of the SDK around a block."""

    async def answer(
        self, headers: tuple[tuple[bytes, bytes], ...], body: bytes, session: Session
    ) -> Answer:
        """Answer one message."""


def preload() -> None:
    """Begin to import the SDK in a thread, so that no message has to wait for it."""
    threading.Thread(target=importlib.import_module, args=(_SERVER,), daemon=True).start()


class Gateway:
    """Answers messages of the protocol; used from one event loop.

    Args:
        version: Of this program, as clients are told it.
    """

    def __init__(self, version: str) -> None:
        self._version = version
        self._loop: asyncio.Task[None] | None = None
        self._made: asyncio.Future[Exchange] | None = None

    async def answer(
        self, headers: tuple[tuple[bytes, bytes], ...], body: bytes, session: Session
    ) -> Answer:
        """Answer one message, which *headers* came with, for a caller.

        Args:
            headers: Names in lower case.
            body: JSON, read strictly before.
            session: The caller.
        """
        if self._made is None:
            self._made = asyncio.get_running_loop().create_future()
            # Its life is that of a task, because the SDK's tasks may end only where they began.
            self._loop = asyncio.create_task(self._run(self._made))
            self._loop.add_done_callback(self._tell)
        if not self._made.done():
            greeting = self._greeting(dict(headers), body)
            if greeting is not None:
                return greeting
        exchange = await asyncio.shield(self._made)
        return await exchange.answer(headers, body, session)

    @asynccontextmanager
    async def lifespan(self, _: object) -> AsyncIterator[None]:
        """End the SDK's loop, if it was begun, with the application."""
        try:
            yield
        finally:
            if self._loop is not None:
                self._loop.cancel()
                with suppress(asyncio.CancelledError):
                    await self._loop

    def _greeting(self, headers: Mapping[bytes, bytes], body: bytes) -> Answer | None:
        """Answer a handshake that would wait for the SDK; what the SDK checks first is checked."""
        if len(body) > _LONGEST_GREETING or b"application/json" not in headers.get(b"accept", b""):
            return None
        message = json.loads(body)
        greeting = greet(message, self._version) if isinstance(message, dict) else None
        if greeting is None or not fits(message, headers):
            return None
        told = json.dumps(greeting, ensure_ascii=False, separators=(",", ":")).encode()
        return Answer(200, (("content-type", "application/json"),), told)

    async def _run(self, made: asyncio.Future[Exchange]) -> None:
        module = await asyncio.to_thread(importlib.import_module, _SERVER)
        exchange = cast("Exchange", module.make(self._version))
        async with exchange.running():
            made.set_result(exchange)
            await asyncio.Event().wait()

    def _tell(self, ended: asyncio.Task[None]) -> None:
        """Let nobody wait for an SDK that could not be loaded; the next message tries again."""
        made, self._made = self._made, None
        if made is None or made.done():
            return
        error = None if ended.cancelled() else ended.exception()
        if error is None:
            made.cancel()
        else:
            made.set_exception(error)
