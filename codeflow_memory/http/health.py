"""``/healthz`` and ``/readyz``: whether the process lives, and whether it can serve."""

from litestar import Response, get
from litestar.di import NamedDependency

from codeflow_memory.domain.errors import BusyError, StoreUnusableError
from codeflow_memory.http.caller import PUBLIC
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.readiness import Readiness


@get("/healthz", tags=["health"], security=[{}], opt={PUBLIC: True})
async def healthz() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@get(
    "/readyz",
    tags=["health"],
    security=[{}],
    opt={PUBLIC: True},
    responses=refusals(BusyError, StoreUnusableError),
)
async def readyz(readiness: NamedDependency[Readiness]) -> Response[dict[str, str]]:
    """Say whether work can be done: a thread and the database must answer, within seconds."""
    await readiness.check()
    return Response({"status": "ok"})


ROUTES = (healthz, readyz)
