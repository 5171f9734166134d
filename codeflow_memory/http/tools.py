"""``POST /api/tools/{name}``: the tools of agents, each one function for every face of them.

`TOOLS` is the catalogue, in the order in which agents are shown it. A face reads the arguments by
the tool's model, calls `Tool.use` and writes what it returns.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody
from pydantic import BaseModel

from codeflow_memory.domain import errors
from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.domain.offers import ToolOffer
from codeflow_memory.http import tool_bodies as wire
from codeflow_memory.http import tool_files
from codeflow_memory.http import tool_uses as uses
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memory_bodies import MemoryBody, StandingBody
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import MEMORY_CHANGES, MEMORY_REVISIONS, READS
from codeflow_memory.http.selections import ManifestBody
from codeflow_memory.services.mutation import Operation

PATH = "/api/tools"


def text_of(answer: Any) -> str:  # noqa: ANN401 - any JSON
    """Write an answer as JSON."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def str_of_text(answer: Any) -> str:  # noqa: ANN401 - the JSON of FileAnswer
    """Return the words of an answer that has some."""
    return str(answer["text"])


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Args:
        name: As agents call it.
        title: For people.
        description: For the model.
        arguments: Their model.
        answer: The model of what it returns.
        use: Does it, for a `Change` whose operation is the call.
        refused: What it may be refused with.
        reads: It changes nothing.
        destroys: It can take away what is there.
        repeats: The same call again changes nothing more.
        tells: Writes the answer as one text, for clients that read no structure.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[BaseModel]
    use: Callable[[Any, Any], Awaitable[Any]]
    refused: tuple[type[CodeflowError], ...] = READS
    reads: bool = False
    destroys: bool = False
    repeats: bool = True
    tells: Callable[[Any], str] = text_of

    async def run(self, call: Call, arguments: BaseModel) -> Any:  # noqa: ANN401 - the JSON of `answer`
        """Use the tool for a caller; what it writes comes from an agent, whoever's token it is."""
        access = call.access
        if access.origin is Origin.USER:
            access = replace(access, origin=Origin.AGENT)
        within = Call(access, call.store, call.pool)
        if isinstance(call, Change):
            # The same call is the same operation, whichever way it comes.
            parts = ("TOOL", self.name, canonical_json(arguments.model_dump(mode="json")))
            operation = Operation(call.operation.operation_id, parts)
            return await self.use(Change(within, operation, None), arguments)
        return await self.use(within, arguments)

    def offer(self) -> ToolOffer:
        """Describe it to agents."""
        return ToolOffer(
            self.name,
            self.title,
            self.description,
            wire.schema_of(self.arguments),
            wire.answer_schema(self.answer),
            self.reads,
            self.destroys,
            self.repeats,
        )


TOOLS = (
    Tool(
        "memory_search",
        "Search memory",
        "Search what is remembered of this project by keyword. Call it before answering about "
        "earlier conversations, preferences, names, dates, decisions or conventions.",
        wire.SearchArguments,
        wire.SearchAnswer,
        uses.search,
        reads=True,
    ),
    Tool(
        "memory_get",
        "Read a memory",
        "Read a memory by its id, or by the path that memory_search gave.",
        wire.GetArguments,
        wire.LinesBody,
        uses.get,
        reads=True,
    ),
    Tool(
        "memory_append",
        "Remember something",
        "Note a preference, correction or fact of the environment for later sessions, one at a "
        "time, in a sentence. It is kept for this user alone; repetitions are recognised. Not for "
        "secrets or passing task state.",
        wire.AppendArguments,
        wire.AppendAnswer,
        uses.append,
        MEMORY_CHANGES,
    ),
    Tool(
        "memory_propose",
        "Propose a memory",
        "Propose a memory to the whole team: a decision, convention or procedure with its "
        "sources. A person reviews it before anyone is given it.",
        wire.ProposeArguments,
        MemoryBody,
        uses.propose,
        (*MEMORY_CHANGES, errors.RevisionConflictError, errors.ProvenanceInvalidError),
    ),
    Tool(
        "memory_select",
        "Select memories",
        "Get the approved memories that apply to a task, its branch and its paths, as a context "
        "with a record that can be replayed. Call it once, at the start.",
        wire.SelectArguments,
        ManifestBody,
        uses.select,
        (*READS, errors.StorageFullError),
        reads=True,
    ),
    Tool(
        "memory_feedback",
        "Judge a memory",
        "Say whether a memory helped; its trust moves, and what does not help returns to review.",
        wire.FeedbackArguments,
        StandingBody,
        uses.feedback,
        MEMORY_CHANGES,
    ),
    Tool(
        "memory",
        "Memory files",
        "Keep notes for later sessions as files below /memories, for this user alone: view, create,"
        " str_replace, insert, delete, rename. View /memories first.",
        wire.FileArguments,
        wire.FileAnswer,
        tool_files.use,
        (*MEMORY_REVISIONS, errors.LegalHoldError),
        destroys=True,
        repeats=False,
        tells=str_of_text,
    ),
)
"""A selection stores its manifest and nothing that anybody else sees: to an agent it reads."""

BY_NAME = {tool.name: tool for tool in TOOLS}


def _route(tool: Tool) -> HTTPRouteHandler:
    arguments, answer = tool.arguments, tool.answer

    if tool.reads:

        async def handle(
            data: JSONBody[arguments],  # type: ignore[valid-type] # read when the route is made
            call: NamedDependency[Call],
        ) -> Response[answer]:  # type: ignore[valid-type] # as above
            return Response(await tool.run(call, data))

    else:

        async def handle(  # type: ignore[misc] # the other shape of a handler
            data: JSONBody[arguments],  # type: ignore[valid-type] # as above
            change: NamedDependency[Change],
        ) -> Response[answer]:  # type: ignore[valid-type] # as above
            return Response(await tool.run(change, data))

    handle.__doc__ = tool.description
    handle.__name__ = handle.__qualname__ = tool.name
    handler: HTTPRouteHandler = post(
        f"{PATH}/{tool.name}",
        status_code=200,
        tags=["tools"],
        responses=refusals(*tool.refused),
    )(handle)
    return handler


ROUTES = tuple(_route(tool) for tool in TOOLS)
