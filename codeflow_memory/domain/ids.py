"""Identifiers: a prefix that names the kind and a ULID, monotonic within one process."""

import threading
from collections.abc import Callable

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
"""Two digits at a time: a write makes three ids, and digit by digit they took 20 µs of it."""

_RANDOM_BITS = 80
_TIME_BITS = 48


class Ids:
    """Makes identifiers that sort by creation within this process.

    Args:
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for.

    Source:
        The ULID specification: 48 bits of milliseconds, 80 random bits, Crockford's base 32.
    """

    def __init__(self, now: Callable[[], int], random_bytes: Callable[[int], bytes]) -> None:
        self._now = now
        self._random_bytes = random_bytes
        self._lock = threading.Lock()
        self._last = 0

    def new(self, prefix: str) -> str:
        """Return ``<prefix>_<26 characters>``; greater than every one before it."""
        with self._lock:
            milliseconds = self._now() // 1000
            fresh = int.from_bytes(self._random_bytes(_RANDOM_BITS // 8), "big")
            value = milliseconds << _RANDOM_BITS | fresh
            if milliseconds <= self._last >> _RANDOM_BITS:
                # Within one millisecond, and when the clock steps back, count on from the last.
                value = self._last + 1
            self._last = value
        return f"{prefix}_{_base32(value)}"


def _base32(value: int) -> str:
    pairs = []
    for _ in range((_TIME_BITS + _RANDOM_BITS + 4) // 10):
        pairs.append(_PAIRS[value & 1023])
        value >>= 10
    return "".join(reversed(pairs))
