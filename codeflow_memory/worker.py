"""The job loop: what the program does by itself, in a thread of the serving process."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.retention import Policy
from codeflow_memory.services import checkpoints, expiry, indexing, restoration, retention, tokens
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants

_log = logging.getLogger(__name__)

HOUR = 3_600.0
DAY = 24 * HOUR
MINUTE = 60.0
QUARTER_HOUR = 15 * MINUTE

JOBS: Mapping[str, tuple[float, Callable[[Store], object]]] = {
    "expiry": (HOUR, expiry.run),
    "uses": (MINUTE, tokens.record_uses),
    "ballast": (MINUTE, lambda store: store.home.fill_ballast()),
    "checkpoints": (QUARTER_HOUR, checkpoints.write),
    "undo": (HOUR, restoration.discard_old),
    "terms": (DAY, indexing.run),
}
"""Name to the seconds between two runs and the work, done for each tenant in turn."""

RETENTION = "retention"
"""One job more where policies are configured: at the start, then once a day."""


def _retain(store: Store, policies: Sequence[Policy]) -> int:
    """Apply the policies of retention and return how many entries went."""
    return len(retention.apply_scheduled(store, policies).removed)


class Worker:
    """Runs each of `JOBS`, and `RETENTION`, when it is due, for every tenant, until it is stopped.

    Args:
        tenants: The tenants of the home.
        clock: Seconds of a clock that never steps back.
        policies: Of retention, as configured; applied to every tenant, without cascading.
    """

    def __init__(
        self, tenants: Tenants, clock: Callable[[], float], policies: Sequence[Policy]
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._jobs = dict(JOBS)
        if policies:
            self._jobs[RETENTION] = DAY, partial(_retain, policies=policies)
        self._stop = threading.Event()
        self._due = dict.fromkeys(self._jobs, 0.0)
        self._thread = threading.Thread(target=self._loop, name="worker", daemon=True)

    def start(self) -> None:
        """Begin; what is due is done at once."""
        self._thread.start()

    def stop(self) -> None:
        """Let the job in hand end, and return."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def run_due(self) -> list[str]:
        """Do what is due now and return the names of the jobs, each with its tenant."""
        now = self._clock()
        done = []
        for name, (seconds, work) in self._jobs.items():
            if now < self._due[name]:
                continue
            self._due[name] = now + seconds
            done += [self._run(name, work, tenant) for tenant in self._tenants.slugs()]
        return done

    def _run(self, name: str, work: Callable[[Store], object], tenant: str) -> str:
        told = {"job": name, "tenant": tenant}
        try:
            done = work(self._tenants.get(tenant))
        except CodeflowError as error:
            # Refused now, tried again when it is due: busy, full, or an import to settle.
            _log.warning("job refused: %s", error, extra=told)
        except Exception:  # noqa: BLE001 - one of the two edges: a defect must not end other jobs
            _log.exception("job failed", extra=told)
        else:
            # Most runs find nothing to do.
            level = logging.INFO if done else logging.DEBUG
            _log.log(level, "job done", extra=told | {"result": done})
        return f"{name}:{tenant}"

    def _loop(self) -> None:
        while not self._stop.is_set():
            self.run_due()
            self._stop.wait(max(0.0, min(self._due.values()) - self._clock()))
