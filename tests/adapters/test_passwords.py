"""argon2id as it is used here; what is not about its real cost is tested with a small one."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from codeflow_memory.adapters.passwords import MOST, Cost, Passwords
from codeflow_memory.domain.errors import BusyError

SMALL = Cost(memory=64, passes=1, lanes=1)
RIGHT = b"correct horse battery staple"
WRONG = b"correct horse battery stable"


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(SMALL)


def encoded(cost: Cost, password: bytes = RIGHT, kind: Type = Type.ID) -> str:
    hasher = PasswordHasher(cost.passes, cost.memory, cost.lanes, type=kind)
    return hasher.hash(password)


def test_a_new_hash_has_the_cost_that_is_promised():
    found = extract_parameters(Passwords().hash(RIGHT))

    assert (found.type, found.memory_cost, found.time_cost, found.parallelism) == (
        Type.ID,
        64 * 1024,
        3,
        1,
    )
    assert (found.salt_len, found.hash_len) == (16, 32)


def test_a_wrong_password_and_nobody_s_are_refused(passwords):
    stored = passwords.hash(RIGHT)

    assert not passwords.verify(WRONG, stored)
    assert not passwords.verify(b"", stored)
    assert not passwords.verify(RIGHT, None)
    assert passwords.verify(RIGHT, stored)


def test_equal_passwords_have_unlike_hashes(passwords):
    assert passwords.hash(RIGHT) != passwords.hash(RIGHT)


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "plain text",
        RIGHT.decode(),
        encoded(SMALL, kind=Type.I),
        encoded(SMALL, kind=Type.D),
        encoded(SMALL).replace("m=64", f"m={MOST.memory + 1}"),
        encoded(SMALL).replace("t=1", "t=11"),
        encoded(SMALL).replace("p=1", "p=9"),
        encoded(SMALL)[:-1] + "é",
    ],
    ids=["empty", "text", "plain", "argon2i", "argon2d", "memory", "passes", "lanes", "letter"],
)
def test_what_this_program_would_not_store_names_nobody_and_is_not_computed(passwords, stored):
    assert not passwords.verify(RIGHT, stored)


@pytest.mark.parametrize(
    ("old", "renewed"),
    [
        (Cost(64, 1, 1), Cost(128, 2, 1)),
        (Cost(256, 1, 1), Cost(256, 2, 1)),
        (Cost(64, 5, 4), Cost(128, 5, 4)),
        (Cost(128, 2, 1), None),
        (Cost(512, 3, 2), None),
    ],
)
def test_a_hash_is_renewed_when_new_ones_cost_more_and_never_to_a_lower_cost(old, renewed):
    now = Passwords(Cost(128, 2, 1))

    again = now.renew(RIGHT, encoded(old))

    if renewed is None:
        assert again is None
    else:
        found = extract_parameters(again)
        assert Cost(found.memory_cost, found.time_cost, found.parallelism) == renewed
        assert now.verify(RIGHT, again)
        assert now.renew(RIGHT, again) is None


def test_nobody_takes_as_long_as_somebody(least_seconds):
    """Both within a third of each other; without the work nobody would take none."""
    passwords = Passwords(Cost(16 * 1024, 2, 1))
    stored = passwords.hash(RIGHT)

    somebody = least_seconds(lambda: passwords.verify(WRONG, stored))
    nobody = least_seconds(lambda: passwords.verify(WRONG, None))

    assert 0.67 < nobody / somebody < 1.5


def test_beyond_those_at_work_and_those_that_wait_everybody_is_told_that_it_is_busy():
    passwords = Passwords(SMALL, at_once=2, waiting=1)
    stored = passwords.hash(RIGHT)
    with ThreadPoolExecutor(1) as threads, passwords._turn(), passwords._turn():
        waiting = threads.submit(passwords.verify, RIGHT, stored)
        while passwords._room.acquire(blocking=False):
            passwords._room.release()

        for work in (
            lambda: passwords.verify(RIGHT, stored),
            lambda: passwords.verify(RIGHT, None),
            lambda: passwords.hash(RIGHT),
        ):
            with pytest.raises(BusyError):
                work()
        assert not waiting.done()
        leave = passwords._turns.release
        leave()
        assert waiting.result(10)
        passwords._turns.acquire()

    assert passwords.verify(RIGHT, stored)
