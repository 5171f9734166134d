"""Which connection a transaction gets, how long one lives, and how it plans."""

import gc
import time

import pytest

from codeflow_memory.domain import deadline
from codeflow_memory.domain.deadline import Deadline
from codeflow_memory.domain.errors import BusyError, CodeflowError, DeadlineExceededError
from codeflow_memory.storage import connections, dialect
from codeflow_memory.storage.connections import Connections

LONG = 20.0


@pytest.fixture
def pool(cluster):
    """Connections to a database of this test's own."""
    name = cluster.make()
    made = Connections(cluster.url(name))
    yield made
    made.close()
    cluster.drop(name)


def serving(pool, schema: str, *, inside: str | None = None) -> int:
    """Run a transaction of *schema*, and one of *inside* in it; return which connection it got."""
    with pool.transaction("BEGIN", schema) as connection:
        if inside is not None:
            serving(pool, inside)
        return connection.info.backend_pid


def while_all_are_lent(cluster, seconds: float | None) -> type[CodeflowError]:
    """Ask for a connection where the only one is lent; return how that is refused.

    Args:
        cluster: The server.
        seconds: Until the deadline of who asks; ``None``: there is none.
    """
    name = cluster.make()
    pool = Connections(cluster.url(name), alone=True)
    limit = None if seconds is None else Deadline(time.monotonic() + seconds)
    token = deadline.current.set(None)
    try:
        with pool.transaction("BEGIN"):
            deadline.current.set(limit)
            with pytest.raises(CodeflowError) as refused, pool.transaction("BEGIN"):
                pass
    finally:
        deadline.current.reset(token)
        pool.close()
        cluster.drop(name)
    return refused.type


@pytest.mark.parametrize("seconds", [0.05, -1.0])
def test_nobody_waits_for_a_connection_past_the_deadline(cluster, monkeypatch, seconds):
    monkeypatch.setattr(connections, "CONNECT_SECONDS", LONG)
    began = time.monotonic()

    assert while_all_are_lent(cluster, seconds) is DeadlineExceededError
    assert time.monotonic() - began < LONG


@pytest.mark.parametrize("seconds", [None, LONG])
def test_before_the_deadline_too_long_a_wait_for_a_connection_is_busy(
    cluster, monkeypatch, seconds
):
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 0.05)

    assert while_all_are_lent(cluster, seconds) is BusyError


def test_a_schema_gets_the_connection_that_served_it_last(pool):
    first = serving(pool, "one", inside="two")
    second = serving(pool, "two")
    assert second != first

    assert [serving(pool, name) for name in ("one", "two", "two", "one")] == [
        first,
        second,
        second,
        first,
    ]
    assert serving(pool, "three") in {first, second}


def test_a_connection_that_served_too_many_schemas_is_closed(pool):
    with pool.transaction("BEGIN") as connection:
        connection.current.update(map(str, range(connections.MAX_SCHEMAS)))
    assert serving(pool, "one") == connection.info.backend_pid

    with pool.transaction("BEGIN") as connection:
        connection.current.add("one more")

    assert connection.closed


def test_plans_are_made_again_when_they_are_old(pool):
    kept = "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE name = 'kept'"
    with pool.transaction("BEGIN") as connection:
        connection.execute("PREPARE kept AS SELECT 1; EXECUTE kept", prepare=False)
    began = connection.planned_at

    serving(pool, "")
    assert connection.planned_at == began

    connection.planned_at = time.monotonic() - connections.PLANNED_SECONDS - 1
    with pool.transaction("BEGIN") as connection:
        assert connection.planned_at > began
        assert connection.execute(kept).fetchone() == (1,)


def test_a_list_leads_to_its_entries_one_by_one_without_statistics(pool):
    """A schema has none for minutes after it was filled."""
    asked = "SELECT m.id FROM json_each(:ids) AS i CROSS JOIN m WHERE m.at = :at AND m.id = i.value"
    with pool.transaction("BEGIN") as connection:
        connection.execute(
            "CREATE SCHEMA s CREATE TABLE m (at bigint, id text, PRIMARY KEY (at, id))"
        )
        connection.execute("SET LOCAL search_path = s")
        connection.execute("INSERT INTO m SELECT 1, n FROM generate_series(1, 1000) AS n")

        explained = b"EXPLAIN " + dialect.statement(asked)
        plan = "\n".join(row[0] for row in connection.execute(explained, {"ids": "[]", "at": 1}))

    assert "AND (id = " in plan.split("Index Cond: ")[1]


def test_who_lets_go_of_it_without_a_word_leaves_no_connection_open(cluster):
    """Else the interpreter warns when it comes to collect them, at whatever moment that is."""
    name = cluster.make()
    dropped = Connections(cluster.url(name))
    dropped.itself = dropped
    serving(dropped, "one")
    (kept,) = [connection for _, connection in dropped._kept]

    del dropped
    gc.collect()

    assert kept.closed
    cluster.drop(name)
