"""Rates: how much may happen in a while, counted in buckets that refill evenly.

State in memory and nothing else; a clock is handed in. Whoever shares buckets among threads locks.
"""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MAX_BUCKETS: Final = 10_000
"""Of one kind; the bucket unused for longest goes first, and comes back full."""

_IPV6_SITE_BITS = 64


@dataclass(frozen=True, slots=True)
class Rate:
    """At most *count* in any burst, refilled evenly over *seconds*."""

    count: int
    seconds: int


class Buckets:
    """Buckets of one rate, by key.

    Args:
        rate: Of each bucket.
        now: Seconds of a clock that never steps back.
        maximum: How many buckets are kept.
    """

    def __init__(self, rate: Rate, now: Callable[[], float], *, maximum: int) -> None:
        self._rate = rate
        self._now = now
        self._maximum = maximum
        self._filled: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._filled)

    def level(self, key: str) -> float:
        """Return how many may pass now, from 0 to the rate's count."""
        return max(0.0, self._amount(key))

    def take(self, key: str) -> None:
        """Let one pass; one that passes although the level is below 1 leaves it at 0."""
        amount = self._amount(key)
        self._fill(key, max(min(0.0, amount), amount - 1))

    def give_back(self, key: str) -> None:
        """Undo a `take`: what was let pass turned out not to count."""
        self._filled[key] = (min(float(self._rate.count), self._amount(key) + 1), self._now())

    def seconds_until(self, key: str, level: float) -> int:
        """Return after how many whole seconds the bucket reaches *level*; 0 when it has."""
        lacking = max(0.0, level - self._amount(key))
        # Without the rounding, a float's last bit would add a whole second.
        return math.ceil(round(lacking * self._rate.seconds / self._rate.count, 6))

    def _amount(self, key: str) -> float:
        """Return what is in a bucket: below 0 where more than that passed."""
        tokens, at = self._filled.get(key, (float(self._rate.count), self._now()))
        refilled = (self._now() - at) * self._rate.count / self._rate.seconds
        return min(float(self._rate.count), tokens + refilled)

    def _fill(self, key: str, amount: float) -> None:
        self._filled[key] = (amount, self._now())
        self._filled.move_to_end(key)
        while len(self._filled) > self._maximum:
            self._filled.popitem(last=False)


class SharedBuckets(Buckets):
    """Buckets from which others take as well: what was taken here is told, the sum is heard."""

    def __init__(self, rate: Rate, now: Callable[[], float], *, maximum: int) -> None:
        super().__init__(rate, now, maximum=maximum)
        self._untold: OrderedDict[str, int] = OrderedDict()

    def take(self, key: str) -> None:
        """Let one pass, and remember to tell of it."""
        super().take(key)
        self._untold[key] = self._untold.get(key, 0) + 1
        while len(self._untold) > self._maximum:
            self._untold.popitem(last=False)

    def give_back(self, key: str) -> None:
        """Undo a `take`, whether it was told or not."""
        super().give_back(key)
        self._untold[key] = self._untold.get(key, 0) - 1

    def untold(self) -> dict[str, float]:
        """Return how many seconds it takes to refill what was taken and not told, by key.

        What was told the last time is there once more, with nothing: others may have told since.
        """
        return {key: count * self._each for key, count in self._untold.items()}

    def settle(self, key: str, told: float, lacking: float) -> None:
        """Hear what a bucket lacks.

        Args:
            key: The bucket's.
            told: Seconds of what was taken here that the others know of now.
            lacking: Seconds until it is full again, whoever took from it.
        """
        left = self._untold.pop(key, 0) - round(told / self._each)
        if left or told:
            self._untold[key] = left
        self._fill(key, self._rate.count - lacking / self._each - left)

    @property
    def _each(self) -> float:
        return self._rate.seconds / self._rate.count


def site(address: str) -> str:
    """Return what the peers behind *address* are counted as: itself, or its IPv6 site (/64).

    The owner of a site can change the addresses within it at will. What is no address stands for
    itself.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), _IPV6_SITE_BITS), strict=False))
    return str(parsed)
