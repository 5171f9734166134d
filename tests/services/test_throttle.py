"""What many failures close, and what they must leave open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import RateLimitedError
from codeflow_memory.services.throttle import FAILURES, WINDOW_SECONDS, Throttle

ANN = "local\nann"
BOB = "local\nbob"
HOME = "192.0.2.1"
ATTACKER = "198.51.100.7"


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def throttle(seconds) -> Throttle:
    return Throttle(seconds)


def fail(throttle: Throttle, account: str, address: str) -> bool:
    """Try and fail; tell whether the try was let pass."""
    try:
        throttle.begin(account, address)
    except RateLimitedError:
        return False
    return True


def succeed(throttle: Throttle, account: str, address: str) -> bool:
    passed = fail(throttle, account, address)
    if passed:
        throttle.forgive(account, address)
    return passed


def hammer(throttle: Throttle, account: str, addresses: int = 200) -> None:
    """Fail on an account from many addresses until it has no room left."""
    for number in range(addresses):
        fail(throttle, account, f"203.0.113.{number}")


def test_an_address_is_refused_after_twenty_failures_whatever_it_tries(throttle):
    passed = [fail(throttle, f"local\nnobody-{number}", ATTACKER) for number in range(25)]

    assert passed == [True] * FAILURES + [False] * 5
    assert not succeed(throttle, ANN, ATTACKER)


def test_the_failures_of_one_address_keep_no_other_out(throttle):
    while fail(throttle, ANN, ATTACKER):
        pass

    assert succeed(throttle, ANN, HOME)


def test_an_account_that_everybody_guesses_at_stays_open_to_its_owner(throttle):
    hammer(throttle, ANN)

    assert all(succeed(throttle, ANN, HOME) for _ in range(50))


def test_an_account_that_everybody_guesses_at_is_closed_to_who_failed_on_it(throttle, seconds):
    fail(throttle, ANN, ATTACKER)
    hammer(throttle, ANN)

    with pytest.raises(RateLimitedError) as refusal:
        throttle.begin(ANN, ATTACKER)

    assert refusal.value.retry_after_seconds == WINDOW_SECONDS
    assert succeed(throttle, BOB, ATTACKER)
    seconds.now += WINDOW_SECONDS
    assert fail(throttle, ANN, ATTACKER)


def test_while_an_account_is_guessed_at_an_address_has_one_guess_a_window(throttle, seconds):
    hammer(throttle, ANN)

    passed = 0
    for _ in range(60):
        hammer(throttle, ANN)
        passed += fail(throttle, ANN, ATTACKER)
        seconds.now += WINDOW_SECONDS / 20

    assert passed == 3


def test_an_owner_who_mistypes_while_others_guess_can_try_again_later_and_at_once_elsewhere(
    throttle, seconds
):
    hammer(throttle, ANN)
    fail(throttle, ANN, HOME)

    assert not succeed(throttle, ANN, HOME)
    assert succeed(throttle, ANN, "192.0.2.2")
    seconds.now += WINDOW_SECONDS
    assert succeed(throttle, ANN, HOME)


def test_a_success_between_guesses_buys_no_further_guess(throttle):
    guesses = 0
    while fail(throttle, ANN, ATTACKER):
        guesses += 1
        succeed(throttle, BOB, ATTACKER)

    assert guesses == FAILURES


def test_a_success_costs_nothing(throttle):
    assert all(succeed(throttle, ANN, HOME) for _ in range(1_000))


def test_tries_at_once_are_counted_before_they_have_failed(throttle):
    begun = [fail(throttle, ANN, ATTACKER) for _ in range(40)]

    assert begun.count(True) == FAILURES


def test_the_addresses_of_one_ipv6_site_share_their_failures(throttle):
    passed = [fail(throttle, ANN, f"2001:db8::{number:x}") for number in range(40)]

    assert passed.count(True) == FAILURES
    assert succeed(throttle, ANN, "2001:db8:0:1::1")


@given(
    st.lists(
        st.tuples(st.sampled_from([ANN, BOB]), st.sampled_from("abcdef"), st.booleans()),
        max_size=200,
    )
)
def test_whatever_others_do_a_right_password_works_from_an_address_without_failures(steps):
    throttle = Throttle(Seconds(), failures=3)
    for account, address, right in steps:
        (succeed if right else fail)(throttle, account, address)

    assert succeed(throttle, ANN, HOME)
    assert succeed(throttle, BOB, HOME)
