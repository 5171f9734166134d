"""The budget."""

from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.budget import Budget, Filled, Omission, fill

sizes = st.lists(st.integers(0, 60)).map(lambda all_: [(f"m{i}", n) for i, n in enumerate(all_)])


def test_after_an_entry_that_is_too_long_a_shorter_one_still_fits():
    got = fill([("a", 40), ("b", 90), ("c", 30)], Budget(characters=100, entries=5), frame=10)

    assert got == Filled(("a", "c"), (("b", Omission.CHARACTERS),))


def test_entries_beyond_the_count_are_omitted_for_that():
    got = fill([("a", 1), ("b", 1), ("c", 999)], Budget(characters=100, entries=1), frame=0)

    assert got == Filled(("a",), (("b", Omission.ENTRIES), ("c", Omission.ENTRIES)))


@given(sizes, st.integers(0, 120), st.integers(0, 6), st.integers(0, 40))
def test_both_budgets_hold_and_nothing_is_lost(entries, characters, count, frame):
    got = fill(entries, Budget(characters, count), frame=frame)

    size = dict(entries)
    assert len(got.taken) <= count
    assert not got.taken or frame + sum(size[m] for m in got.taken) <= characters
    assert sorted([*got.taken, *(m for m, _ in got.omitted)]) == sorted(size)
    in_order = [m for m, _ in entries]
    assert list(got.taken) == [m for m in in_order if m in got.taken]
    assert [m for m, _ in got.omitted] == [m for m in in_order if m not in got.taken]
