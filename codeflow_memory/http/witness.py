"""What became of each request, for those who count or log it: never what was in it."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from codeflow_memory.http import exchange
from codeflow_memory.http.exchange import Caller

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "OTHER"
UNMATCHED: Final = "unmatched"
"""What stands for a method or a path that is none of ours: the client made it up."""

_REFUSED = 400

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """A request that is over.

    Args:
        request_id: Made by this server.
        method: One of `METHODS`, or `OTHER`.
        route: The template of its route, or `UNMATCHED`.
        status: 0 when no answer was begun: the client was gone.
        seconds: From its head to the end of its answer.
        code: Of the refusal.
        caller: Who made it, where somebody was known.
    """

    request_id: str
    method: str
    route: str
    status: int
    seconds: float
    code: str | None
    caller: Caller | None


Observer = Callable[[Served], None]
"""Told of a request once it is over, on the event loop: it must not wait for anything."""


class Witness:
    """ASGI middleware around the edge.

    Args:
        app: The edge.
        observers: Whom to tell, in this order.
    """

    def __init__(self, app: ASGIApp, observers: Sequence[Observer]) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, and tell how it went."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, sending)
        finally:
            served = _served(scope, status, time.perf_counter() - began)
            for observer in self._observers:
                observer(served)


def log(served: Served) -> None:
    """Write one line about a request; an `Observer`."""
    caller = served.caller
    fields = {
        "request_id": served.request_id,
        "method": served.method,
        "route": served.route,
        "status": served.status,
        "code": served.code,
        "duration_ms": round(served.seconds * 1_000, 1),
    }
    if caller is not None:
        fields |= {
            "tenant": caller.tenant,
            "principal_id": caller.principal_id,
            "token_id": caller.token_id,
        }
    _log.info("request", extra=fields)


def _served(scope: Scope, status: int, seconds: float) -> Served:
    # The edge set it in this task; it is another one for each request.
    current = exchange.current.get()
    method = str(scope.get("method"))
    refused = status >= _REFUSED and current is not None
    return Served(
        request_id=exchange.request_id(),
        method=method if method in METHODS else OTHER,
        route=str(scope.get("path_template") or UNMATCHED),
        status=status,
        seconds=seconds,
        code=current.code if refused and current is not None else None,
        caller=None if current is None else current.caller,
    )
