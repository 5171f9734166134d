import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.text import MAX_MARKS, Hidden, escape_hidden, hidden, normalise

FLAG_OF_ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) for c in text)


@pytest.mark.parametrize(
    "character",
    [
        *("\x00", "\x07", "\x1b", "\r", "\x7f", "\x85", "\x9b"),
        *("\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"),
        *("\u200b", "\u2060", "\u2064", "\u00ad", "\u034f", "\ufeff", "\u180e", "\u17b5"),
        *("\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\ufff9", "\ufffb", "\u2028"),
        *("\ufe00", "\ufe0e", "\ufe0f", "\U000e0100", "\U000e01ef"),
        *("\U000e0001", "\U000e0041", "\U000e007f"),
        *("\ud800", "\udfff", "\ufdd0", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"),
        *("\u200c", "\u200d", "\U0001d173", "\U0001bca0"),
    ],
    ids=lambda c: f"U+{ord(c):04X}",
)
def test_a_hidden_character_is_found_with_its_offset(character):
    assert hidden(f"字é{character}b", multiline=True) == [Hidden(ord(character), 2)]
    assert hidden(f"b{character}", multiline=True) == [Hidden(ord(character), 1)]
    assert hidden(character, multiline=False) == [Hidden(ord(character), 0)]


@pytest.mark.parametrize(
    "text",
    [
        "plain text with\n\ttwo lines",
        "family 👨‍👩‍👧‍👦 and flag 🏳️‍🌈 and ❤️ and 👩🏽‍⚕️ and 🏴‍☠️ and 👁️‍🗨️",
        "keycaps 1️⃣ #️⃣ *️⃣, text style ▶︎ and ©︎",
        f"flags 🇩🇪 🇯🇵 {FLAG_OF_ENGLAND}",
        "می‌خواهم این را نگه دارم",
        "سال ۱۴۰۰ ه‍.ش",  # noqa: RUF001 - Persian
        "क्‍ष और श्री",
        "ශ්‍රී ලංකා",
        "שלום `code()` مرحبا",
        "数据库连接池 プール 데이터",
        "∀x∈ℝ: x² ≥ 0 // √2",  # noqa: RUF001 - a set of numbers
        "Tiếng Việt, ภาษาไทย, བོད་སྐད, Z̃̄",
        "braille ⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
        "a" + "\u0301" * MAX_MARKS,
        "private use \ue0b0 of a prompt",
    ],
)
def test_ordinary_text_has_nothing_hidden(text):
    text = normalise(text)

    assert hidden(text, multiline=True) == []
    assert escape_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("line\nbreak\ttab", [4, 10]),
        ("a\u200db", [1]),
        ("❤\u200dx", [1]),
        ("می\u200c\u200cخ", [3]),
        ("1\ufe0f", [1]),
        ("❤\ufe0f\ufe0f", [2]),
        ("\U0001f3f4" + tags("usca") + "\U000e007f", [1, 2, 3, 4, 5]),
        (FLAG_OF_ENGLAND + tags("hi"), [7, 8]),
        ("x\u2800\u2800x", [1, 2]),
        ("a" + "\u0301" * (MAX_MARKS + 2), [9, 10]),
        ("a" + "\U0001e8d0" * (MAX_MARKS + 1), [9]),
        ("👍\u202eok\u200b", [1, 4]),
    ],
)
def test_context_decides_in_one_line(text, offsets):
    assert [found.offset for found in hidden(text, multiline=False)] == offsets


def test_a_name_has_at_least_four_digits():
    assert Hidden(0x202E, 3).name == "U+202E"
    assert Hidden(7, 0).name == "U+0007"


def test_escaping_shows_what_was_hidden():
    assert escape_hidden("a\u202eb\U000e0041") == "a\\u{202E}b\\u{E0041}"
    assert escape_hidden("a\nb") == "a\nb"
    assert escape_hidden("a\nb", multiline=False) == "a\\u{000A}b"


TRICKY = st.text(
    st.sampled_from("ab1\n\t\u200b\u200c\u200d\ufe0e\ufe0f\u20e3❤👩🏽م\u2800⠓\u0301\u202e\ud800")
    | st.sampled_from([*tags("gbeng"), "\U000e007f", "\U0001f3f4", "\ufffe"])
    | st.characters(),
    max_size=40,
)


@given(TRICKY, st.booleans())
def test_what_was_escaped_has_nothing_hidden(text, multiline):
    assert hidden(escape_hidden(text, multiline=multiline), multiline=multiline) == []


@given(TRICKY)
def test_hidden_characters_are_in_order_and_where_they_are_said_to_be(text):
    found = hidden(text, multiline=False)

    assert [f.offset for f in found] == sorted({f.offset for f in found})
    assert all(ord(text[f.offset]) == f.code_point for f in found)


@given(st.text(max_size=30))
def test_normalising_gives_nfc(text):
    assert unicodedata.is_normalized("NFC", normalise(text))


@pytest.mark.parametrize(
    "unit", ["a", "字", "é", "\u200d", "❤\ufe0f", "\u0301", "\u202e", "⠀", "\U0001f3f4"]
)
def test_no_text_takes_long(unit, least_seconds):
    text = (unit * 16_384)[:16_384]
    assert least_seconds(lambda: hidden(text, multiline=True)) < 0.2
