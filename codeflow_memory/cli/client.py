"""The port that reading and deciding commands work through, and its form for a server.

The other form (`local`) asks the same application inside this process, so both give one answer.
"""

import http.client
import json
import ssl
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import NotThereError, Refusal, UnreachableError
from codeflow_memory.domain.errors import UnauthenticatedError

TIMEOUT_SECONDS: Final = 60
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024

_REFUSED_FROM: Final = 400
_ENVELOPE: Final = frozenset({"type", "title", "status", "detail", "code"})


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Args:
        method: ``GET``, ``POST``, ``PATCH`` or ``DELETE``.
        path: Escaped; see `path`.
        query: Parameters; those that are ``None`` are left out.
        body: JSON values; ``None`` sends no body.
        revision: What a change is based on: becomes ``If-Match``.
    """

    method: str
    path: str
    query: Mapping[str, object] | None = None
    body: Mapping[str, object] | None = None
    revision: int | None = None

    def target(self) -> tuple[str, str]:
        """Return path and query string as they are sent."""
        given = {k: v for k, v in (self.query or {}).items() if v is not None}
        return self.path, urlencode({k: _word(v) for k, v in given.items()})

    def headers(self) -> dict[str, str]:
        """Return the headers without credential and host."""
        found = {"Accept": "application/json"}
        if self.method != "GET":
            found["Idempotency-Key"] = str(uuid.uuid4())
        if self.revision is not None:
            found["If-Match"] = f'"{self.revision}"'
        if self.body is not None:
            found["Content-Type"] = "application/json"
        return found

    def payload(self) -> bytes:
        """Return the body as it is sent."""
        return b"" if self.body is None else json.dumps(self.body, ensure_ascii=False).encode()


class Client(Protocol):
    """Asks the application."""

    def send(self, request: Request) -> dict[str, Any]:
        """Return the answer's JSON object.

        Raises:
            Refusal: The application refused.
            UnreachableError: There is no answer.
        """


def path(*segments: str) -> str:
    """Return ``/api/<segments>``, each escaped as a segment of its own.

    Raises:
        NotThereError: A segment would be read as another path than it is, so nothing has that id.
    """
    for segment in segments:
        # A server decodes a slash before it looks for a route, and takes dots and nothing away.
        if segment in {"", ".", ".."} or "/" in segment:
            raise NotThereError(f"nothing has the id {segment!r}")
    return "/api/" + "/".join(quote(segment, safe="") for segment in segments)


def pages(client: Client, request: Request) -> Iterator[dict[str, Any]]:
    """Yield a list's items, page by page, as they come."""
    query = dict(request.query or {}) | {"limit": 100}
    while True:
        answer = client.send(Request(request.method, request.path, query))
        yield from answer["items"]
        if not answer.get("next_cursor"):
            return
        query["cursor"] = answer["next_cursor"]


def read_answer(status: int, body: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer.

    Raises:
        Refusal: It is a problem.
        UnreachableError: It is no answer of this product's.
    """
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UnreachableError("what answers there is no Code Flow Memory server")
    if status < _REFUSED_FROM:
        return value
    code = str(value.get("type", "")).rpartition(":")[2] or "internal"
    facts = {k: v for k, v in value.items() if k not in _ENVELOPE}
    raise Refusal(code, str(value.get("detail", status)), facts)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent; ``date`` is the header's text."""

    status: int
    body: bytes
    date: str | None


class RemoteClient:
    """Asks a server over HTTP, with the standard library alone.

    Args:
        url: Its root.
        token: For every request; ``None`` sends none.
        timeout: Seconds without a byte after which it does not answer.
    """

    def __init__(self, url: str, token: str | None, timeout: float = TIMEOUT_SECONDS) -> None:
        self._root = urlsplit(url)
        self._token = token
        self._timeout = timeout

    def send(self, request: Request) -> dict[str, Any]:
        """Ask once, over a connection of its own; see `Client`."""
        answer = self.exchange(request)
        return read_answer(answer.status, answer.body)

    def exchange(self, request: Request) -> Answer:
        """Ask once, and return whatever comes.

        Raises:
            UnreachableError: Nothing does.
        """
        where, query = request.target()
        headers = request.headers()
        if self._token is not None:
            headers["Authorization"] = f"Bearer {_sendable(self._token)}"
        target = self._root.path.rstrip("/") + where + (f"?{query}" if query else "")
        connection = connect(self._root, self._timeout)
        try:
            connection.request(request.method, target, request.payload() or None, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(MAX_ANSWER_BYTES), answer.getheader("date"))
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(f"{self._root.netloc} does not answer: {why(error)}") from error
        finally:
            connection.close()


def connect(root: SplitResult, seconds: float) -> http.client.HTTPConnection:
    """Return a connection to the server of *root* that is not yet open."""
    host, port = root.hostname or "", root.port
    if root.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=seconds)
    safe = ssl.create_default_context()
    return http.client.HTTPSConnection(host, port, timeout=seconds, context=safe)


@contextmanager
def connected(context: Context) -> Iterator[Client]:
    """Give the client that *context* asks for, and close what it holds at the end."""
    if context.url is not None:
        yield RemoteClient(context.url, context.token)
        return
    # Imports the whole application.
    from codeflow_memory.cli.local import LocalClient, opened  # noqa: PLC0415 - when it is needed

    with opened(context) as tenants, LocalClient.of(tenants, context.token) as client:
        yield client


def _sendable(token: str) -> str:
    """Return a token that a header can hold; no token is written with other characters.

    Raises:
        Refusal: It is none, so it names nobody.
    """
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Refusal(UnauthenticatedError.code, str(UnauthenticatedError()), {})
    return token


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def why(error: Exception) -> str:
    """Return what the system says of a connection that failed."""
    return getattr(error, "strerror", None) or type(error).__name__
