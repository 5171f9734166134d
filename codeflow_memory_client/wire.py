"""Bytes to the server and back, by httpx; no other module imports it.

Neither redirections nor the proxies and credentials of the environment are followed, so that the
token goes to the one server that was named and to no other.
"""

import ssl
from dataclasses import dataclass
from typing import Any

import httpx

from codeflow_memory_client.answers import Answer
from codeflow_memory_client.asking import Ask
from codeflow_memory_client.errors import ClientError, ConnectionLostError, UnexpectedAnswerError

CONNECT_SECONDS = 5.0

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Server:
    """Which server is asked, and how.

    Args:
        root: Its URL, without a slash at the end.
        token: For the header; ``None`` sends none.
        timeout: Seconds without a byte after which a connection counts as lost.
        tls: Which certificates are believed; ``None``: those that the system believes.
    """

    root: str
    token: str | None
    timeout: float
    tls: ssl.SSLContext | None

    def options(self) -> dict[str, Any]:
        """Return what httpx is told."""
        # Nothing packed: an answer is never larger than what was sent.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        secure = self.root.startswith("https:")
        return {
            "headers": headers,
            "timeout": httpx.Timeout(self.timeout, connect=min(self.timeout, CONNECT_SECONDS)),
            # Reading the system's certificates takes long.
            "verify": (self.tls or ssl.create_default_context()) if secure else False,
            "follow_redirects": False,
            "trust_env": False,
        }


class Wire:
    """Connections that are kept and used again, from any thread."""

    def __init__(self, server: Server) -> None:
        self._root = server.root
        self._client = httpx.Client(**server.options())

    def exchange(self, ask: Ask) -> Answer:
        """Send once.

        Raises:
            ConnectionLostError: There is no whole answer.
            UnexpectedAnswerError: Its body cannot be read.
        """
        try:
            return _answer(self._client.request(**_sent(self._root, ask)))
        except httpx.RequestError as error:
            raise _told(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class AsyncWire:
    """The same in an event loop of asyncio."""

    def __init__(self, server: Server) -> None:
        self._root = server.root
        self._client = httpx.AsyncClient(**server.options())

    async def exchange(self, ask: Ask) -> Answer:
        """Send once; see `Wire.exchange`."""
        try:
            return _answer(await self._client.request(**_sent(self._root, ask)))
        except httpx.RequestError as error:
            raise _told(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _sent(root: str, ask: Ask) -> dict[str, Any]:
    return {
        "method": ask.method,
        "url": root + ask.target,
        "content": ask.payload,
        "headers": ask.headers,
    }


def _answer(received: httpx.Response) -> Answer:
    headers = received.headers
    return Answer(
        received.status_code,
        received.content,
        headers.get("retry-after"),
        headers.get("x-request-id"),
    )


def _told(error: httpx.RequestError) -> ClientError:
    if isinstance(error, httpx.TransportError):
        why = str(error) or type(error).__name__
        return ConnectionLostError(f"no answer: {why}", sent=not isinstance(error, _NOT_SENT))
    return UnexpectedAnswerError(0)
