"""The SDK's server: each message becomes a question to the caller's `Session`.

One POST is one message and one answer in JSON; nothing is kept between two, so that any server of a
tenant can take the next one. Imported late: see `gateway`.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.types import Message

from codeflow_memory.domain.offers import (
    PromptOffer,
    Refused,
    ResourceOffer,
    Session,
    ToolOffer,
)
from codeflow_memory.mcp.gateway import Answer
from codeflow_memory.mcp.handshake import INSTRUCTIONS, NAME, TITLE

_JSON: Final = "application/json"
_SESSION: Final = "codeflow.session"
_MAX_URI: Final = 2_000

Context = ServerRequestContext[Any, Any]


class Exchange:
    """The SDK at work, for the life of an application."""

    def __init__(self, version: str) -> None:
        self._manager = StreamableHTTPSessionManager(
            _server(version), json_response=True, stateless=True
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the SDK's tasks around a block."""
        async with self._manager.run():
            yield

    async def answer(
        self, headers: tuple[tuple[bytes, bytes], ...], body: bytes, session: Session
    ) -> Answer:
        """Answer one message; see `gateway.Gateway.answer`."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": list(headers),
            "client": None,
            "server": None,
            "state": {_SESSION: session},
        }
        collected = _Collected(body)
        await self._manager.handle_request(scope, collected.receive, collected.send)
        return collected.answer()


class _Collected:
    """The other side of one message: the body in, the answer out."""

    def __init__(self, body: bytes) -> None:
        self._inbox: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._status = 0
        self._headers: tuple[tuple[str, str], ...] = ()
        self._parts: list[bytes] = []

    async def receive(self) -> Message:
        # A client that goes away cancels the deadline of the work, and with it this task.
        return self._inbox.pop() if self._inbox else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message.get("headers", ())
                if name.lower() != b"content-length"
            )
        else:
            self._parts.append(message.get("body", b""))

    def answer(self) -> Answer:
        return Answer(self._status, self._headers, b"".join(self._parts))


def make(version: str) -> Exchange:
    """Make the SDK's side of an application."""
    # Below errors it names methods as clients spell them, which no log holds; what there is to tell
    # of a request the edge's observers do.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    return Exchange(version)


def _server(version: str) -> Server[Any]:
    server: Server[Any] = Server(
        NAME,
        version=version,
        title=TITLE,
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda _: None,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    server.middleware.append(_without_defects)
    return server


async def _without_defects(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Tell a client nothing of a defect: in the older era the SDK would quote it."""
    session = _session(ctx)

    async def work() -> HandlerResult:
        return await call_next(ctx)

    async def refuse(error: Exception) -> HandlerResult:
        if isinstance(error, MCPError | ValidationError):
            raise error
        problem = dict(session.fail(error))
        raise MCPError(types.INTERNAL_ERROR, str(problem["detail"]), problem) from None

    return await session.answered(work, refuse)


def _session(context: Context) -> Session:
    return cast("Session", cast("Any", context.request).scope["state"][_SESSION])


async def _list_tools(context: Context, _: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_tool(offer) for offer in _session(context).tools])


async def _call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    told = await _session(context).call(params.name, params.arguments or {})
    if told is None:
        raise MCPError(types.INVALID_PARAMS, f"no tool {params.name[:100]!r}")
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=told.text)],
        structured_content=dict(told.value),
        is_error=told.refused,
    )


async def _list_resources(_: Context, __: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])


async def _list_templates(context: Context, _: object) -> types.ListResourceTemplatesResult:
    offers = _session(context).resources
    return types.ListResourceTemplatesResult(resource_templates=[_template(o) for o in offers])


async def _read_resource(
    context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    try:
        text = await _session(context).read(uri)
    except Refused as refused:
        raise _error(refused, uri=uri[:_MAX_URI]) from None
    content = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
    return types.ReadResourceResult(contents=[content])


async def _list_prompts(context: Context, _: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[_prompt(offer) for offer in _session(context).prompts])


async def _get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    try:
        text = await _session(context).prompt(params.name, params.arguments or {})
    except Refused as refused:
        raise _error(refused) from None
    if text is None:
        raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name[:100]!r}")
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def _error(refused: Refused, **more: str) -> MCPError:
    problem = {**refused.problem, **more}
    return MCPError(types.INVALID_PARAMS, str(problem["detail"]), problem)


def _tool(offer: ToolOffer) -> types.Tool:
    return types.Tool(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        input_schema=dict(offer.arguments),
        output_schema=dict(offer.answer),
        annotations=types.ToolAnnotations(
            title=offer.title,
            read_only_hint=offer.reads,
            destructive_hint=offer.destroys,
            idempotent_hint=offer.repeats,
            open_world_hint=False,
        ),
    )


def _template(offer: ResourceOffer) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        uri_template=offer.template,
        mime_type=_JSON,
    )


def _prompt(offer: PromptOffer) -> types.Prompt:
    return types.Prompt(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        arguments=[
            types.PromptArgument(name=name, description=description, required=False)
            for name, description in offer.arguments
        ],
    )
