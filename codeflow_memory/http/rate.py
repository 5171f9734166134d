"""Rate limits: token buckets in memory, one process's own.

A request must find room in its token's bucket and in its tenant's. Failed sign-ins are counted by
peer address, and only failures are: a valid token from the same address is never held up by them.
Used from the event loop alone, hence without locks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from codeflow_memory.domain.errors import RateLimitedError
from codeflow_memory.domain.rate import MAX_BUCKETS, Buckets, Rate, site

_TOKEN = Rate(600, 60)
_TENANT = Rate(6_000, 60)
_FAILED_SIGN_IN = Rate(20, 15 * 60)


@dataclass(frozen=True, slots=True)
class Rates:
    """What a configuration may set; the defaults are those of the specification."""

    token: Rate = _TOKEN
    tenant: Rate = _TENANT
    failed_sign_in: Rate = _FAILED_SIGN_IN


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a request may go on, and the headers that its answer carries either way.

    The headers speak of the token's own bucket only: the tenant's would tell of others.
    """

    headers: dict[str, str]
    refusal: RateLimitedError | None


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
        key = site(address)
        wait = self._failures.seconds_until(key, 1)
        if wait:
            return RateLimitedError(retry_after_seconds=wait)
        self._failures.take(key)
        return None
