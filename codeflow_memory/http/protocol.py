"""uvicorn's HTTP protocol with bounds: of a request's head, of connections, of unread answers.

uvicorn keeps a connection open for as long as half a head takes to come (measured: more than 20 s),
lets a head grow without end, and waits for ever for a client that does not read its answer.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError, LimitExceededError
from codeflow_memory.http.admission import TARGET
from codeflow_memory.http.problems import MEDIA_TYPE, describe
from codeflow_memory.http.room import Room
from codeflow_memory.http.security_headers import SECURITY_HEADERS

ANSWER_BYTES_PER_SECOND: Final = 1024
"""The slowest that a client may read what waits for it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one server grants its peers.

    Args:
        head_seconds: From a connection's start, or a further request's first byte, to the end of
            its headers.
        head_bytes: Request line and headers together.
        head_lines: Headers; the trailers of a body in chunks count too.
        connections: In all; one more takes the place of one that waits for its client.
        connections_per_peer: From one address. Behind a proxy every client is that one peer.
        idle_seconds: From an answer to the first byte of another request.
        answer_seconds: For a client to read on, by `ANSWER_BYTES_PER_SECOND` at least, once its
            connection is to close or 64 KiB of an answer wait.
    """

    head_seconds: float = 10.0
    head_bytes: int = 32 * 1024
    head_lines: int = 100
    connections: int = 512
    connections_per_peer: int = 64
    idle_seconds: int = 5
    answer_seconds: float = 10.0


def bounded(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return what uvicorn's configuration takes as its protocol class."""
    room = Room(bounds.connections, bounds.connections_per_peer)
    return cast("type[asyncio.Protocol]", partial(BoundedProtocol, bounds, room))


class BoundedProtocol(HttpToolsProtocol):
    """One connection. A subclass, because uvicorn has no other seam at this place."""

    def __init__(
        self,
        bounds: Bounds,
        room: Room,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = bounds
        self._room = room
        self._since = 0.0
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._head_lines = 0
        self._in_body = False
        self._refusal: CodeflowError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        """Accept a connection, or drop it when there are too many."""
        super().connection_made(transport)
        if not self._room.enter(self):
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection's timers and its place with it."""
        self._head_is_here()
        self._answer_is_taken()
        self._room.leave(self)
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """End with the client, whether or not it still reads."""
        self._expect_taking()

    @property
    def peer(self) -> str:
        """The other side's address."""
        return "" if self.client is None else self.client[0]

    @property
    def waiting_since(self) -> float | None:
        """When it began to wait for a head, a body, a further request or the end of an answer."""
        cycle = self.cycle
        at_work = cycle is not None and not cycle.response_complete and not cycle.more_body
        return None if at_work else self._since

    def give_way(self) -> None:
        """End at once, because there is no room for all."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Feed the parser; bytes that belong to no request yet count as a head that is coming."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        if self._awaits_head:
            self._head_bytes += len(data)
        super().data_received(data)
        # The parser keeps an unfinished line to itself, so its size shows here only.
        unfinished = self._awaits_head and not self.transport.is_closing()
        if unfinished and self._head_bytes > self._bounds.head_bytes:
            self._refusal = self._too_large(self._head_bytes)
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Count the next head from nothing."""
        super().on_message_begin()
        self._head_lines = 0
        self._in_body = False
        if self._head_timer is None:
            # Behind a request that is at work: the next head has no time yet, but its size counts.
            self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; drop a trailer, which would come to stand among the headers."""
        self._head_lines += 1
        if self._head_lines > self._bounds.head_lines:
            self._refusal = LimitExceededError(
                "header_lines", value=self._head_lines, maximum=self._bounds.head_lines
            )
            raise self._refusal
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request, handing its target on as it was sent."""
        self._head_is_here()
        self._in_body = True
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._bounds.head_bytes:
            self._refusal = self._too_large(size)
            raise self._refusal
        self.scope["extensions"] = {TARGET: {"raw": self.url}}
        self._since = self.loop.time()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for a further request, or close."""
        self._since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_taking()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._expect_taking()

    def pause_writing(self) -> None:
        """Give the client some time to read: much is waiting for it."""
        super().pause_writing()
        self._expect_taking()

    def resume_writing(self) -> None:
        """Go on writing; a connection that closes may not stop being read again."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._answer_is_taken()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence is not ours
        """Refuse what is not HTTP, or too much of it, and close; never into another answer."""
        self._head_is_here()
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy and self.cycle.response_started:
            self.transport.close()
            return
        problem = describe(
            self._refusal or InvalidRequestError.at("", "the request is not well-formed HTTP/1.1")
        )
        lines = [
            b"HTTP/1.1 %d " % problem.status,
            b"content-type: " + MEDIA_TYPE.encode("ascii"),
            b"content-length: %d" % len(problem.body),
            b"connection: close",
            *(name + b": " + value for name, value in SECURITY_HEADERS),
        ]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + problem.body)
        self.transport.close()

    @property
    def _awaits_head(self) -> bool:
        """Whether a head is due, or has begun to come behind a request that is at work."""
        return self._head_timer is not None or not self._in_body

    def _too_large(self, size: int) -> LimitExceededError:
        return LimitExceededError("header_bytes", value=size, maximum=self._bounds.head_bytes)

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._since = self.loop.time()
        self._head_timer = self.loop.call_later(self._bounds.head_seconds, self._head_is_late)

    def _head_is_here(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        self.transport.abort()

    def _expect_taking(self) -> None:
        # A transport that closes does so only when all that was written is sent.
        left = self.transport.get_write_buffer_size()
        if self._answer_timer is None and left:
            self._answer_timer = self.loop.call_later(
                self._bounds.answer_seconds, self._answer_is_late, left
            )

    def _answer_is_late(self, left: int) -> None:
        self._answer_timer = None
        wanted = self._bounds.answer_seconds * ANSWER_BYTES_PER_SECOND
        if left - self.transport.get_write_buffer_size() < wanted:
            self.transport.abort()
        else:
            self._expect_taking()

    def _answer_is_taken(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None
