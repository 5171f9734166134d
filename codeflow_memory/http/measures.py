"""Measures: counters of requests, and what a tenant's operator reads of them, for Prometheus.

Each tenant has counters of its own, and is shown no others. What no tenant did, and what the
threads of the process do, is shown to the tenant `local`, that of who made the home. Labels have
few values, all of them ours: no tenant, repository, caller or path that a client chose.
"""

from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.witness import Served
from codeflow_memory.services.operations import Gauges

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the histogram, up to the deadline of a request."""

_PREFIX = "codeflow_memory"


class _Requests:
    """Counters of the requests of one tenant, or of those that were nobody's."""

    def __init__(self, subject: str) -> None:
        self.registry = CollectorRegistry()
        self._count = Counter(
            f"{_PREFIX}_{subject}",
            "Requests that are over, by route and class of status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            f"{_PREFIX}_{subject}_seconds",
            "How long requests took.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._refusals = Counter(
            f"{_PREFIX}_{subject}_refused",
            "Requests that were refused, by the code of the problem.",
            ("code",),
            registry=self.registry,
        )

    def add(self, served: Served) -> None:
        """Count one request."""
        self._count.labels(served.method, served.route, f"{served.status // 100}xx").inc()
        self._seconds.labels(served.route).observe(served.seconds)
        if served.code is not None:
            self._refusals.labels(served.code).inc()


class Measures:
    """The counters of one process. Used on its event loop alone."""

    def __init__(self) -> None:
        # Else each counter has another beside it that says when it began.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library says no types
        self._tenants: dict[str, _Requests] = {}
        self._nobody = _Requests("anonymous_requests")

    def count(self, served: Served) -> None:
        """Count a request that is over."""
        if served.caller is None:
            self._nobody.add(served)
            return
        # Only tenants that there are come here: a token of theirs was shown.
        self._of(served.caller.tenant).add(served)

    def text(self, tenant: str, gauges: Gauges, pool: Pool) -> bytes:
        """Write what an operator of *tenant* is shown, in the text format of Prometheus."""
        parts = [generate_latest(self._of(tenant).registry), generate_latest(_measured(gauges))]
        if tenant == LOCAL:
            parts += [generate_latest(self._nobody.registry), generate_latest(_pool(pool))]
        return b"".join(parts)

    def _of(self, tenant: str) -> _Requests:
        found = self._tenants.get(tenant)
        if found is None:
            found = self._tenants[tenant] = _Requests("requests")
        return found


def _measured(gauges: Gauges) -> CollectorRegistry:
    registry = CollectorRegistry()
    for name, text, value in (
        ("schema_version", "Number of the last migration.", gauges.schema),
        ("database_bytes", "Size of the tenant's database.", gauges.database_bytes),
        ("audit_rows", "Rows of the tenant's audit.", gauges.audit_rows),
        ("audit_checkpoints", "Checkpoints of the audit.", gauges.audit_checkpoints),
        ("audit_rows_unsigned", "Rows after the last checkpoint.", gauges.audit_rows_since),
        ("jobs_waiting", "Jobs to be done, or under way.", gauges.jobs_waiting),
        ("jobs_dead", "Jobs that were given up.", gauges.jobs_dead),
    ):
        Gauge(f"{_PREFIX}_{name}", text, registry=registry).set(value)
    limits = (("used", "the fullest has"), ("maximum", "there may be"))
    for part, text in limits:
        gauge = Gauge(f"{_PREFIX}_limit_{part}", f"How much {text}.", ("limit",), registry=registry)
        for use in gauges.limits:
            gauge.labels(use.name).set(use.used if part == "used" else use.maximum)
    return registry


def _pool(pool: Pool) -> CollectorRegistry:
    registry = CollectorRegistry()
    for name, text, value in (
        ("in_use", "Pieces of work that run or wait.", pool.in_use),
        ("size", "Pieces of work that may run or wait; more are refused as busy.", pool.size),
    ):
        Gauge(f"{_PREFIX}_pool_{name}", text, registry=registry).set(value)
    return registry
