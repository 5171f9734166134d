"""A store into whose audit no row comes, and what work does to it then and afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from .. import remains, triggers

REFUSAL = "no row today"


@contextmanager
def refusing(store) -> Iterator[None]:
    """Let no row come into the audit for the time of the block."""
    with store.engine.write() as tx:
        triggers.refuse(tx, store.home, "audit", REFUSAL)
    try:
        yield
    finally:
        with store.engine.write() as tx:
            triggers.remove(tx, store.home, "audit")


def content(store) -> dict[str, list]:
    """Every row of every table."""
    with store.engine.read() as tx:
        return remains.content(tx)


def own_content(store) -> dict[str, list]:
    """Every row but of the audit itself, its counters and the receipts."""
    rows = content(store)
    with store.engine.read() as tx:
        rows["store"] = tx.rows(
            "SELECT audit_epoch, restore_epoch, functional_predicates FROM store"
        )
    return {name: found for name, found in rows.items() if name not in {"audit", "receipts"}}


def count_rows(store) -> int:
    with store.engine.read() as tx:
        return tx.value("SELECT COUNT(*) FROM audit")


def carried_out(store, refused: Callable[[], object], done: Callable[[], object]) -> None:
    """See that *refused* changes nothing, and *done*, the same with its row, something."""
    before = content(store)
    with refusing(store):
        refused()
        assert content(store) == before
    rows, own = count_rows(store), own_content(store)

    done()

    assert count_rows(store) > rows
    assert own_content(store) != own


def attempted(store, service: Callable[[], object]) -> None:
    """See that *service* fails without its row and leaves everything as it was."""

    def fails() -> None:
        with pytest.raises(Exception, match=REFUSAL):
            service()

    carried_out(store, fails, service)
