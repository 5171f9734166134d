"""Identifiers: sorted by creation within a process, whatever the clock does."""

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.ids import Ids

SHAPE = re.compile(r"mem_[0-7][0-9A-HJKMNP-TV-Z]{25}")
NOW = 1_800_000_000_000_000


def made(times, random_bytes):
    clock = iter(times)
    ids = Ids(lambda: next(clock), random_bytes)
    return [ids.new("mem") for _ in times]


@given(st.lists(st.integers(0, 2**48 * 1000 - 1), max_size=20), st.binary(min_size=10, max_size=10))
def test_each_is_greater_than_the_one_before_whatever_the_clock_does(times, noise):
    found = made(times, lambda _: noise)

    assert all(a < b for a, b in pairwise(found))
    assert all(SHAPE.fullmatch(one) for one in found)


def test_a_full_random_part_counts_on_into_the_next_millisecond():
    first, second = made([NOW, NOW], lambda count: b"\xff" * count)

    assert first < second
    assert second.endswith("0" * 16)


def test_the_time_leads_and_can_be_read_back():
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    (one,) = made([NOW], bytes)

    value = 0
    for digit in one.removeprefix("mem_")[:10]:
        value = value * 32 + alphabet.index(digit)

    assert value == NOW // 1000


def test_threads_never_get_the_same():
    ids = Ids(lambda: NOW, bytes)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ids.new("mem"), range(500)))

    assert len(set(found)) == 500
