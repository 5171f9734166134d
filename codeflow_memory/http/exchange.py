"""One request and its answer, as far as code in the middle needs to know of them.

The edge makes an `Exchange` for each request and publishes it for the request's own task: logs take
the request id from it, and what it collects in ``headers`` goes onto whatever answer is sent, a
refusal too.
"""

from contextvars import ContextVar
from dataclasses import dataclass, field

from codeflow_memory.domain.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Caller:
    """Who was found to make a request: ids alone, for logs and counters."""

    tenant: str
    principal_id: str
    token_id: str | None


@dataclass(slots=True)
class Exchange:
    """A request that is being served.

    Args:
        request_id: Made by this server, never taken from the client.
        deadline: Cancelled when the client goes away.
        headers: Lower-case names and values that the answer will carry.
        caller: Set once the caller is known.
        code: Of the last refusal that was described for this request.
    """

    request_id: str
    deadline: Deadline
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    caller: Caller | None = None
    code: str | None = None


current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""Set by the edge; ``None`` outside a request."""


def add_headers(headers: dict[str, str]) -> None:
    """Put *headers* (ASCII) onto the answer of the current request, whichever it will be."""
    exchange = current.get()
    if exchange is not None:
        exchange.headers.extend(
            (name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()
        )


def identify(caller: Caller) -> None:
    """Note who makes the current request."""
    exchange = current.get()
    if exchange is not None:
        exchange.caller = caller


def note_refusal(code: str) -> None:
    """Note with which code the current request is refused."""
    exchange = current.get()
    if exchange is not None:
        exchange.code = code


def request_id() -> str:
    """Return the current request's id; ``-`` outside a request."""
    exchange = current.get()
    return "-" if exchange is None else exchange.request_id
