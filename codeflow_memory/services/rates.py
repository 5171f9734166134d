"""Rates: add up what the rate limits of several servers let pass.

Each server counts in memory and tells of it now and then, so no request waits for it. What servers
let pass before they heard of each other is not forgiven: the sum falls below nothing, and the
bucket takes longer to refill.
"""

from collections.abc import Mapping

from codeflow_memory.services.store import Store
from codeflow_memory.storage import rates, tenants


def add_up(store: Store, passed: Mapping[str, int]) -> dict[str, int]:
    """Add what passed here, and return how long each bucket takes to be full again, over all.

    Args:
        store: The tenant.
        passed: Bucket to how long it takes to refill what passed since the last time; both times in
            microseconds, because servers whose settings differ then still mean the same.

    Raises:
        BusyError: Others were writing for too long; nothing was added.
    """
    named = {store.keys.bucket(name): name for name in passed}
    with store.engine.write() as tx:
        at = tenants.moment(tx, store.now())
        rates.forget_full(tx, at)
        full_at = rates.add(tx, at, {key: passed[name] for key, name in named.items()})
    return {named[key]: until - at for key, until in full_at.items()}
