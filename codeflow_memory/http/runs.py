"""``/api/runs``: start a run and get its token, end it."""

from typing import Any

from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from pydantic import BaseModel, Field

from codeflow_memory.domain.run import Run
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import CHANGES, READS
from codeflow_memory.http.turning import Cursor, Limit, turn
from codeflow_memory.services import runs
from codeflow_memory.services.runs import DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS, NewRun

_RUN = "run_01KABCDEFGHJKMNPQRSTVWXYZ0"


class NewRunBody(Input):
    """What a run is bound to; ``project_id`` may be left out where there is one project."""

    agent: str = Field(examples=["claude-code"])
    repo: str | None = Field(None, max_length=4096, examples=["shop"])
    project_id: str | None = Field(None, max_length=200, examples=["checkout"])
    branch: str | None = Field(None, examples=["main"])
    team_id: str | None = Field(None, max_length=200)
    ttl_seconds: int = Field(DEFAULT_TTL_SECONDS, ge=1, le=MAX_TTL_SECONDS)

    def to_run(self) -> NewRun:
        """Leave the wire format."""
        return NewRun(
            self.agent, self.repo, self.project_id, self.branch, self.team_id, self.ttl_seconds
        )


class EndBody(Input):
    """Nothing goes with the end of a run."""


class RunBody(BaseModel):
    """A run; ``ended_at`` is null while it goes on."""

    run_id: str = Field(examples=[_RUN])
    repository_id: str
    project_id: str
    branch: str | None
    agent: str
    team_id: str | None
    live_entries: int
    started_at: str
    ended_at: str | None


class StartedBody(RunBody):
    """A run that was started; the token is null in the answer to a repetition of the request."""

    token: str | None
    expires_at: str


class RunsBody(BaseModel):
    """A page of runs."""

    items: list[RunBody]
    next_cursor: str | None


class RunController(Controller):
    """The caller's own runs."""

    path = "/api/runs"
    tags = ("runs",)

    @post(responses=refusals(*CHANGES))
    async def start(
        self, data: JSONBody[NewRunBody], change: NamedDependency[Change]
    ) -> Response[StartedBody]:
        """Start a run; its token reads and writes in one project and can only narrow the caller."""
        started = await change.run(runs.start, data.to_run(), change.operation)
        body: Any = wire(started.run) | {
            "token": started.text,
            "expires_at": to_rfc3339(started.expires_at),
        }
        return Response(body)

    @get(responses=refusals(*READS))
    async def find(
        self,
        call: NamedDependency[Call],
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[RunsBody]:
        """List the caller's runs, newest first."""
        items, after = await turn(call, "runs", {}, runs.page, cursor, limit)
        body: Any = {"items": [wire(run) for run in items], "next_cursor": after}
        return Response(body)

    @get("/{run_id:str}", responses=refusals(*READS))
    async def get_one(
        self, run_id: FromPath[str], call: NamedDependency[Call]
    ) -> Response[RunBody]:
        """Return a run of the caller's."""
        body: Any = wire(await call.run(runs.show, run_id))
        return Response(body)

    @post("/{run_id:str}/end", status_code=200, responses=refusals(*CHANGES))
    async def end(
        self,
        run_id: FromPath[str],
        data: JSONBody[EndBody],  # noqa: ARG002 - checked by reading it
        change: NamedDependency[Change],
    ) -> Response[RunBody]:
        """End a run: its token is dead at once."""
        body: Any = wire(await change.run(runs.end, run_id, change.operation))
        return Response(body)


def wire(run: Run) -> dict[str, object]:
    """Write a run; see `RunBody`."""
    return {
        "run_id": run.run_id,
        "repository_id": run.repository_id,
        "project_id": run.project_id,
        "branch": run.branch,
        "agent": run.agent,
        "team_id": run.team_id,
        "live_entries": run.live_entries,
        "started_at": to_rfc3339(run.started_at),
        "ended_at": None if run.ended_at is None else to_rfc3339(run.ended_at),
    }


ROUTES = (RunController,)
