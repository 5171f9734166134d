"""What several servers let pass is added up: each bucket's sum, as the time that it refills in."""

import json

import pytest

from codeflow_memory.domain.rate import Rate
from codeflow_memory.http.rate import RateLimits, Rates
from codeflow_memory.services import rates

SECOND = 1_000_000


class Seconds:
    at = 1_000.0

    def __call__(self) -> float:
        return self.at


def rows(world):
    with world.store.engine.read() as tx:
        return tx.rows("SELECT bucket, full_at FROM rates ORDER BY full_at, bucket")


def test_what_passed_is_added_up_and_refills_with_time(world):
    assert rates.add_up(world.store, {"a": 10 * SECOND, "b": SECOND}) == {
        "a": 10 * SECOND,
        "b": SECOND,
    }
    world.clock.at += 4 * SECOND

    assert rates.add_up(world.store, {"a": 3 * SECOND, "b": 2 * SECOND}) == {
        "a": 9 * SECOND,
        "b": 2 * SECOND,
    }


def test_a_full_bucket_has_no_row(world):
    rates.add_up(world.store, {"a": SECOND, "b": 9 * SECOND})
    world.clock.at += SECOND

    rates.add_up(world.store, {"c": SECOND})

    assert len(rows(world)) == 2


def test_a_server_whose_clock_is_behind_refills_nothing_twice(world):
    rates.add_up(world.store, {"a": 10 * SECOND})
    world.clock.at -= 3_600 * SECOND

    assert rates.add_up(world.store, {"a": SECOND}) == {"a": 11 * SECOND}


def test_no_row_tells_of_whom_it_is(world):
    rates.add_up(world.store, {"address 192.0.2.7": SECOND, "token local abc": SECOND})

    assert "192.0.2.7" not in json.dumps(rows(world))
    assert all(len(bucket) == 64 for bucket, _ in rows(world))


@pytest.fixture
def servers(world):
    """The limits of two servers, and how they exchange."""
    seconds = Seconds()
    of = Rates(token=Rate(60, 60), tenant=Rate(90, 60), failed_sign_in=Rate(3, 90))
    both = [RateLimits(of, seconds, shared=True) for _ in range(2)]

    def exchange():
        for limits in both:
            for told in limits.untold().values():
                limits.settle(told, rates.add_up(world.store, told))

    def wait(more):
        seconds.at += more
        world.clock.at += int(more * SECOND)

    return both, exchange, wait


def admitted(limits, count, name="t"):
    return sum(limits.admit(name, "local").refusal is None for _ in range(count))


def test_what_passed_at_one_server_is_refused_at_the_other_once_they_exchanged(servers):
    (one, other), exchange, wait = servers
    assert admitted(one, 40) + admitted(other, 40) == 80

    exchange()
    exchange()

    assert (admitted(one, 1), admitted(other, 1)) == (0, 0)
    # It is made good: 80 passed of 60, so 21 have to refill before one more does.
    wait(20)
    assert (admitted(one, 1), admitted(other, 1)) == (0, 0)
    wait(1)
    assert admitted(one, 2) == 1


def test_servers_that_exchange_admit_no_more_than_one_and_what_passes_in_between(servers):
    """Twelve seconds of callers that want more than they may: the sum stays with the limit."""
    (one, other), exchange, wait = servers
    passed = 0
    for _ in range(120):
        wait(1)
        passed += admitted(one, 3) + admitted(other, 3)
        exchange()

    assert passed <= 60 + 120 + 2 * 3


def test_without_exchange_each_admits_the_whole(servers):
    """Control: it is the exchange that makes one limit of two."""
    (one, other), _, _ = servers

    assert admitted(one, 100) + admitted(other, 100) == 120


def test_an_exchange_that_failed_is_told_with_the_next_and_then_there_is_nothing_to_tell(servers):
    (one, _), exchange, _ = servers
    admitted(one, 10)
    lost = one.untold()
    admitted(one, 5)

    assert lost["local"]["token local t"] == 10 * SECOND
    assert one.untold()["local"]["token local t"] == 15 * SECOND
    exchange()
    assert set(one.untold()["local"].values()) == {0}
    exchange()
    assert one.untold() == {}


def test_what_passes_while_an_exchange_is_under_way_is_not_forgotten(servers, world):
    (one, _), _, _ = servers
    admitted(one, 10)
    told = one.untold()["local"]
    lacking = rates.add_up(world.store, told)
    admitted(one, 5)

    one.settle(told, lacking)

    assert one.untold()["local"]["token local t"] == 5 * SECOND
    assert admitted(one, 60) == 45


def test_the_limit_of_a_tenant_holds_over_all_its_tokens_and_servers(servers):
    (one, other), exchange, _ = servers
    assert admitted(one, 50, "a") + admitted(other, 50, "b") == 100
    exchange()
    exchange()

    assert (admitted(one, 1, "c"), admitted(other, 1, "d")) == (0, 0)


def test_failed_sign_ins_are_counted_over_all_servers(servers):
    (one, other), exchange, _ = servers
    for limits in (one, other, one):
        assert limits.fail_sign_in("192.0.2.1") is None
        exchange()

    exchange()

    assert other.fail_sign_in("192.0.2.1") is not None
    assert one.fail_sign_in("192.0.2.1") is not None
    assert one.fail_sign_in("192.0.2.2") is None


def test_one_server_alone_tells_nothing():
    limits = RateLimits(Rates(), Seconds())
    admitted(limits, 10)

    assert limits.untold() == {}
