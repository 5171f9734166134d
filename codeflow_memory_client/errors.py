"""What a call can end with beside an answer.

``ClientError``
    ``ConnectionLostError``: no whole answer came.
    ``UnexpectedAnswerError``: an answer came, and it is none of this API's.
    ``ProblemError``: the server refused; `problems` has one class for each type of problem.

No sentence quotes the token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class ClientError(Exception):
    """The root."""


class ConnectionLostError(ClientError):
    """The server could not be reached, or went away before its answer was whole.

    Args:
        sentence: What happened.
        sent: Whether the server may have got the request. A write may then have happened: the
            same call with the same ``operation_id`` tells, and does nothing twice.
    """

    def __init__(self, sentence: str, *, sent: bool) -> None:
        super().__init__(sentence)
        self.sent = sent


class UnexpectedAnswerError(ClientError):
    """Something else answered: a proxy, another program, a server that points elsewhere.

    Args:
        status: Of the answer.
        retry_after: Seconds it asked to wait; ``None`` where it did not.
    """

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"an answer of status {status} that is none of Code Flow Memory's")
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a request: a JSON pointer (RFC 6901), or a name, and what is wrong."""

    pointer: str
    detail: str


class ProblemError(ClientError):
    """The server refused (RFC 9457); nothing was changed.

    Args:
        members: Of the problem document.
        status: Of the answer.
        retry_after: Seconds it asked to wait; ``None`` where it did not.
        request_id: Under which the server's log has the details.
    """

    code: ClassVar[str] = ""
    """The stable word of the class; empty for a problem that this version does not know."""

    def __init__(
        self,
        members: Mapping[str, Any],
        *,
        status: int,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(str(members.get("detail", status)))
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id
        self.type = str(members.get("type", ""))
        self.title = str(members.get("title", ""))
        self.facts: Mapping[str, Any] = {k: v for k, v in members.items() if k not in _ENVELOPE}
        """The other members, by name: what a program may want to know."""

    @property
    def faults(self) -> Sequence[Fault]:
        """What is wrong with the request, in its order; empty where the problem is another."""
        told = self.facts.get("errors", [])
        return [Fault(str(one["pointer"]), str(one["detail"])) for one in told]


_ENVELOPE = frozenset({"type", "title", "status", "detail", "code"})
