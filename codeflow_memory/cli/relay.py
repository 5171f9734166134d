"""Relays: where the messages of `mcp` go, a running server or the store of this home."""

import http.client
import socket
import threading
import uuid
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from codeflow_memory.cli.client import TIMEOUT_SECONDS, connect, why
from codeflow_memory.cli.context import TOKEN, Context, read_token, served_url
from codeflow_memory.cli.exits import NotThereError, UnreachableError
from codeflow_memory.storage.home import Home

if TYPE_CHECKING:
    from codeflow_memory.cli.local import LocalService

PATH: Final = "/mcp"

_SENT: Final = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}

Answer = tuple[int, bytes]
"""Status and body; 0 and nothing for a message that was cancelled."""


class Relay(Protocol):
    """The way to the application; used by several threads."""

    @property
    def begins(self) -> bool:
        """Whether the application is still being loaded, and would keep a handshake waiting."""

    def post(self, identifier: object, headers: Mapping[str, str], body: bytes) -> Answer:
        """Pass a message on and wait for its answer.

        Raises:
            UnreachableError: There is no answer.
            CodeflowError: The home cannot be used.
        """

    def cancel(self, identifier: object) -> None:
        """Stop the work of a message that is under way; nobody waits for its answer."""

    def close(self) -> None:
        """Let go of what is held."""


def relay_of(context: Context) -> Relay:
    """Return the way that *context* asks for.

    Raises:
        NotThereError: There is neither a server nor a home.
    """
    if context.url is not None:
        return Remote(context.url, context.token)
    home = context.local("mcp")
    url = served_url(home)
    if url is not None:
        return Remote(url, context.token or token_of(home))
    if not home.path.is_dir():
        raise NotThereError(f"there is no home {home.path}: `codeflow-memory up` makes it")
    return Local(context)


def token_of(home: Home) -> str | None:
    """Return the token of a home's first owner, for the server that holds the home now."""
    path = home.path / TOKEN
    return read_token(path) if path.is_file() else None


class Remote:
    """A server."""

    begins = False

    def __init__(self, url: str, token: str | None) -> None:
        self._root = urlsplit(url)
        self._credential = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._open: dict[str, http.client.HTTPConnection] = {}

    def post(self, identifier: object, headers: Mapping[str, str], body: bytes) -> Answer:
        """Pass a message on; one whose answer got lost is sent again as the same operation."""
        key = {"Idempotency-Key": str(uuid.uuid4())}
        whole = {**_SENT, **self._credential, **headers, **key}
        try:
            return self._once(identifier, whole, body)
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, ConnectionRefusedError | TimeoutError):
                raise UnreachableError(self._sentence(error)) from error
        try:
            return self._once(identifier, whole, body)
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(self._sentence(error)) from error

    def cancel(self, identifier: object) -> None:
        """Hang up: the server stops what nobody waits for."""
        connection = self._open.pop(repr(identifier), None)
        if connection is not None and connection.sock is not None:
            # Closing alone would not wake who reads.
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hold nothing."""

    def _once(self, identifier: object, headers: Mapping[str, str], body: bytes) -> Answer:
        connection = connect(self._root, TIMEOUT_SECONDS)
        name = repr(identifier)
        self._open[name] = connection
        try:
            connection.request("POST", self._root.path.rstrip("/") + PATH, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, ValueError, http.client.HTTPException):
            if name not in self._open:
                return 0, b""
            raise
        finally:
            self._open.pop(name, None)
            connection.close()

    def _sentence(self, error: Exception) -> str:
        return f"{self._root.netloc} does not answer: {why(error)}"


class Local:
    """The application inside this process, loaded while the client begins to talk."""

    def __init__(self, context: Context) -> None:
        self._service: Future[LocalService] = Future()
        self._over = threading.Event()
        self._waiting: dict[str, Future[Answer]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._thread.submit(self._run, context).add_done_callback(self._tell)

    @property
    def begins(self) -> bool:
        """Whether it is still being loaded."""
        return not self._service.done()

    def post(self, identifier: object, headers: Mapping[str, str], body: bytes) -> Answer:
        """Ask the application, once it is there."""
        asked = self._service.result().post(PATH, {**_SENT, **headers}, body)
        self._waiting[repr(identifier)] = asked
        try:
            return asked.result()
        except CancelledError:
            return 0, b""
        finally:
            self._waiting.pop(repr(identifier), None)

    def cancel(self, identifier: object) -> None:
        """Cancel the work."""
        asked = self._waiting.get(repr(identifier))
        if asked is not None:
            asked.cancel()

    def close(self) -> None:
        """Close the home."""
        self._over.set()
        self._thread.shutdown()

    def _run(self, context: Context) -> None:
        # Imports the whole application.
        from codeflow_memory.cli import stores  # noqa: PLC0415 - while the client talks
        from codeflow_memory.cli.local import LocalService, opened  # noqa: PLC0415 - as above
        from codeflow_memory.mcp import gateway  # noqa: PLC0415 - as above

        gateway.preload()
        token = context.token
        with opened(context) as home:
            service = LocalService(home, lambda: stores.caller(home.tenants, token))
            with service.running():
                self._service.set_result(service)
                self._over.wait()

    def _tell(self, ended: "Future[None]") -> None:
        """Hand the error of a home that cannot be used to those who wait for it."""
        error = ended.exception()
        if error is not None and not self._service.done():
            self._service.set_exception(error)
