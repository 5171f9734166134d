"""``/healthz`` and ``/readyz``: whether the process lives, and whether it can serve."""

from functools import partial

from litestar import Response, get
from litestar.di import NamedDependency

from codeflow_memory.http.caller import PUBLIC
from codeflow_memory.http.pool import Pool


@get("/healthz", tags=["health"], security=[{}], opt={PUBLIC: True})
async def healthz() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@get("/readyz", tags=["health"], security=[{}], opt={PUBLIC: True})
async def readyz(pool: NamedDependency[Pool]) -> Response[dict[str, str]]:
    """Say whether work is taken: a thread of the pool must answer."""
    return Response(await pool.run(partial(dict, status="ok")))


ROUTES = (healthz, readyz)
