"""The job loop: what the program does by itself, in a thread of the serving process."""

import logging
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.retention import Policy
from codeflow_memory.domain.times import SECOND
from codeflow_memory.services import (
    checkpoints,
    decay,
    expiry,
    findings,
    indexing,
    jobs,
    restoration,
    retention,
    tokens,
)
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants

_log = logging.getLogger(__name__)

HOUR = 3_600.0
DAY = 24 * HOUR
MINUTE = 60.0
QUARTER_HOUR = 15 * MINUTE

_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """What is done again and again for each tenant.

    Args:
        every: Seconds between two runs.
        work: What is done.
        once: Whether one server does it for all that serve the tenant; else each does its own.
    """

    every: float
    work: Callable[[Store], object]
    once: bool = False


JOBS: Mapping[str, Job] = {
    "expiry": Job(HOUR, expiry.run, once=True),
    "decay": Job(HOUR, decay.run, once=True),
    "uses": Job(MINUTE, tokens.record_uses),
    "ballast": Job(MINUTE, lambda store: store.home.fill_ballast()),
    "checkpoints": Job(QUARTER_HOUR, checkpoints.write),
    "undo": Job(HOUR, restoration.discard_old),
    "terms": Job(DAY, indexing.run, once=True),
    "findings": Job(DAY, findings.run, once=True),
}

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
        known: The jobs, in the order in which they run.
    """

    def __init__(
        self,
        tenants: Tenants,
        clock: Callable[[], float],
        policies: Sequence[Policy],
        known: Mapping[str, Job] = JOBS,
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._jobs = dict(known)
        if policies:
            self._jobs[RETENTION] = Job(DAY, partial(_retain, policies=policies), once=True)
        self._stop = threading.Event()
        self._due: dict[tuple[str, str], float] = {}
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
        try:
            slugs = self._tenants.slugs()
        except CodeflowError as error:
            _log.warning("jobs wait: %s", error)
            return []
        wanted = [(name, tenant) for name in self._jobs for tenant in slugs]
        self._due = {key: self._due.get(key, 0.0) for key in wanted}
        done = []
        for name, tenant in wanted:
            if now < self._due[name, tenant]:
                continue
            self._due[name, tenant] = now + self._jobs[name].every
            if self._run(name, tenant):
                done.append(f"{name}:{tenant}")
        return done

    def _run(self, name: str, tenant: str) -> bool:
        """Do a job unless it is another's turn; tell whether it was this worker's."""
        told = {"job": name, "tenant": tenant}
        try:
            with self._turn(name, tenant) as store:
                if store is None:
                    return False
                done = self._jobs[name].work(store)
        except CodeflowError as error:
            # Refused now, tried again when it is due: busy, full, or an import to settle.
            _log.warning("job refused: %s", error, extra=told)
        except Exception:  # noqa: BLE001 - one of the two edges: a defect must not end other jobs
            _log.exception("job failed", extra=told)
        else:
            # Most runs find nothing to do.
            level = logging.INFO if done else logging.DEBUG
            _log.log(level, "job done", extra=told | {"result": done})
        return True

    @contextmanager
    def _turn(self, name: str, tenant: str) -> Iterator[Store | None]:
        """Lend the tenant to work on; ``None`` while another worker does it or did."""
        job, store = self._jobs[name], self._tenants.get(tenant)
        if not job.once or not self._tenants.shared:
            yield store
            return
        turn = jobs.take(store, name, int(job.every * SECOND))
        self._due[name, tenant] = self._clock() + turn.wait / SECOND
        if turn.fence is None:
            yield None
            return
        with jobs.held(store, name, turn.fence):
            yield store

    def _loop(self) -> None:
        while not self._stop.is_set():
            self.run_due()
            # A tenant, or the database, may have come meanwhile.
            next_due = min(self._due.values(), default=math.inf) - self._clock()
            self._stop.wait(min(max(next_due, _PAUSE), MINUTE))
