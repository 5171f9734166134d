"""``POST /api/undo``: puts back what a batch changed."""

from dataclasses import asdict
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from pydantic import BaseModel, Field, model_validator

from codeflow_memory.domain import errors
from codeflow_memory.http.caller import Change
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import CHANGES
from codeflow_memory.services import undo


class UndoBody(Input):
    """What to undo: a batch, or an entry's last change; neither is the caller's last batch."""

    batch: str | None = Field(default=None, min_length=1, max_length=200)
    item: str | None = Field(default=None, min_length=1, max_length=200)
    dry_run: bool = False

    @model_validator(mode="after")
    def _one(self) -> "UndoBody":
        if None not in {self.batch, self.item}:
            raise ValueError("batch or item, not both")
        return self


class RevertedBody(BaseModel):
    """An entry that was put back, and its revisions before and after; no second in a dry run."""

    memory_id: str
    from_revision: int
    to_revision: int | None


class UndoneBody(BaseModel):
    """The batch that the undo is, the one that it put back, and each entry of that.

    A dry run is no batch: its `batch_id` is the one that would be put back.
    """

    batch_id: str
    of_batch: str
    reverted: list[RevertedBody]


@post(
    "/api/undo",
    status_code=200,
    tags=["governance"],
    responses=refusals(*CHANGES, errors.IllegalTransitionError, errors.UndoConflictError),
)
async def undo_changes(
    data: JSONBody[UndoBody], change: NamedDependency[Change]
) -> Response[UndoneBody]:
    """Put back what a batch changed, as new revisions; 409 names what was changed since."""
    if data.dry_run:
        meant = await change.run(undo.preview, batch=data.batch, item=data.item)
        listed = [asdict(r) | {"to_revision": None} for r in meant.reverted]
        told: Any = {"batch_id": meant.of_batch, "of_batch": meant.of_batch, "reverted": listed}
        return Response(told)
    done = await change.run(undo.undo, change.operation, batch=data.batch, item=data.item)
    body: Any = asdict(done)
    return Response(body)


ROUTES = (undo_changes,)
