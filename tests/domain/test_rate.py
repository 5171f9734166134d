from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.rate import Buckets, Rate


def test_what_is_given_back_is_there_again_and_no_bucket_overflows():
    buckets = Buckets(Rate(2, 60), lambda: 0.0, maximum=9)
    buckets.take("a")
    buckets.take("a")

    buckets.give_back("a")
    assert buckets.level("a") == 1
    buckets.give_back("a")
    buckets.give_back("a")

    assert buckets.level("a") == 2


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 30)), max_size=40))
def test_no_level_leaves_its_bounds(steps):
    now = 0.0
    buckets = Buckets(Rate(3, 60), lambda: now, maximum=9)

    for take, pause in steps:
        now += pause
        (buckets.take if take else buckets.give_back)("a")
        assert 0 <= buckets.level("a") <= 3
