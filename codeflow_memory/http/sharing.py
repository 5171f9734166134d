"""Sharing: the rate limits of several servers count as one, as far as they have heard.

A task of the event loop, which alone touches the buckets; what waits for a database does so in a
thread of its own, so that no request waits for it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

from litestar import Litestar

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.http.caller import Stores
from codeflow_memory.http.rate import RateLimits
from codeflow_memory.services import rates

SECONDS: Final = 1.0
"""Between two exchanges: after about so long a server knows what passed at another, or as soon as a
write that holds the tenant's database longer has ended."""

_log = logging.getLogger(__name__)


class Sharing:
    """Tells what passed here and hears what passed anywhere.

    Args:
        limits: Those of this server.
        stores: The tenants.
    """

    def __init__(self, limits: RateLimits, stores: Stores) -> None:
        self._limits = limits
        self._stores = stores

    @asynccontextmanager
    async def lifespan(self, _: Litestar) -> AsyncIterator[None]:
        """Exchange until the application ends."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            for tenant, passed in self._limits.untold().items():
                try:
                    lacking = await asyncio.to_thread(self._add_up, tenant, passed)
                except CodeflowError as error:
                    # Told with the next ones.
                    _log.warning("limits not shared: %s", error, extra={"tenant": tenant})
                else:
                    self._limits.settle(passed, lacking)

    def _add_up(self, tenant: str, passed: Mapping[str, int]) -> dict[str, int]:
        return rates.add_up(self._stores.get(tenant), passed)
