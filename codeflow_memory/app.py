"""Wiring, once: the stores, the pool and the rate limits become one ASGI application."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from litestar import Litestar, Request, Response
from litestar.di import Provide
from litestar.plugins.pydantic import PydanticPlugin
from litestar.types import ASGIApp, ControllerRouterHandler

from codeflow_memory import __version__
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.rate import Rate
from codeflow_memory.http import (
    admin,
    audits,
    batch,
    graph,
    health,
    mcp,
    memories,
    operations,
    predicates,
    projects,
    queue,
    repositories,
    runs,
    search,
    selections,
    tools,
    trust,
    undo,
    verification,
)
from codeflow_memory.http.admission import EdgePolicy, origins_of
from codeflow_memory.http.bodies import StrictRequest
from codeflow_memory.http.caller import Callers, Stores, provide_change
from codeflow_memory.http.docs_page import docs_policy
from codeflow_memory.http.edge import Edge
from codeflow_memory.http.openapi import PATH as DOCS
from codeflow_memory.http.openapi import openapi_config
from codeflow_memory.http.operations import Exposition
from codeflow_memory.http.options import answer_options
from codeflow_memory.http.parameters import check_parameters, learn_parameters
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.problems import exception_handlers
from codeflow_memory.http.rate import RateLimits, Rates
from codeflow_memory.http.readiness import Readiness
from codeflow_memory.http.sharing import Sharing
from codeflow_memory.http.witness import Observer, Witness
from codeflow_memory.mcp.gateway import Gateway
from codeflow_memory.settings import Settings

THREADS = 4
WAITING = 256
"""Requests that may wait for a thread before the answer is ``busy``."""

MINUTE = 60
QUARTER_HOUR = 15 * MINUTE

ROUTES: tuple[ControllerRouterHandler, ...] = (
    *admin.ROUTES,
    *repositories.ROUTES,
    *projects.ROUTES,
    *runs.ROUTES,
    *memories.ROUTES,
    *audits.ROUTES,
    *batch.ROUTES,
    *queue.ROUTES,
    *trust.ROUTES,
    *predicates.ROUTES,
    *undo.ROUTES,
    *search.ROUTES,
    *selections.ROUTES,
    *graph.ROUTES,
    *verification.ROUTES,
    *tools.ROUTES,
    *mcp.ROUTES,
    *health.ROUTES,
    *operations.ROUTES,
)


@dataclass(frozen=True, slots=True)
class Wiring:
    """What an application is made from.

    Args:
        stores: The tenants that it serves.
        settings: The operator's configuration.
        hosts: Every ``Host`` value that is served.
        new_id: Makes request ids.
        fixed: The caller of an application inside this process, in place of tokens and limits.
        observers: Told of each request that is over, where there is no such caller.
        shared: Whether other servers serve the same tenants.
    """

    stores: Stores
    settings: Settings
    hosts: Iterable[str]
    new_id: Callable[[], str]
    fixed: Callable[[], Access] | None = None
    observers: tuple[Observer, ...] = ()
    shared: bool = False


def create_app(wiring: Wiring) -> ASGIApp:
    """Return the whole application, its edge around it."""
    hosts = frozenset(wiring.hosts)
    policy = EdgePolicy(hosts, origins_of(hosts), content_policies={DOCS: docs_policy()})
    if wiring.fixed is not None:
        return Edge(create_litestar(wiring), policy, wiring.new_id)
    # A library of its own, that a command with the application inside does without.
    from codeflow_memory.http.measures import Measures  # noqa: PLC0415 - see above

    measures = Measures()
    edge = Edge(create_litestar(wiring, measures), policy, wiring.new_id)
    return Witness(edge, (measures.count, *wiring.observers))


def create_litestar(wiring: Wiring, exposition: Exposition | None = None) -> Litestar:
    """Return the application without its edge; *exposition* is what ``/metrics`` shows."""
    pool = Pool(threads=THREADS, waiting=WAITING)
    limits = None if wiring.fixed else _limits(wiring)
    callers = Callers(wiring.stores, pool, limits, wiring.fixed)
    readiness = Readiness(pool, wiring.stores)
    gateway = Gateway(__version__)
    sharing = [Sharing(limits, wiring.stores).lifespan] if limits and wiring.shared else []
    app = Litestar(
        route_handlers=ROUTES,
        dependencies={
            "pool": Provide(lambda: pool, sync_to_thread=False),
            "readiness": Provide(lambda: readiness, sync_to_thread=False),
            "gateway": Provide(lambda: gateway, sync_to_thread=False),
            "exposition": Provide(lambda: exposition, sync_to_thread=False),
            "call": Provide(callers.call),
            "change": Provide(provide_change),
        },
        guards=[callers.guard],
        before_request=_before,
        exception_handlers=exception_handlers(),
        logging_config=None,
        request_class=StrictRequest,
        # Otherwise the description has Python's names of fields, where the wire has others.
        plugins=[PydanticPlugin(prefer_alias=True)],
        openapi_config=openapi_config(title="Code Flow Memory", version=__version__),
        on_shutdown=[pool.close],
        lifespan=[gateway.lifespan, *sharing],
    )
    learn_parameters(app)
    return app


async def _before(request: Request[Any, Any, Any]) -> Response[None] | None:
    answered = await answer_options(request)
    if answered is None:
        check_parameters(request)
    return answered


def _limits(wiring: Wiring) -> RateLimits:
    limits = wiring.settings.limits
    rates = Rates(
        token=Rate(limits.requests_per_minute_token, MINUTE),
        tenant=Rate(limits.requests_per_minute_tenant, MINUTE),
        failed_sign_in=Rate(limits.failed_sign_ins, QUARTER_HOUR),
    )
    return RateLimits(rates, time.monotonic, shared=wiring.shared)
