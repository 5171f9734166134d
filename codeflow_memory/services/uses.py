"""Uses: when each token was last used, written now and then and never within a request."""

import threading

from codeflow_memory.domain.times import HOUR

PRECISION = HOUR
"""Microseconds: within them a use is not written again."""


class Uses:
    """Collects the uses of one tenant's tokens until they are written."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, int] = {}

    def note(self, token_id: str, last_used_at: int | None, at: int) -> None:
        """Remember a use at *at*, unless one within `PRECISION` is stored already."""
        if last_used_at is not None and at - last_used_at < PRECISION:
            return
        with self._lock:
            self._seen[token_id] = at

    def take(self) -> dict[str, int]:
        """Return what was collected, token id to time, and begin anew."""
        with self._lock:
            seen, self._seen = self._seen, {}
        return seen
