"""What each tool does: arguments to a value, one service, the answer to JSON."""

from typing import Any

from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import Memory
from codeflow_memory.domain.text import normalise
from codeflow_memory.http import memory_bodies, selections
from codeflow_memory.http import tool_bodies as wire
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memories import standing
from codeflow_memory.services import appending, memories, projects
from codeflow_memory.services import feedback as judging
from codeflow_memory.services import search as searching
from codeflow_memory.services import selections as selecting
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.search import Found, Question

PREFIX = "memories/"
"""Of the path of a memory; its id follows."""

HALF_SCORE = 4.0
"""A keyword score that counts as half: about that of one rare word in a title."""


async def project_of(call: Call, asked: wire.Arguments) -> str:
    """Return the id of the project that a call means."""
    found: str = await call.run(projects.identify, asked.project_id, asked.repo)
    return found


async def search(call: Call, asked: wire.SearchArguments) -> Any:  # noqa: ANN401 - the JSON of SearchAnswer
    """Search the project's memories."""
    project_id = await project_of(call, asked)
    question = Question(
        asked.query,
        limit=asked.max_results,
        collections=None if asked.collections is None else frozenset(asked.collections),
        below=None if asked.path_prefix is None else normalise(asked.path_prefix),
    )
    answer = await call.run(searching.find, project_id, None, question)
    return {
        "results": [_found(found) for found in answer.results],
        "provider": "none",
        "vector_enabled": False,
        "legs_used": ["keyword"],
        "warnings": _warnings(answer),
    }


async def get(call: Call, asked: wire.GetArguments) -> Any:  # noqa: ANN401 - the JSON of LinesBody
    """Read lines of one memory."""
    memory_id = _named(asked)
    memory = await _memory(call, asked, memory_id)
    content = memory.content
    if content is None:
        raise NotFoundError("memory", memory_id)
    held = is_flagged(memory.review_reason)
    lines = ("" if held else content.body).split("\n")
    shown = lines[asked.from_line - 1 :][: asked.lines]
    return {
        "path": PREFIX + memory_id,
        "memory_id": memory_id,
        "revision": memory.revision,
        "title": "" if held else content.title,
        "kind": str(content.kind),
        "status": str(memory.status),
        "collection": str(memory.collection),
        "sensitivity": str(content.sensitivity),
        "trust": memory.trust,
        "sources": [] if held else list(content.sources),
        "text": "\n".join(shown),
        "from_line": asked.from_line,
        "to_line": asked.from_line + len(shown) - 1,
        "total_lines": len(lines),
        "quarantined": held,
    }


async def append(change: Change, asked: wire.AppendArguments) -> Any:  # noqa: ANN401 - the JSON of AppendAnswer
    """Note something in the caller's private collection."""
    project_id = await project_of(change, asked)
    made = await change.run(appending.append, project_id, asked.content, change.operation)
    similar = made.similar
    return {
        "status": made.status,
        "memory_id": made.memory_id,
        "revision": made.revision,
        "similar": similar
        and {
            "memory_id": similar.memory_id,
            "revision": similar.revision,
            "title": similar.title,
            "similarity": similar.similarity,
        },
        "reason": made.reason,
    }


async def propose(change: Change, asked: wire.ProposeArguments) -> Any:  # noqa: ANN401 - the JSON of MemoryBody
    """Propose a memory to the project."""
    given = asked.given() | {"collection": "project"}
    fields = {
        name: value for name, value in given.items() if name not in wire.Arguments.model_fields
    }
    candidate = parse_candidate(fields)
    project_id = await project_of(change, asked)
    return memory_bodies.memory(
        await change.run(memories.create, project_id, None, candidate, change.operation)
    )


async def select(call: Call, asked: wire.SelectArguments) -> Any:  # noqa: ANN401 - the JSON of ManifestBody
    """Select the memories that apply."""
    request = asked.to_request()
    project_id = await project_of(call, asked)
    made = await call.run(selecting.create, project_id, None, request)
    return selections.whole(made.manifest, made.context, made.places, call.access.principal_id)


async def feedback(change: Change, asked: wire.FeedbackArguments) -> Any:  # noqa: ANN401 - the JSON of StandingBody
    """Judge a memory."""
    await _memory(change, asked, asked.memory_id)
    judgement = Judgement(asked.helpful, asked.note)
    return standing(await change.run(judging.give, asked.memory_id, judgement, change.operation))


async def _memory(call: Call, asked: wire.Arguments, memory_id: str) -> Memory:
    """Return a memory that the caller may read, of the project that it names, if it names one."""
    memory: Memory = (await call.run(memories.get, memory_id)).memory
    if asked.project_id is not None or asked.repo is not None:
        project_id = await project_of(call, asked)
        if memory.project_id != project_id:
            raise NotFoundError("memory", memory_id)
    return memory


def _named(asked: wire.GetArguments) -> str:
    """Return the id of the memory that is asked for.

    Raises:
        InvalidRequestError: Not exactly one of id and path is given.
        NotFoundError: The path is none of a memory.
    """
    if (asked.id is None) == (asked.path is None):
        raise InvalidRequestError.at("/path", "give the id of a memory, or its path")
    if asked.path is None:
        return str(asked.id)
    if not asked.path.startswith(PREFIX):
        raise NotFoundError("memory", asked.path)
    return asked.path.removeprefix(PREFIX)


def _found(found: Found) -> dict[str, object]:
    score = round(found.score / (found.score + HALF_SCORE), 6)
    first, last = found.lines
    return {
        "path": PREFIX + found.memory_id,
        "memory_id": found.memory_id,
        "revision": found.revision,
        "title": found.title,
        "lines": f"L{first}-L{last}",
        "score": score,
        "snippet": found.snippet,
        "channels": {"keyword": score},
    }


def _warnings(answer: searching.Answer) -> list[dict[str, str]]:
    found = []
    if answer.terms_dropped:
        left = " ".join(answer.terms_dropped)
        found.append({"code": "terms-dropped", "message": f"not looked for: {left}"})
    if answer.seeds_truncated:
        found.append({"code": "seeds-truncated", "message": "many more memories have these words"})
    return found
