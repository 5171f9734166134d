"""Jobs: recurring work of a tenant that one of several workers does, once a period over all.

Whoever takes it holds it for `LEASE` and says so again while it is at work. Of a worker that was
killed another takes it over when that is over.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from codeflow_memory.domain.errors import CodeflowError, InternalError
from codeflow_memory.domain.times import SECOND
from codeflow_memory.services.store import Store
from codeflow_memory.storage import jobs, tenants, tokens
from codeflow_memory.storage.engine import Transaction

LEASE = 60 * SECOND
"""Microseconds; workers' clocks must not differ by more than what is left of it at a renewal."""

RENEWAL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is.

    Args:
        fence: Tells this turn from later ones; ``None`` when it is not the caller's.
        wait: Microseconds until it is worth asking again.
    """

    fence: int | None
    wait: int


def take(store: Store, kind: str, period: int) -> Turn:
    """Take a kind of work if it is due and nobody is at it.

    Args:
        store: The tenant.
        kind: Which work.
        period: Microseconds from one beginning to the next.
    """
    with store.engine.read() as tx:
        wait = _wait(store, tx, kind)
    # Asking writes nothing.
    if wait > 0:
        return Turn(None, wait)
    with store.engine.write() as tx:
        at = tenants.moment(tx, store.now())
        job_id = store.ids.new("job")
        fence = jobs.take(tx, kind, job_id, at=at, until=at + LEASE, again=at + period)
        return Turn(fence, period if fence is not None else _wait(store, tx, kind))


@contextmanager
def held(store: Store, kind: str, fence: int) -> Iterator[None]:
    """Hold the work while the block runs, and note how it ended."""
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(store, kind, fence, over), daemon=True)
    keeper.start()
    code: str | None = InternalError.code
    try:
        yield
        code = None
    except CodeflowError as error:
        code = error.code
        raise
    finally:
        over.set()
        keeper.join()
        # What cannot be noted now is over when the lease is.
        with suppress(CodeflowError), store.engine.write() as tx:
            jobs.end(tx, kind, fence, code)


def _wait(store: Store, tx: Transaction, kind: str) -> int:
    due = jobs.due(tx, kind)
    return 0 if due is None else due - max(store.now(), tokens.latest_at(tx))


def _keep(store: Store, kind: str, fence: int, over: threading.Event) -> None:
    while not over.wait(RENEWAL_SECONDS):
        with suppress(CodeflowError), store.engine.write() as tx:
            until = tenants.moment(tx, store.now()) + LEASE
            if not jobs.keep(tx, kind, fence, until):
                return
