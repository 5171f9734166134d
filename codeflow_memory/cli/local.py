"""The client for a local home: the application inside this process, asked over ASGI."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from litestar.types import ASGIApp, Message, Scope

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.cli import stores
from codeflow_memory.cli.client import Request, read_answer
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.stores import Opened
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.ids import Ids

HOST = "local"
"""The one Host of an application that no socket leads to."""


@contextmanager
def opened(context: Context) -> Iterator[Opened]:
    """Use the home that *context* names, for a command that a server could do as well."""
    with stores.opened(context, "this") as home:
        yield home


class LocalClient:
    """Asks the application in this process.

    Args:
        home: The opened home.
        access: Returns the caller, as it stands at each request; ``None`` where each request has
            a token.
    """

    def __init__(self, home: Opened, access: Callable[[], Access] | None) -> None:
        self._app = _application(home, access)
        self._runner = asyncio.Runner()
        self._life = _Life(self._app)

    @classmethod
    @contextmanager
    def of(cls, home: Opened, token: str | None) -> Iterator["LocalClient"]:
        """Make a client for the token's principal, else the home's first owner."""
        with cls(home, lambda: stores.caller(home.tenants, token)).running() as client:
            yield client

    @contextmanager
    def running(self) -> Iterator["LocalClient"]:
        """Keep the application's life around the block."""
        with self._runner as runner:
            runner.run(self._life.begin())
            try:
                yield self
            finally:
                runner.run(self._life.end())

    def send(self, request: Request, token: str | None = None) -> dict[str, Any]:
        """Ask the application; see `client.Client`."""
        headers = dict(request.headers())
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        sent = _Sent(request.method, request.target(), headers, request.payload())
        return read_answer(*self._runner.run(_exchange(self._app, sent)))


class LocalService:
    """Asks the application in this process, several questions at once, from any thread.

    Args:
        home: The opened home.
        access: Returns the caller, as it stands at each request.
    """

    def __init__(self, home: Opened, access: Callable[[], Access]) -> None:
        self._app = _application(home, access)
        self._loop = asyncio.new_event_loop()

    @contextmanager
    def running(self) -> Iterator["LocalService"]:
        """Keep the application's life, and a thread that serves it, around the block."""
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        life = _Life(self._app)
        try:
            asyncio.run_coroutine_threadsafe(life.begin(), self._loop).result()
            yield self
            asyncio.run_coroutine_threadsafe(life.end(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    def post(
        self, path: str, headers: Mapping[str, str], body: bytes
    ) -> "futures.Future[tuple[int, bytes]]":
        """Begin to ask; the result is the status and body, and to cancel it stops the work."""
        sent = _Sent("POST", (path, ""), headers, body)
        return asyncio.run_coroutine_threadsafe(_exchange(self._app, sent), self._loop)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request as it is sent; ``target`` is its path and query string."""

    method: str
    target: tuple[str, str]
    headers: Mapping[str, str]
    payload: bytes


def _application(home: Opened, access: Callable[[], Access] | None) -> ASGIApp:
    ids = Ids(stores.clock(home.settings), os.urandom)
    return create_app(Wiring(home.tenants, home.settings, {HOST}, lambda: ids.new("req"), access))


class _Life:
    """The lifespan of an ASGI application, driven from outside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def begin(self) -> None:
        """Start the application."""
        self._to_app: asyncio.Queue[Any] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        scope = cast("Scope", {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}})
        self._task = asyncio.ensure_future(self._app(scope, self._to_app.get, self._from_app.put))
        await self._say("lifespan.startup")

    async def end(self) -> None:
        """Stop it and wait until it has."""
        await self._say("lifespan.shutdown")
        with suppress(asyncio.CancelledError):
            await self._task

    async def _say(self, kind: str) -> None:
        await self._to_app.put({"type": kind})
        await self._from_app.get()


async def _exchange(app: ASGIApp, sent: _Sent) -> tuple[int, bytes]:
    """Send one request and collect its answer."""
    inbox: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": sent.payload, "more_body": False}
    ]
    status, parts = 0, list[bytes]()

    async def receive() -> Any:  # noqa: ANN401 - an ASGI message
        if inbox:
            return inbox.pop()
        # Nobody hangs up: the answer comes first.
        return await asyncio.Event().wait()

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            parts.append(message["body"])

    await app(_scope(sent), receive, send)
    return status, b"".join(parts)


def _scope(sent: _Sent) -> Scope:
    where, query = sent.target
    headers = {"Host": HOST, **sent.headers}
    if sent.payload:
        headers["Content-Length"] = str(len(sent.payload))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": sent.method,
        "scheme": "http",
        "path": unquote(where),
        "raw_path": where.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
        "client": None,
        "server": None,
        "extensions": {},
        "state": {},
    }
    return cast("Scope", scope)
