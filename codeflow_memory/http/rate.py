"""Rate limits: token buckets in memory, one process's own.

A request must find room in its token's bucket and in its tenant's. Failed sign-ins are counted by
peer address, and only failures are: a valid token from the same address is never held up by them.
Used from the event loop alone, hence without locks.
"""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from codeflow_memory.domain.errors import RateLimitedError

MAX_BUCKETS: Final = 10_000
"""Of one kind; the bucket unused for longest goes first, and comes back full."""

_IPV6_SITE_BITS = 64


@dataclass(frozen=True, slots=True)
class Rate:
    """At most *count* in any burst, refilled evenly over *seconds*."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Rates:
    """What a configuration may set; the defaults are those of the specification."""

    token: Rate = Rate(600, 60)
    tenant: Rate = Rate(6_000, 60)
    failed_sign_in: Rate = Rate(20, 15 * 60)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a request may go on, and the headers that its answer carries either way.

    The headers speak of the token's own bucket only: the tenant's would tell of others.
    """

    headers: dict[str, str]
    refusal: RateLimitedError | None


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
        tokens, at = self._filled.get(key, (float(self._rate.count), self._now()))
        refilled = (self._now() - at) * self._rate.count / self._rate.seconds
        return min(float(self._rate.count), tokens + refilled)

    def take(self, key: str) -> None:
        """Let one pass; the caller has seen a level of at least 1."""
        self._filled[key] = (self.level(key) - 1, self._now())
        self._filled.move_to_end(key)
        while len(self._filled) > self._maximum:
            self._filled.popitem(last=False)

    def seconds_until(self, key: str, level: float) -> int:
        """Return after how many whole seconds the bucket reaches *level*; 0 when it has."""
        lacking = max(0.0, level - self.level(key))
        # Without the rounding, a float's last bit would add a whole second.
        return math.ceil(round(lacking * self._rate.seconds / self._rate.count, 6))


class RateLimits:
    """The limits of one server.

    Args:
        rates: How much is allowed.
        now: Seconds of a clock that never steps back.
        maximum: How many buckets of each kind are kept.
    """

    def __init__(
        self, rates: Rates, now: Callable[[], float], *, maximum: int = MAX_BUCKETS
    ) -> None:
        self._rates = rates
        self._tokens = Buckets(rates.token, now, maximum=maximum)
        self._tenants = Buckets(rates.tenant, now, maximum=maximum)
        self._failures = Buckets(rates.failed_sign_in, now, maximum=maximum)

    def admit(self, token_id: str, tenant: str) -> Admission:
        """Count one request of a valid token; a refused one costs neither bucket anything."""
        wait = max(self._tokens.seconds_until(token_id, 1), self._tenants.seconds_until(tenant, 1))
        if not wait:
            self._tokens.take(token_id)
            self._tenants.take(tenant)
        headers = {
            "RateLimit-Limit": str(self._rates.token.count),
            "RateLimit-Remaining": str(math.floor(self._tokens.level(token_id))),
            "RateLimit-Reset": str(self._tokens.seconds_until(token_id, self._rates.token.count)),
        }
        return Admission(headers, RateLimitedError(retry_after_seconds=wait) if wait else None)

    def fail_sign_in(self, address: str) -> RateLimitedError | None:
        """Count one failed sign-in; return the refusal to answer with once there were too many.

        Args:
            address: The peer's own, never one that a header claims. The addresses of one IPv6 site
                (/64) count as one, because its owner can change them at will.
        """
        key = _site(address)
        wait = self._failures.seconds_until(key, 1)
        if wait:
            return RateLimitedError(retry_after_seconds=wait)
        self._failures.take(key)
        return None


def _site(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), _IPV6_SITE_BITS), strict=False))
    return str(parsed)
