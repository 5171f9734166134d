"""Words by UAX #29."""

import apsw.unicode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.storage.words import UnicodeWords

WORDS = UnicodeWords()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  ...!?\n", []),
        ("getUserById get_user_by_id", ["getUserById", "get_user_by_id"]),
        ("kebab-case src/auth/login.py", ["kebab", "case", "src", "auth", "login.py"]),
        ("don\u2019t can't", ["don't", "can't"]),
        ("\ufb01ne \u00b2 \uff21\uff22", ["fine", "2", "AB"]),
        ("\u6570\u636e\u5e93", ["\u6570", "\u636e", "\u5e93"]),
    ],
)
def test_words_are_those_of_uax_29_after_nfkc(text, expected):
    assert list(WORDS.words(text)) == expected


@pytest.mark.parametrize(
    ("word", "folded"),
    [("Stra\u00dfe", "strasse"), ("ABC", "abc"), ("\u0391\u03a3", "\u03b1\u03c3")],
)
def test_folding_takes_case_away(word, folded):
    assert WORDS.fold(word) == folded


@pytest.mark.parametrize(
    ("word", "plain"),
    [("caf\u00e9", "cafe"), ("\u03ac", "\u03b1"), ("login.py", "login.py"), ("don't", "don't")],
)
def test_stripping_takes_accents_away_and_leaves_ascii_alone(word, plain):
    assert WORDS.strip(word) == plain


@given(st.text(max_size=40))
def test_stripping_twice_is_stripping_once(text):
    plain = WORDS.strip(WORDS.fold(text))

    assert WORDS.strip(plain) == plain


@given(st.from_regex(r"[abzAZ09_]{0,12}", fullmatch=True))
def test_letters_digits_and_underscores_never_part(text):
    assert list(WORDS.words(text)) == list(apsw.unicode.word_iter(text))
