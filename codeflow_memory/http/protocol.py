"""uvicorn's HTTP protocol with bounds: time and size of a request's head, connections of a peer.

uvicorn keeps a connection open for as long as half a head takes to come (measured: more than 20 s)
and lets a head grow without end.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError, LimitExceededError
from codeflow_memory.http.admission import TARGET
from codeflow_memory.http.problems import MEDIA_TYPE, describe
from codeflow_memory.http.security_headers import SECURITY_HEADERS


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one server grants its peers.

    Args:
        head_seconds: From a connection's start, or a further request's first byte, to the end of
            its headers.
        head_bytes: Request line and headers together.
        head_lines: Headers; the trailers of a body in chunks count too.
        connections: In all.
        connections_per_peer: From one address. Behind a proxy every client is that one peer.
    """

    head_seconds: float = 10.0
    head_bytes: int = 32 * 1024
    head_lines: int = 100
    connections: int = 512
    connections_per_peer: int = 64


def bounded(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return what uvicorn's configuration takes as its protocol class."""
    return cast("type[asyncio.Protocol]", partial(BoundedProtocol, bounds))


class BoundedProtocol(HttpToolsProtocol):
    """One connection. A subclass, because uvicorn has no other seam at this place."""

    def __init__(
        self,
        bounds: Bounds,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = bounds
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._head_lines = 0
        self._in_body = False
        self._refusal: CodeflowError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        """Accept a connection, or drop it when there are too many."""
        super().connection_made(transport)
        peer = _address(self)
        own = sum(1 for other in self.connections if _address(other) == peer)
        bounds = self._bounds
        if len(self.connections) > bounds.connections or own > bounds.connections_per_peer:
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection's timer with it."""
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; bytes that belong to no request yet count as a head that is coming."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        if self._head_timer is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        # The parser keeps an unfinished line to itself, so its size shows here only.
        unfinished = self._head_timer is not None and not self.transport.is_closing()
        if unfinished and self._head_bytes > self._bounds.head_bytes:
            self._refusal = self._too_large(self._head_bytes)
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Count the next head from nothing."""
        super().on_message_begin()
        self._head_lines = 0
        self._in_body = False

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
        super().on_headers_complete()

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

    def _too_large(self, size: int) -> LimitExceededError:
        return LimitExceededError("header_bytes", value=size, maximum=self._bounds.head_bytes)

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self._bounds.head_seconds, self._head_is_late)

    def _head_is_here(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        self.transport.close()


def _address(connection: object) -> str:
    client = connection.client if isinstance(connection, BoundedProtocol) else None
    return "" if client is None else client[0]
