import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.rate import Rate
from codeflow_memory.http.rate import RateLimits, Rates


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_token_has_600_requests_a_minute(clock):
    limits = RateLimits(Rates(), clock)

    admitted = [limits.admit("t", "local") for _ in range(600)]
    refused = limits.admit("t", "local")

    assert all(one.refusal is None for one in admitted)
    assert admitted[0].headers == {
        "RateLimit-Limit": "600",
        "RateLimit-Remaining": "599",
        "RateLimit-Reset": "1",
    }
    assert refused.refusal.retry_after_seconds == 1
    assert refused.headers == {
        "RateLimit-Limit": "600",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "60",
    }


def test_another_token_of_the_tenant_is_not_held_up(clock):
    limits = RateLimits(Rates(token=Rate(1, 60)), clock)
    limits.admit("a", "local")

    assert limits.admit("a", "local").refusal is not None
    assert limits.admit("b", "local").refusal is None


def test_a_tenant_has_a_bucket_of_its_own_that_the_headers_do_not_show(clock):
    limits = RateLimits(Rates(token=Rate(10, 60), tenant=Rate(2, 60)), clock)
    limits.admit("a", "local")
    limits.admit("b", "local")

    refused = limits.admit("c", "local")

    assert refused.refusal.retry_after_seconds == 30
    assert refused.headers["RateLimit-Remaining"] == "10"
    assert limits.admit("d", "birch").refusal is None


def test_waiting_as_told_is_enough(clock):
    limits = RateLimits(Rates(token=Rate(7, 60)), clock)
    while (refusal := limits.admit("t", "local").refusal) is None:
        pass

    clock.now += refusal.retry_after_seconds

    assert limits.admit("t", "local").refusal is None


def test_failed_sign_ins_are_limited_by_address_and_hold_up_no_token(clock):
    limits = RateLimits(Rates(), clock)

    failures = [limits.fail_sign_in("192.0.2.1") for _ in range(21)]

    assert failures[:20] == [None] * 20
    assert failures[20].retry_after_seconds == 45
    assert limits.fail_sign_in("192.0.2.2") is None
    assert limits.admit("t", "local").refusal is None
    clock.now += 900
    assert [limits.fail_sign_in("192.0.2.1") for _ in range(20)] == [None] * 20


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.3", False),
        ("unknown", "unknown", True),
        ("", "unknown", False),
    ],
)
def test_the_addresses_of_one_ipv6_site_are_one_peer(clock, one, other, same):
    limits = RateLimits(Rates(failed_sign_in=Rate(1, 60)), clock)
    limits.fail_sign_in(one)

    assert (limits.fail_sign_in(other) is not None) is same


def test_memory_is_bounded_and_the_busiest_bucket_is_kept(clock):
    limits = RateLimits(Rates(failed_sign_in=Rate(1, 900)), clock, maximum=100)
    for number in range(1000):
        limits.fail_sign_in(f"192.0.2.{number}")
    limits.fail_sign_in("last")

    assert len(limits._failures) == 100
    assert limits.fail_sign_in("last") is not None


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_no_window_admits_more_than_burst_and_refill(pauses):
    clock = Clock()
    limits = RateLimits(Rates(token=Rate(5, 10)), clock)
    admitted = 0

    for pause in pauses:
        clock.now += pause
        admitted += limits.admit("t", "local").refusal is None

    assert admitted <= 5 + sum(pauses) * 0.5 + 1e-6
