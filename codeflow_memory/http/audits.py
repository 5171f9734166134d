"""``/api/audit``: the record of every change, and whether it still is what was written."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery
from pydantic import BaseModel

from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http.caller import Call
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import READS
from codeflow_memory.http.turning import Cursor, Limit, turn
from codeflow_memory.services import audits


class ChangeBody(BaseModel):
    """One change: who did what to which item; never a text."""

    at: str
    principal: str
    origin: str
    batch_id: str
    action: str
    item: str
    repository_id: str | None
    from_revision: int | None
    to_revision: int | None
    from_status: str | None
    to_status: str | None
    reason: str | None


class ChangesBody(BaseModel):
    """A page of changes."""

    items: list[ChangeBody]
    next_cursor: str | None


class FaultBody(BaseModel):
    """The first row that breaks the chain, and how."""

    sequence: int
    detail: str


class DisagreementBody(BaseModel):
    """The first checkpoint that the audit contradicts; without a number, all of them."""

    number: int | None
    detail: str


class CheckpointsBody(BaseModel):
    """What is signed beside the audit, and how many rows are younger."""

    count: int
    last_at: str | None
    rows_since: int
    torn: bool
    fault: DisagreementBody | None


class ReportBody(BaseModel):
    """Whether the chain is whole; the first `order_only` rows are of an earlier key.

    Numbers tell of what others keep to themselves: they are for owners and operators, else null.
    """

    sound: bool
    fault: FaultBody | None
    rows: int | None
    order_only: int | None
    checkpoints: CheckpointsBody | None


@get("/api/audit", tags=["governance"], responses=refusals(*READS))
async def find(
    call: NamedDependency[Call],
    batch: FromQuery[str | None] = None,
    item: FromQuery[str | None] = None,
    principal: FromQuery[str | None] = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response[ChangesBody]:
    """List changes, newest first: of what the caller sees and, to owners, of the tenant itself."""
    filters = {"batch": batch, "item": item, "principal": principal}
    items, after = await turn(call, "audit", filters, audits.find, cursor, limit)
    body: Any = {"items": [_change(entry) for entry in items], "next_cursor": after}
    return Response(body)


@get("/api/audit/verify", tags=["governance"], responses=refusals(*READS))
async def verify(call: NamedDependency[Call]) -> Response[ReportBody]:
    """Check the whole chain and its checkpoints; for maintainers of the tenant."""
    told = audits.describe(await call.run(audits.verify))
    if not call.access.operates:
        told |= {"rows": None, "order_only": None, "checkpoints": None}
    body: Any = told
    return Response(body)


def _change(entry: audits.Entry) -> dict[str, Any]:
    return {
        "at": to_rfc3339(entry.at),
        "principal": entry.principal_id,
        "origin": entry.origin,
        "batch_id": entry.batch_id,
        "action": entry.action,
        "item": entry.item,
        "repository_id": entry.repository_id,
        "from_revision": entry.from_revision,
        "to_revision": entry.to_revision,
        "from_status": entry.from_status,
        "to_status": entry.to_status,
        "reason": entry.reason,
    }


ROUTES = (find, verify)
