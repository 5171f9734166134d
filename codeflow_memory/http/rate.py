"""Rate limits: token buckets in memory, one process's own or shared by several.

A request must find room in its token's bucket and in its tenant's. Failed sign-ins are counted by
peer address, and only failures are: a valid token from the same address is never held up by them.
Used from the event loop alone, hence without locks.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter

from codeflow_memory.domain.errors import RateLimitedError
from codeflow_memory.domain.rate import MAX_BUCKETS, Buckets, Rate, SharedBuckets, site
from codeflow_memory.domain.tenant import LOCAL

_TOKEN = Rate(600, 60)
_TENANT = Rate(6_000, 60)
_FAILED_SIGN_IN = Rate(20, 15 * 60)

_MICROSECONDS = 1_000_000
_ADDRESS = "address"

MAX_TOLD = 1_000
"""Buckets of a kind that are told of at once: those of which most was taken."""


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
        shared: Whether other servers serve the same tenants; `untold` and `settle` are for that.
    """

    def __init__(
        self,
        rates: Rates,
        now: Callable[[], float],
        *,
        maximum: int = MAX_BUCKETS,
        shared: bool = False,
    ) -> None:
        kind = SharedBuckets if shared else Buckets
        self._rates = rates
        self._tokens = kind(rates.token, now, maximum=maximum)
        self._tenants = kind(rates.tenant, now, maximum=maximum)
        self._failures = kind(rates.failed_sign_in, now, maximum=maximum)

    def admit(self, token_id: str, tenant: str) -> Admission:
        """Count one request of a valid token; a refused one costs neither bucket anything."""
        token = f"{tenant} {token_id}"
        wait = max(self._tokens.seconds_until(token, 1), self._tenants.seconds_until(tenant, 1))
        if not wait:
            self._tokens.take(token)
            self._tenants.take(tenant)
        headers = {
            "RateLimit-Limit": str(self._rates.token.count),
            "RateLimit-Remaining": str(math.floor(self._tokens.level(token))),
            "RateLimit-Reset": str(self._tokens.seconds_until(token, self._rates.token.count)),
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

    def untold(self) -> dict[str, dict[str, int]]:
        """Return what passed here and no other server knows of.

        Returns:
            By tenant: the name of a bucket to the microseconds that it takes to refill what passed.
            Failed sign-ins are of no tenant; they are told through `local`, which every home has.
        """
        found: dict[str, dict[str, int]] = {}
        for kind, buckets in self._shared().items():
            untold = nlargest(MAX_TOLD, buckets.untold().items(), key=itemgetter(1))
            for key, seconds in untold:
                tenant = LOCAL if kind == _ADDRESS else key.partition(" ")[0]
                told = found.setdefault(tenant, {})
                told[f"{kind} {key}"] = round(seconds * _MICROSECONDS)
        return found

    def settle(self, told: Mapping[str, int], lacking: Mapping[str, int]) -> None:
        """Hear how long the buckets that were *told* of take to be full, whoever took from them."""
        shared = self._shared()
        for name, passed in told.items():
            kind, _, key = name.partition(" ")
            shared[kind].settle(key, passed / _MICROSECONDS, lacking.get(name, 0) / _MICROSECONDS)

    def _shared(self) -> dict[str, SharedBuckets]:
        kinds = {"token": self._tokens, "tenant": self._tenants, _ADDRESS: self._failures}
        return {kind: b for kind, b in kinds.items() if isinstance(b, SharedBuckets)}
