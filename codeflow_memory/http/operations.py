"""``/metrics`` and ``/api/status``: how a tenant is run, for those who run it."""

from dataclasses import asdict
from typing import Any, Protocol

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from pydantic import BaseModel, Field

from codeflow_memory import __version__
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.http.caller import Call
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.refused import READS
from codeflow_memory.services import operations
from codeflow_memory.services.operations import Gauges

PROMETHEUS = "text/plain; version=0.0.4"


class Exposition(Protocol):
    """The counters of this process."""

    def text(self, tenant: str, gauges: Gauges, pool: Pool) -> bytes:
        """Write what an operator of *tenant* is shown."""


class UseBody(BaseModel):
    """How far the fullest project or scope has come toward a limit."""

    limit: str = Field(examples=["project_entries"])
    value: int
    maximum: int


class AuditBody(BaseModel):
    """The audit: its rows, its checkpoints, and the rows after the last of them."""

    rows: int
    checkpoints: int
    rows_since: int


class JobsBody(BaseModel):
    """Jobs that wait or run, and those that were given up."""

    waiting: int
    dead: int


class OperationsBody(BaseModel):
    """How the tenant is run. What concerns the whole home is shown in the tenant `local` alone."""

    schema_version: int
    database_bytes: int
    audit: AuditBody
    jobs: JobsBody
    limits: list[UseBody]
    last_backup: dict[str, str] | None = Field(examples=[{"at": "2026-05-01T02:00:00Z"}])
    last_drill: dict[str, str] | None = Field(
        examples=[{"at": "2026-05-01T03:00:00Z", "outcome": "succeeded"}]
    )
    earlier_states: list[str] = Field(examples=[["memory.schema-1.sqlite"]])


class StatusBody(BaseModel):
    """The program's version; the rest for operators and owners of the tenant, else null."""

    version: str = Field(examples=[__version__])
    operations: OperationsBody | None


@get(
    "/metrics",
    tags=["health"],
    media_type=PROMETHEUS,
    responses=refusals(*READS)
    | {200: ResponseSpec(str, generate_examples=False, media_type=PROMETHEUS)},
)
async def metrics(
    call: NamedDependency[Call], exposition: NamedDependency[Any], pool: NamedDependency[Pool]
) -> Response[bytes]:
    """Give the tenant's counters in the text format of Prometheus, to operators and owners."""
    gauges = await call.run(operations.measure)
    if exposition is None:
        # An application inside a command serves one caller, once: there is nothing to count.
        raise NotFoundError("route here")
    told: Exposition = exposition
    return Response(told.text(call.access.tenant, gauges, pool), media_type=PROMETHEUS)


@get("/api/status", tags=["health"], responses=refusals(*READS))
async def status(call: NamedDependency[Call]) -> Response[StatusBody]:
    """Say which version runs and, to operators and owners, how the tenant is run."""
    found = await call.run(operations.status)
    return Response(StatusBody(version=__version__, operations=found and _body(*found)))


def _body(gauges: Gauges, upkeep: operations.Upkeep) -> OperationsBody:
    return OperationsBody(
        schema_version=gauges.schema,
        database_bytes=gauges.database_bytes,
        audit=AuditBody(
            rows=gauges.audit_rows,
            checkpoints=gauges.audit_checkpoints,
            rows_since=gauges.audit_rows_since,
        ),
        jobs=JobsBody(waiting=gauges.jobs_waiting, dead=gauges.jobs_dead),
        limits=[
            UseBody(limit=use.name, value=use.used, maximum=use.maximum) for use in gauges.limits
        ],
        **asdict(upkeep),
    )


ROUTES = (metrics, status)
