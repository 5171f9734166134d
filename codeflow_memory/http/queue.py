"""``GET /api/review``: what needs a person, with what a decision rests on."""

from typing import Annotated, Any, Literal

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain import queue as queues
from codeflow_memory.domain.memory import Collection, Memory, Status
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http import memory_bodies as wire
from codeflow_memory.http.caller import Call
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pagination import Listing, parse_limit
from codeflow_memory.http.projects import ProjectId, Repo
from codeflow_memory.http.refused import READS
from codeflow_memory.http.turning import Cursor, Limit
from codeflow_memory.services import queue
from codeflow_memory.services.queue import Filter, Item

Reason = Annotated[
    str | None, QueryParameter(description="`new`, or the first word of a `review_reason`")
]


class OtherBody(BaseModel):
    """Another entry that matters for the decision."""

    id: str
    revision: int
    status: Status
    title: str


class ConflictBody(OtherBody):
    """An entry that says something else under the same key, with its text."""

    body: str


class NearBody(OtherBody):
    """An entry that says nearly the same."""

    similarity: float = Field(ge=0, le=1)


class EvidenceBody(BaseModel):
    """A citation, and how it was found when it was last checked."""

    source: str
    result: str


class WaitingBody(wire.MemoryBody):
    """A memory that waits, and what a decision rests on."""

    findings: list[wire.FindingBody]
    reasons: list[str]
    risk: Literal["high", "medium", "low"]
    waiting_since: str
    near_duplicates: list[NearBody]
    diff: dict[str, Any] | None
    conflicts: list[ConflictBody]
    evidence: list[EvidenceBody]
    stale_decisions: list[wire.ApprovalBody]


class QueueBody(BaseModel):
    """A page of the queue, the riskiest first; `facets` counts the whole of it."""

    items: list[WaitingBody]
    next_cursor: str | None
    facets: dict[str, dict[str, int]]


@get("/api/review", tags=["governance"], responses=refusals(*READS))
async def find(  # noqa: PLR0913, PLR0917 - a page of a filtered list
    call: NamedDependency[Call],
    project_id: ProjectId = None,
    repo: Repo = None,
    collection: FromQuery[Collection | None] = None,
    reason: Reason = None,
    memory_id: FromQuery[str | None] = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response[QueueBody]:
    """List proposals, and accepted memories that something speaks against."""
    narrowed = {"collection": collection, "reason": reason, "memory_id": memory_id}
    filters = {"project_id": project_id, "repo": repo, **narrowed}
    pages = Listing(call.store.keys.cursor_key, call.access.principal_id, "review", filters)
    after = pages.parse_cursor(cursor)
    wanted = Filter(collection, reason, memory_id)
    page = await call.run(queue.find, project_id, repo, wanted, after, parse_limit(limit))
    body: Any = {
        "items": [_waiting(item) for item in page.items],
        "next_cursor": None if page.next_after is None else pages.to_cursor(page.next_after),
        "facets": page.facets,
    }
    return Response(body)


def _waiting(item: Item) -> dict[str, Any]:
    content = item.view.memory.content
    return wire.memory(item.view) | {
        "findings": [] if content is None else wire.findings(content),
        "reasons": list(item.reasons),
        "risk": queues.risk(item.reasons[0]),
        "waiting_since": to_rfc3339(item.since),
        "near_duplicates": [
            _other(near.memory) | {"similarity": round(near.similarity, 3)} for near in item.near
        ],
        "diff": item.diff,
        "conflicts": [_other(memory) | {"body": _body(memory)} for memory in item.conflicts],
        "evidence": [{"source": source, "result": result} for source, result in item.evidence],
        "stale_decisions": [wire.approval(given) for given in item.stale],
    }


def _other(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.memory_id,
        "revision": memory.revision,
        "status": str(memory.status),
        "title": "" if memory.content is None else memory.content.title,
    }


def _body(memory: Memory) -> str:
    return "" if memory.content is None else memory.content.body


ROUTES = (find,)
