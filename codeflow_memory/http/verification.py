"""``POST /api/projects/{project_id}/memory/verify``."""

from typing import Annotated, Any, Literal

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from pydantic import BaseModel, Field

from codeflow_memory.http.caller import Change
from codeflow_memory.http.memories import Repo
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import CHANGES
from codeflow_memory.services import verification
from codeflow_memory.services.citations import MAX_MEMORIES
from codeflow_memory.services.verification import Report, Wanted

_ID_LENGTH = 200
_COMMIT = "a" * 40


class VerifyBody(Input):
    """What to check: a commit, else the default branch's head; some memories, else all."""

    commit: str | None = Field(None, pattern=r"^[0-9a-f]{40}$", examples=[_COMMIT])
    memory_ids: list[Annotated[str, Field(min_length=1, max_length=_ID_LENGTH)]] | None = Field(
        None, max_length=MAX_MEMORIES
    )


class FindingBody(BaseModel):
    """What became of one citation; ``new_place`` is there only where it moved."""

    memory_id: str
    citation: str = Field(examples=["file:src/http/client.py#L10-L24"])
    result: Literal["valid", "moved", "changed", "missing", "unknown"]
    new_place: str | None = Field(None, examples=["file:src/http/client.py#L31-L45"])


class ReportBody(BaseModel):
    """The results at a commit; ``null`` where none was named and nothing can be read."""

    commit: str | None = Field(examples=[_COMMIT])
    results: list[FindingBody]


@post(
    "/api/projects/{project_id:str}/memory/verify",
    status_code=200,
    tags=["memories"],
    responses=refusals(*CHANGES),
)
async def verify(
    project_id: FromPath[str],
    data: JSONBody[VerifyBody],
    change: NamedDependency[Change],
    repo: Repo = None,
) -> Response[ReportBody]:
    """Check the files that memories cite against a commit, and keep the results."""
    ids = None if data.memory_ids is None else frozenset(data.memory_ids)
    wanted = Wanted(data.commit, ids)
    return Response(
        _body(await change.run(verification.verify, project_id, repo, wanted, change.operation))
    )


def _body(report: Report) -> Any:  # noqa: ANN401 - the JSON of ReportBody
    results = []
    for found in report.findings:
        result = {
            "memory_id": found.memory_id,
            "citation": found.citation,
            "result": str(found.result),
        }
        if found.new_place is not None:
            result["new_place"] = found.new_place
        results.append(result)
    return {"commit": report.commit, "results": results}


ROUTES = (verify,)
