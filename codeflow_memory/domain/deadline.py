"""The deadline of the request that is being served, for code that can stop in the middle."""

import time
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Deadline:
    """When to stop: at a moment of the monotonic clock, or once somebody cancels.

    Args:
        at: Seconds of ``time.monotonic``.
    """

    at: float
    cancelled: bool = False

    def passed(self) -> bool:
        """Tell whether the work should stop now."""
        return self.cancelled or time.monotonic() >= self.at

    def left_ms(self) -> int:
        """Return how many milliseconds are left, at least 1."""
        return max(1, int((self.at - time.monotonic()) * 1_000))


current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
"""Set for the time of one request; ``None`` means no deadline."""
