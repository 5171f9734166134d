"""The budget."""

from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.budget import Budget, Filling, Omission


def answers(sizes, budget, *, frame):
    filling = Filling(budget, frame=frame)
    return [filling.offer(size) for size in sizes]


def test_after_an_entry_that_is_too_long_a_shorter_one_still_fits():
    got = answers([40, 90, 30], Budget(characters=100, entries=5), frame=10)

    assert got == [None, Omission.CHARACTERS, None]


def test_entries_beyond_the_count_are_omitted_for_that():
    got = answers([1, 1, 999], Budget(characters=100, entries=1), frame=0)

    assert got == [None, Omission.ENTRIES, Omission.ENTRIES]


@given(st.lists(st.integers(0, 60)), st.integers(0, 120), st.integers(0, 6), st.integers(0, 40))
def test_both_budgets_hold_and_an_entry_is_omitted_only_for_one(sizes, characters, count, frame):
    got = answers(sizes, Budget(characters, count), frame=frame)

    taken: list[int] = []
    for size, omission in zip(sizes, got, strict=True):
        if len(taken) >= count:
            assert omission is Omission.ENTRIES
        elif frame + sum(taken) + size > characters:
            assert omission is Omission.CHARACTERS
        else:
            assert omission is None
            taken.append(size)
    assert len(taken) <= count
    assert not taken or frame + sum(taken) <= characters
