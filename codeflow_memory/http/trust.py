"""``GET /api/trust``: what became of the memories that were accepted with each trust."""

from dataclasses import asdict
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from pydantic import BaseModel, Field

from codeflow_memory.http.caller import Call
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.projects import ProjectId, Repo
from codeflow_memory.http.refused import READS
from codeflow_memory.services import trust


class BandBody(BaseModel):
    """The memories accepted with a trust from `least` to `most`, basis points, both included.

    One may count as rejected (or sent back to review), corrected and confirmed; `unresolved` ones
    are none of these.
    """

    least: int = Field(ge=0, le=10_000)
    most: int = Field(ge=0, le=10_000)
    accepted: int
    rejected: int
    corrected: int
    confirmed: int
    unresolved: int


class TrustBody(BaseModel):
    """Every band, the least trusted first."""

    bands: list[BandBody]


@get("/api/trust", tags=["governance"], responses=refusals(*READS))
async def report(
    call: NamedDependency[Call], project_id: ProjectId = None, repo: Repo = None
) -> Response[TrustBody]:
    """Tell how often accepted memories were later rejected, corrected or confirmed."""
    bands = await call.run(trust.report, project_id, repo)
    body: Any = {"bands": [asdict(band) for band in bands]}
    return Response(body)


ROUTES = (report,)
