"""What both clients are made of: one call is one request, sent until it is answered."""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from codeflow_memory_client.asking import Ask
from codeflow_memory_client.errors import ClientError
from codeflow_memory_client.retrying import Retry

if TYPE_CHECKING:
    from ssl import SSLContext

    from codeflow_memory_client.wire import Server

PAGE = 100
"""Items that an iterator asks for at a time, the most that a page has."""

TIMEOUT_SECONDS = 70.0
"""Longer than the server works on any request."""

_VISIBLE = re.compile(r"[\x21-\x7e]+")

_DEFAULT = Retry()


class Connection:
    """A server and who asks it. It may be shared by threads; close it, or use ``with``.

    Args:
        url: ``http://host:port`` or ``https://host``, with a path where the server is below one.
        token: A bearer token; ``None`` for what needs none. It is sent to this server only.
        timeout: Seconds without a byte after which a connection counts as lost.
        retry: What is tried again; see `Retry`.
        tls: Which certificates are believed; ``None``: those that the system believes.

    Raises:
        ValueError: *url* or *token* has not the form.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        retry: Retry = _DEFAULT,
        tls: "SSLContext | None" = None,
    ) -> None:
        # Importing the HTTP library takes several times as long as importing this package.
        from codeflow_memory_client.wire import Wire  # noqa: PLC0415 - when it is needed

        self._url, self._retry = _checked(url), retry
        self._wire = Wire(_server(self._url, token, timeout, tls))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._wire.close()

    def _send(self, ask: Ask) -> Any:  # noqa: ANN401 - any JSON
        tried, waited = 0, 0.0
        while True:
            tried += 1
            try:
                return self._wire.exchange(ask).read()
            except ClientError as failure:
                wait = self._retry.wait(ask, failure, tried, waited)
                if wait is None:
                    raise
            waited += wait
            time.sleep(wait)

    def _pages(self, listed: Callable[[str | None], Any]) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            page = listed(cursor)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return


class AsyncConnection:
    """The same in an event loop of asyncio; close it with ``aclose``, or use ``async with``.

    Args:
        url: See `Connection`; so are the others.
        token: A bearer token.
        timeout: Seconds.
        retry: What is tried again.
        tls: Which certificates are believed.

    Raises:
        ValueError: *url* or *token* has not the form.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        retry: Retry = _DEFAULT,
        tls: "SSLContext | None" = None,
    ) -> None:
        # See `Connection`.
        from codeflow_memory_client.wire import AsyncWire  # noqa: PLC0415 - when it is needed

        self._url, self._retry = _checked(url), retry
        self._wire = AsyncWire(_server(self._url, token, timeout, tls))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._url}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._wire.close()

    async def _send(self, ask: Ask) -> Any:  # noqa: ANN401 - any JSON
        # Whoever waits here has imported it, and nobody else needs to.
        import asyncio  # noqa: PLC0415 - when it is needed

        tried, waited = 0, 0.0
        while True:
            tried += 1
            try:
                return (await self._wire.exchange(ask)).read()
            except ClientError as failure:
                wait = self._retry.wait(ask, failure, tried, waited)
                if wait is None:
                    raise
            waited += wait
            await asyncio.sleep(wait)

    async def _pages(self, listed: Callable[[str | None], Awaitable[Any]]) -> AsyncIterator[Any]:
        cursor: str | None = None
        while True:
            page = await listed(cursor)
            for item in page["items"]:
                yield item
            cursor = page.get("next_cursor")
            if not cursor:
                return


def _checked(url: str) -> str:
    """Return the server's URL without a slash at its end."""
    try:
        parts = urlsplit(url)
        root = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        root = False
    if not root or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("a server is given as http://host:port or https://host")
    return url.rstrip("/")


def _server(url: str, token: str | None, timeout: float, tls: "SSLContext | None") -> "Server":
    from codeflow_memory_client.wire import Server  # noqa: PLC0415 - see `Connection`

    if token is not None and _VISIBLE.fullmatch(token) is None:
        # It would end its header, or begin another.
        raise ValueError("a token is visible ASCII characters")
    return Server(url, token, timeout, tls)
