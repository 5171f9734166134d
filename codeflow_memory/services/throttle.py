"""Throttling of sign-ins: guessing is slow, and nobody is locked out by the guesses of others.

Failures alone count. Each empties a bucket of the account that was tried and one of the address
that tried. An address without room is refused, whatever it tries. An account without room is closed
to the addresses that failed on it within the window and open to all others: however much is guessed
at it, and from however many places, its owner signs in from elsewhere, and each of those places has
one guess a window left.

A success gives back what its own try took and nothing more: else whoever has an account could sign
in to it between guesses at others, and begin anew each time.
"""

import threading
from collections.abc import Callable
from typing import Final

from codeflow_memory.domain.errors import RateLimitedError
from codeflow_memory.domain.rate import MAX_BUCKETS, Buckets, Rate, site

WINDOW_SECONDS: Final = 15 * 60
FAILURES: Final = 20


class Throttle:
    """The throttle of one server, shared by its threads.

    Args:
        now: Seconds of a clock that never steps back.
        failures: How many an account, and an address, may have in a window.
        seconds: The window.
    """

    def __init__(
        self,
        now: Callable[[], float],
        *,
        failures: int = FAILURES,
        seconds: int = WINDOW_SECONDS,
    ) -> None:
        several = Rate(failures, seconds)
        self._accounts = Buckets(several, now, maximum=MAX_BUCKETS)
        self._addresses = Buckets(several, now, maximum=MAX_BUCKETS)
        self._pairs = Buckets(Rate(1, seconds), now, maximum=MAX_BUCKETS)
        self._lock = threading.Lock()

    def begin(self, account: str, address: str) -> None:
        """Let a try begin and count it as a failure until `forgive` says that it was none.

        Counted first, so that of many tries at once no more pass than of as many in a row.

        Args:
            account: Tells accounts apart, those too that do not exist.
            address: The peer's own, never one that a header claims.

        Raises:
            RateLimitedError: There were too many failures.
        """
        with self._lock:
            keyed = self._keyed(account, address)
            (accounts, of_account), (addresses, of_address), (pairs, of_pair) = keyed
            closed = accounts.level(of_account) < 1
            wait = max(
                addresses.seconds_until(of_address, 1),
                pairs.seconds_until(of_pair, 1) if closed else 0,
            )
            if wait:
                raise RateLimitedError(retry_after_seconds=wait)
            for buckets, key in keyed:
                buckets.take(key)

    def forgive(self, account: str, address: str) -> None:
        """Take back what `begin` counted: the try was right, or came to no answer."""
        with self._lock:
            for buckets, key in self._keyed(account, address):
                buckets.give_back(key)

    def _keyed(self, account: str, address: str) -> list[tuple[Buckets, str]]:
        place = site(address)
        return [
            (self._accounts, account),
            (self._addresses, place),
            (self._pairs, f"{place}\n{account}"),
        ]
