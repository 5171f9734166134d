"""Which failures are tried again, and after how long."""

import random
from dataclasses import dataclass
from http import HTTPStatus

from codeflow_memory_client.asking import Ask
from codeflow_memory_client.errors import (
    ClientError,
    ConnectionLostError,
    ProblemError,
    UnexpectedAnswerError,
)
from codeflow_memory_client.problems import BusyError, RateLimitedError

_OF_PROXIES = frozenset(
    {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)


@dataclass(frozen=True, slots=True)
class Retry:
    """How patient a client is; all waits in seconds.

    Args:
        tries: The most requests that one call makes, at least 1; 1 tries nothing again.
        first_wait: Before the second; each next one is twice as long. A wait is drawn from its
            upper half, so that many clients do not come back at once.
        longest_wait: That it grows to.
        patience: The most that one call waits between its tries, all in all. Where the server
            asks for more, its refusal is raised at once.
    """

    tries: int = 5
    first_wait: float = 0.1
    longest_wait: float = 5.0
    patience: float = 60.0

    def __post_init__(self) -> None:
        if self.tries < 1 or min(self.first_wait, self.longest_wait, self.patience) < 0:
            raise ValueError("at least 1 try, and no wait below 0 s")

    def wait(self, ask: Ask, failure: ClientError, tried: int, waited: float) -> float | None:
        """Tell how many seconds to wait before the next try; ``None``: there is none.

        Args:
            ask: What was asked.
            failure: How the last try ended.
            tried: How many there were, from 1.
            waited: Seconds between them so far.
        """
        if tried >= self.tries or not is_passing(ask, failure):
            return None
        grown = min(self.longest_wait, self.first_wait * 2 ** min(tried - 1, 32))
        drawn = grown * (1 + random.random()) / 2  # noqa: S311 - only spreads clients
        seconds = max(drawn, asked_for(failure))
        return seconds if waited + seconds <= self.patience else None


def is_passing(ask: Ask, failure: ClientError) -> bool:
    """Tell whether the same request may succeed later, and whether it may be sent again.

    ================================================  ==================
    a rate limit                                      yes
    the server was not reached                        yes
    busy: whether it was done may not be known        if it can be repeated
    the connection was lost after the request         if it can be repeated
    502, 503 or 504 of something before the server    if it can be repeated
    anything else                                     no
    ================================================  ==================
    """
    match failure:
        case RateLimitedError() | ConnectionLostError(sent=False):
            return True
        case BusyError() | ConnectionLostError():
            return ask.repeatable
        case UnexpectedAnswerError(status=status):
            return ask.repeatable and status in _OF_PROXIES
        case _:
            return False


def asked_for(failure: ClientError) -> float:
    """Return the seconds that the server asked to wait; 0 where it did not."""
    if isinstance(failure, ProblemError | UnexpectedAnswerError):
        return failure.retry_after or 0.0
    return 0.0
