"""``POST /api/memories/batch``: many decisions in one request."""

import json
from http import HTTPStatus
from typing import Any, Literal

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from pydantic import BaseModel, Field

from codeflow_memory.domain import errors
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.http.caller import Change
from codeflow_memory.http.memory_bodies import ContentBody, DecisionBody, Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.problems import MEDIA_TYPE, describe
from codeflow_memory.services import batch
from codeflow_memory.services.batch import EDIT, PUBLISH, Result, Step
from codeflow_memory.services.review import Decision

MAX_STEPS = 500


class StepBody(DecisionBody):
    """One operation on one memory."""

    action: Action | Literal["update", "publish"]
    id: str = Field(max_length=200)
    revision: int = Field(ge=0, lt=2**63)
    changes: ContentBody | None = None

    def to_step(self) -> Step:
        """Leave the wire format."""
        action = str(self.action)
        decides = action not in {EDIT, PUBLISH, Action.DELETE}
        return Step(
            action,
            self.id,
            self.revision,
            Decision(Action(action), self.comment, self.reason, self.superseded_by)
            if decides
            else None,
            None if self.changes is None else self.changes.given(),
            self.reason,
        )


class BatchBody(Input):
    """Operations, in order."""

    operations: list[StepBody] = Field(max_length=MAX_STEPS)
    dry_run: bool = False
    atomic: bool = False


class ResultBody(BaseModel):
    """What became of one operation."""

    id: str
    ok: bool
    revision: int | None
    status: str | None
    error: dict[str, Any] | None


class ResultsBody(BaseModel):
    """One result an operation, in order; ``applied`` is false when nothing was kept.

    Whatever was kept is one batch, by whose id `POST /api/undo` puts all of it back.
    """

    results: list[ResultBody]
    applied: bool
    dry_run: bool
    batch_id: str | None


@post(
    "/api/memories/batch",
    status_code=200,
    tags=["memories"],
    responses=refusals(
        errors.UnauthenticatedError,
        errors.OperationReusedError,
        errors.ImportConflictError,
        errors.BusyError,
        errors.StorageFullError,
        errors.RateLimitedError,
    ),
)
async def run_batch(
    data: JSONBody[BatchBody], change: NamedDependency[Change]
) -> Response[ResultsBody]:
    """Carry out operations in order; with ``atomic`` all or none (409 with the results)."""
    outcome = await change.run(
        batch.run,
        [step.to_step() for step in data.operations],
        change.operation,
        dry_run=data.dry_run,
        atomic=data.atomic,
    )
    body: Any = {
        "results": [_result(r) for r in outcome.results],
        "applied": outcome.applied,
        "dry_run": data.dry_run,
        "batch_id": outcome.batch_id,
    }
    first = next((r.error for r in outcome.results if r.error is not None), None)
    if data.atomic and not data.dry_run and first is not None:
        problem = json.loads(describe(first).body) | {"status": HTTPStatus.CONFLICT}
        return Response(problem | body, status_code=HTTPStatus.CONFLICT, media_type=MEDIA_TYPE)
    return Response(body)


def _result(result: Result) -> dict[str, Any]:
    error = None
    if result.error is not None:
        error = json.loads(describe(result.error).body)
    return {
        "id": result.memory_id,
        "ok": result.error is None,
        "revision": result.revision,
        "status": result.status,
        "error": error,
    }


ROUTES = (run_batch,)
