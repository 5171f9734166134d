"""One request and its answer, as far as code in the middle needs to know of them.

The edge makes an `Exchange` for each request and publishes it for the request's own task: logs take
the request id from it, and what it collects in ``headers`` goes onto whatever answer is sent, a
refusal too.
"""

from contextvars import ContextVar
from dataclasses import dataclass, field

from codeflow_memory.domain.deadline import Deadline


@dataclass(slots=True)
class Exchange:
    """A request that is being served.

    Args:
        request_id: Made by this server, never taken from the client.
        deadline: Cancelled when the client goes away.
        headers: Lower-case names and values that the answer will carry.
    """

    request_id: str
    deadline: Deadline
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""Set by the edge; ``None`` outside a request."""


def add_headers(headers: dict[str, str]) -> None:
    """Put *headers* (ASCII) onto the answer of the current request, whichever it will be."""
    exchange = current.get()
    if exchange is not None:
        exchange.headers.extend(
            (name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()
        )


def request_id() -> str:
    """Return the current request's id; ``-`` outside a request."""
    exchange = current.get()
    return "-" if exchange is None else exchange.request_id
