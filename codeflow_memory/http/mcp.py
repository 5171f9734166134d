"""``/mcp``: what agents speak; the SDK has the protocol, this has the callers."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Protocol, TypeVar

from litestar import Request, Response, post
from litestar.di import NamedDependency

from codeflow_memory.domain import strict_json
from codeflow_memory.domain.errors import CodeflowError, InvalidRequestError
from codeflow_memory.domain.offers import (
    PromptOffer,
    Refused,
    ResourceOffer,
    Session,
    Told,
    ToolOffer,
)
from codeflow_memory.http import edge
from codeflow_memory.http import tool_resources as resources
from codeflow_memory.http.bodies import read_body
from codeflow_memory.http.caller import Change
from codeflow_memory.http.problems import describe, unexpected
from codeflow_memory.http.tools import BY_NAME, TOOLS, text_of

T = TypeVar("T")

PATH: Final = "/mcp"

_PARSE_ERROR: Final = -32700
_KEPT: Final = (b"accept", b"content-type", b"mcp-", b"traceparent", b"tracestate")
"""How the headers begin that the protocol reads; a credential is none of them."""


class Answer(Protocol):
    """What goes back to a client."""

    @property
    def status(self) -> int:
        """The status of HTTP."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Its headers, without the length."""

    @property
    def body(self) -> bytes:
        """Its body."""


class Gateway(Protocol):
    """The protocol: `codeflow_memory.mcp.gateway` has it."""

    async def answer(
        self, headers: tuple[tuple[bytes, bytes], ...], body: bytes, session: Session
    ) -> Answer:
        """Answer one message for a caller."""


class CallerSession:
    """What one caller is offered, and what becomes of its calls; see `domain.offers.Session`."""

    def __init__(self, change: Change) -> None:
        self._change = change

    @property
    def tools(self) -> Sequence[ToolOffer]:
        """The tools, always in this order."""
        return _offers()

    @property
    def resources(self) -> Sequence[ResourceOffer]:
        """The kinds of resources."""
        return resources.RESOURCES

    @property
    def prompts(self) -> Sequence[PromptOffer]:
        """The prompts."""
        return resources.PROMPTS

    async def call(self, name: str, arguments: Mapping[str, object]) -> Told | None:
        """Call a tool: the arguments are read as those of its route are."""
        tool = BY_NAME.get(name)
        if tool is None:
            return None
        try:
            read = read_body(tool.arguments, json.dumps(arguments).encode("ascii"))
            value = await tool.run(self._change, read)
        except CodeflowError as error:
            problem = _problem(error)
            return Told(problem, text_of(problem), refused=True)
        return Told(value, tool.tells(value))

    async def read(self, uri: str) -> str:
        """Return a resource as JSON."""
        try:
            return text_of(await resources.read(self._change, uri))
        except CodeflowError as error:
            raise Refused(_problem(error)) from None

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str | None:
        """Return the text of a prompt."""
        try:
            return await resources.prompt(self._change, name, arguments)
        except CodeflowError as error:
            raise Refused(_problem(error)) from None

    @staticmethod
    async def answered(
        work: Callable[[], Awaitable[T]], refuse: Callable[[Exception], Awaitable[T]]
    ) -> T:
        """Return what *work* gives, or what *refuse* makes of its error."""
        return await edge.answered(work, refuse)

    def fail(self, error: Exception) -> Mapping[str, object]:
        """Log a defect under the request's id; return the problem that tells nothing of it."""
        problem: dict[str, Any] = json.loads(unexpected(error).body)
        return problem


@post(PATH, status_code=200, include_in_schema=False)
async def speak(
    request: Request[Any, Any, Any],
    change: NamedDependency[Change],
    gateway: NamedDependency[Any],
) -> Response[bytes]:
    """Answer one message of the Model Context Protocol."""
    body = await request.body()
    try:
        strict_json.parse(body)
    except InvalidRequestError as error:
        return _unread(error)
    headers = tuple(
        # White space around a value is none of it (RFC 9110, section 5.5).
        (name.lower(), value.strip(b" \t"))
        for name, value in request.scope["headers"]
        if name.lower().startswith(_KEPT)
    )
    spoken: Gateway = gateway
    answer = await spoken.answer(headers, body, CallerSession(change))
    kept = {name.lower(): value for name, value in answer.headers}
    media_type = kept.pop("content-type", "application/json")
    return Response(answer.body, status_code=answer.status, headers=kept, media_type=media_type)


@cache
def _offers() -> tuple[ToolOffer, ...]:
    return tuple(tool.offer() for tool in TOOLS)


def _problem(error: CodeflowError) -> dict[str, Any]:
    problem: dict[str, Any] = json.loads(describe(error).body)
    return problem


def _unread(error: InvalidRequestError) -> Response[bytes]:
    """Answer what two readers could read differently as the protocol answers what is no JSON."""
    problem = _problem(error)
    told = {"code": _PARSE_ERROR, "message": problem["detail"], "data": problem}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": told}).encode("ascii")
    return Response(body, status_code=400, media_type="application/json")


ROUTES = (speak,)
