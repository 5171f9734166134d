"""Stems by script."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.adapters.stems import SnowballStems

STEMS = SnowballStems()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("connections", "connected"),
        ("caroline", "caroline's"),
        ("\u043a\u043d\u0438\u0433\u0438", "\u043a\u043d\u0438\u0433\u0443"),
        ("\u03b4\u03c1\u03cc\u03bc\u03bf\u03c2", "\u03b4\u03c1\u03cc\u03bc\u03bf\u03b9"),
        ("\u0643\u062a\u0627\u0628", "\u0627\u0644\u0643\u062a\u0627\u0628"),
    ],
)
def test_inflections_share_a_stem(one, other):
    assert STEMS.stem(one) == STEMS.stem(other)


@pytest.mark.parametrize(
    "word", ["", "utf8", "12345", "get_users", "\u6570\u636e\u5e93", "caf\u0435s", "x" * 65]
)
def test_what_has_no_stemmer_is_its_own_stem(word):
    assert STEMS.stem(word) == word


@given(st.text(alphabet=st.characters(categories=["Ll", "Lo"]), min_size=1, max_size=12))
def test_a_stem_is_never_empty(word):
    assert STEMS.stem(word)


def test_threads_do_not_share_a_stemmer():
    words = [f"connect{ending}" for ending in ("ed", "ing", "ion", "ions", "s")] * 200

    with ThreadPoolExecutor(4) as pool:
        stems = set(pool.map(SnowballStems().stem, words))

    assert stems == {"connect"}
