"""The outermost layer: every request passes here before Litestar sees it, every answer after.

It admits or refuses (`admission`), reads the body whole within its limits, gives the request an id
and a deadline, watches for a client that goes away, and puts the security headers on every answer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from litestar.enums import ScopeType
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    HTTPScope,
    Message,
    Receive,
    Scope,
    Send,
)

from codeflow_memory.domain import deadline
from codeflow_memory.domain.deadline import Deadline
from codeflow_memory.domain.errors import (
    CodeflowError,
    DeadlineExceededError,
    LimitExceededError,
)
from codeflow_memory.http import exchange
from codeflow_memory.http.admission import EdgePolicy, admit, announces_body
from codeflow_memory.http.exchange import Exchange
from codeflow_memory.http.problems import MEDIA_TYPE, Problem, describe, unexpected
from codeflow_memory.http.security_headers import SECURITY_HEADERS

WATCH_AFTER_SECONDS: Final = 0.05
"""Quicker requests are not watched for a client that goes away: a task each would cost more."""

DRAIN_SECONDS: Final = 2.0
DRAIN_BYTES: Final = 8 << 20
"""How much of a refused body is read and dropped. A connection closed on unread bytes is reset, and
the reset can overtake the answer, which the client then never sees."""


T = TypeVar("T")


async def answered(
    work: Callable[[], Awaitable[T]], refuse: Callable[[Exception], Awaitable[T]]
) -> T:
    """Return what *work* gives, or what *refuse* makes of its error, a defect included.

    The one edge of whatever a client asks: by HTTP, and by a protocol within it whose library would
    quote a defect.
    """
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - one of the two edges: a defect becomes an answer
        return await refuse(error)


class Edge:
    """ASGI middleware around the whole application.

    Args:
        app: What is served to those who are admitted.
        policy: Whom and what to admit.
        new_id: Makes a request id: visible ASCII, unique, telling nothing.
    """

    def __init__(self, app: ASGIApp, policy: EdgePolicy, new_id: Callable[[], str]) -> None:
        self._app = app
        self._policy = policy
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI server: a request, or the server's life."""
        if scope["type"] == ScopeType.HTTP:
            await self._serve(scope, receive, send)
        elif scope["type"] == ScopeType.WEBSOCKET:
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            await self._app(scope, receive, send)

    async def _serve(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        # The server runs each request in a task of its own: what is set here ends with it.
        limit = Deadline(time.monotonic() + self._policy.request_seconds)
        current = Exchange(self._new_id(), limit)
        exchange.current.set(current)
        deadline.current.set(limit)
        answer = _Answer(send, current, self._policy.content_policies.get(scope["path"]))
        request = _Request(receive, limit, complete=not announces_body(scope))

        async def work() -> None:
            admit(scope, self._policy)
            if not request.complete:
                await request.read(
                    self._policy.body_limit(scope["path"]), self._policy.body_seconds
                )
            if not limit.cancelled:
                request.watch_soon()
                await self._app(scope, request.receive, answer.send)

        async def refuse(error: Exception) -> None:
            if answer.started:
                raise error
            refusal = describe(error) if isinstance(error, CodeflowError) else unexpected(error)
            await answer.refuse(refusal, None if request.complete else request.drain)

        try:
            await answered(work, refuse)
        finally:
            request.forget()


class _Request:
    """The client's side of one exchange: a body that is read once, then silence or a hang-up."""

    def __init__(self, receive: Receive, limit: Deadline, *, complete: bool) -> None:
        self._receive = receive
        self._limit = limit
        self._body = b""
        self._delivered = False
        self._late = False
        self._timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.complete = complete

    async def read(self, limit: int, seconds: float) -> None:
        """Read the body whole; a client that leaves in the middle cancels the deadline."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(seconds):
                while not self.complete:
                    message = await self._receive()
                    if message["type"] != "http.request":
                        self._limit.cancelled = self.complete = True
                        return
                    parts.append(message["body"])
                    size += len(message["body"])
                    self.complete = not message["more_body"]
                    if size > limit:
                        raise LimitExceededError("body_bytes", value=size, maximum=limit)
        except TimeoutError as error:
            self._late = True
            raise DeadlineExceededError from error
        self._body = b"".join(parts)

    async def receive(self) -> HTTPReceiveMessage:
        """Give the application the body, and after it nothing until the client is gone."""
        if not self._delivered:
            self._delivered = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await asyncio.shield(self._watch())
        return {"type": "http.disconnect"}

    async def drain(self) -> None:
        """Read on and drop what comes, for a while; a client that had its time gets no more."""
        if self._late:
            return
        size = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while size <= DRAIN_BYTES:
                    message = await self._receive()
                    if message["type"] != "http.request" or not message["more_body"]:
                        return
                    size += len(message["body"])
        except TimeoutError:
            return

    def watch_soon(self) -> None:
        """Begin to watch for the client's leaving if the request is still served in a moment."""
        self._timer = asyncio.get_running_loop().call_later(WATCH_AFTER_SECONDS, self._watch)

    def forget(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def _watch(self) -> asyncio.Task[None]:
        if self._watcher is None:
            self._watcher = asyncio.get_running_loop().create_task(self._until_gone())
        return self._watcher

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._limit.cancelled = True


class _Answer:
    """The server's side of one exchange: adds the headers that every answer carries."""

    def __init__(self, send: Send, current: Exchange, content_policy: str | None) -> None:
        self._send = send
        self._exchange = current
        self._content_policy = content_policy
        self.started = False

    async def send(self, message: Message) -> None:
        """Pass *message* on; the first one gets the headers."""
        if message["type"] == "http.response.start":
            self.started = True
            message["headers"] = self._complete(list(message["headers"]))
        await self._send(message)

    async def refuse(self, problem: Problem, drain: Callable[[], Awaitable[None]] | None) -> None:
        """Answer with *problem*; *drain* what is left of the body, then close the connection."""
        headers = [
            (b"content-type", MEDIA_TYPE.encode("ascii")),
            (b"content-length", str(len(problem.body)).encode("ascii")),
            *((name.encode("ascii"), value.encode("ascii")) for name, value in problem.headers),
        ]
        if drain is not None:
            headers.append((b"connection", b"close"))
        await self.send(
            {"type": "http.response.start", "status": problem.status, "headers": headers}
        )
        # The whole answer is on its way after the first message; the last one only ends it.
        more = drain is not None
        await self._send({"type": "http.response.body", "body": problem.body, "more_body": more})
        if drain is not None:
            await drain()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        if self._content_policy is not None:
            headers.append((b"content-security-policy", self._content_policy.encode("ascii")))
        present = {name.lower() for name, _ in headers}
        headers += [pair for pair in SECURITY_HEADERS if pair[0] not in present]
        headers += self._exchange.headers
        headers.append((b"x-request-id", self._exchange.request_id.encode("ascii")))
        return headers
