"""Audits: the record of every change, as one caller may read it, newest first.

A row of an entry is there for whom the entry is; the chain's own numbers and hashes are for
`checkpoints.verify` alone, because gaps in them would tell of what is hidden.
"""

from collections.abc import Iterator
from itertools import islice

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkpoints
from codeflow_memory.services.checkpoints import Report
from codeflow_memory.services.pages import Page
from codeflow_memory.services.store import Store
from codeflow_memory.storage import audit, memories
from codeflow_memory.storage.audit import Entry
from codeflow_memory.storage.engine import Transaction

__all__ = ["Entry", "describe", "find", "verify"]

_STEP = 200
"""Rows that are read at a time."""


def find(  # noqa: PLR0913 - a page of a filtered list
    store: Store,
    access: Access,
    *,
    batch: str | None,
    item: str | None,
    principal: str | None,
    after: str | None,
    limit: int,
) -> Page[Entry]:
    """List changes: of the entries that the caller sees and, to owners, of the tenant itself.

    Args:
        store: The tenant.
        access: The caller.
        batch: Only of this batch.
        item: Only of this entry, token or the like.
        principal: Only this principal's, by its id.
        after: Where the page before ended: a time, and how many rows of that time were given.
        limit: Rows on a page, 1 to 100.
    """
    at, given = (None, 0) if after is None else _read(after)
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        rows = (
            entry
            for entry in _visible(tx, reach, at)
            if batch in {None, entry.batch_id}
            and item in {None, entry.item}
            and principal in {None, entry.principal_id}
        )
        found = list(islice(rows, given, given + limit + 1))
    items = tuple(found[:limit])
    return Page(items, _end(items, at, given) if len(found) > limit else None)


def verify(store: Store, access: Access) -> Report:
    """Check the chain and its checkpoints.

    Raises:
        ForbiddenError: The caller does not maintain the whole tenant.
    """
    accesses.require(access, Role.MAINTAINER, None, "verify the audit")
    return checkpoints.verify(store)


def describe(report: Report) -> dict[str, object]:
    """Return a report as JSON values, with the names of the wire."""
    broken, found = report.broken, report.disagreement
    return {
        "rows": report.rows,
        "order_only": report.order_only,
        "sound": report.sound,
        "fault": None if broken is None else {"sequence": broken[0], "detail": broken[1]},
        "checkpoints": {
            "count": report.checkpoints,
            "last_at": None if report.last_at is None else to_rfc3339(report.last_at),
            "rows_since": report.rows_since,
            "torn": report.torn,
            "fault": None if found is None else {"number": found.number, "detail": found.detail},
        },
    }


def _read(after: str) -> tuple[int, int]:
    at, _, given = after.partition("+")
    return int(at), int(given)


def _end(items: tuple[Entry, ...], at: int | None, given: int) -> str:
    """Return where a page ended: rows of one time can be on both its sides."""
    last = items[-1].at
    of_last = sum(entry.at == last for entry in items)
    return f"{last}+{of_last + (given if last == at else 0)}"


def _visible(tx: Transaction, reach: Reach, at: int | None) -> Iterator[Entry]:
    """Yield the caller's rows, newest first, from the time *at* on; ``None`` is the end."""
    whole = reach.access.may(Role.OWNER, None)
    up_to = audit.count(tx) if at is None else audit.last_until(tx, at)
    while up_to > 0:
        rows = audit.page(tx, reach.scopes, whole=whole, up_to=up_to, limit=_STEP)
        seen = _seen(tx, reach, rows)
        for _, entry in rows:
            if entry.scope_id is None or entry.item in seen:
                yield entry
        up_to = rows[-1][0] - 1 if len(rows) == _STEP else 0


def _seen(tx: Transaction, reach: Reach, rows: list[tuple[int, Entry]]) -> set[str]:
    """Return the entries among the items that the caller sees and may know the story of."""
    items = {entry.item for _, entry in rows if entry.scope_id is not None}
    return {
        stored.memory.memory_id
        for stored in memories.find_all(tx, reach.scopes, items)
        if reach.sees(stored.memory, before=stored.before)
        and reach.access.may(Role.CONTRIBUTOR, stored.memory.repository_id)
    }
