"""Canonical text: NFC, and nothing in it that a reviewer could not see.

A *hidden* character is one that 01 §2 refuses: a control, a bidirectional control, a tag, a
zero-width filler, a stray variation selector, a joiner outside emoji, Arabic and Indic text, a
lone surrogate, a non-character, and a combining mark beyond the eighth in a row.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.domain.characters import (
    ASTRAL_MARKS,
    ASTRAL_REFUSED,
    JOINING_SCRIPTS,
    MARKS,
    PICTOGRAPHS,
    REFUSED,
)

MAX_MARKS = 8
"""Combining marks in a row; no living orthography needs more than five."""

_JOINERS = "\u200c\u200d"
_JOINER = "\u200d"
_SELECTORS = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_BLANK_BRAILLE = "\u2800"

_SUSPECT = re.compile(rf"[{REFUSED}\u200C\u200D\uFE0E\uFE0F\u2800]")
# Classes apart, because one with astral ranges is scanned range by range for every character.
_ASTRAL = re.compile(r"[\U00010000-\U0010FFFF]")
_ASTRAL_LETTER = re.compile(r"[\U00010000-\U0001EFFF]")
_ASTRAL_SUSPECT = re.compile(rf"[{ASTRAL_REFUSED}]")
_ASCII_SUSPECT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BREAK = re.compile(r"[\t\n]")
_MARK_RUN = re.compile(rf"[{MARKS}]{{{MAX_MARKS + 1},}}")
_WIDE_MARK_RUN = re.compile(rf"[{MARKS}{ASTRAL_MARKS}]{{{MAX_MARKS + 1},}}")
_PICTOGRAPH = re.compile(rf"[{PICTOGRAPHS}]")
_MODIFIED = re.compile(r"[\uFE0F\U0001F3FB-\U0001F3FF]")
_JOINING = re.compile(rf"[{JOINING_SCRIPTS}]")
_BRAILLE = re.compile(r"[\u2800-\u28FF]+")

_FLAG = re.compile(
    r"\U0001F3F4\U000E0067\U000E0062"
    r"(?:\U000E0065\U000E006E\U000E0067|\U000E0073\U000E0063\U000E0074|\U000E0077\U000E006C\U000E0073)"
    r"\U000E007F"
)
"""England, Scotland, Wales: the flags that Unicode recommends; other tags could spell anything."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A hidden character and its offset in code points, from 0."""

    code_point: int
    offset: int

    @property
    def name(self) -> str:
        """Write the code point as ``U+202E``."""
        return f"U+{self.code_point:04X}"


def normalise(text: str) -> str:
    """Return *text* in NFC, the form that is stored and hashed."""
    return unicodedata.normalize("NFC", text)


def hidden(text: str, *, multiline: bool) -> list[Hidden]:
    r"""Find every hidden character of *text*, in order.

    Args:
        text: Any string, lone surrogates included.
        multiline: Whether ``\n`` and ``\t`` are text; in a title, tag or path they are not.

    Returns:
        One item a character; offsets count the code points of *text* as given.
    """
    offsets = set(_unseen(text))
    if not multiline:
        offsets.update(found.start() for found in _BREAK.finditer(text))
    return [Hidden(ord(text[offset]), offset) for offset in sorted(offsets)]


def escape_hidden(text: str, *, multiline: bool = True) -> str:
    r"""Write each hidden character of *text* as ``\u{202E}``; the result has none."""
    pieces: list[str] = []
    end = 0
    for found in hidden(text, multiline=multiline):
        pieces += [text[end : found.offset], f"\\u{{{found.code_point:04X}}}"]
        end = found.offset + 1
    pieces.append(text[end:])
    return "".join(pieces)


def _unseen(text: str) -> Iterator[int]:
    if text.isascii():
        yield from (found.start() for found in _ASCII_SUSPECT.finditer(text))
        return
    for found in _SUSPECT.finditer(text):
        if not _has_reason(text, found.start()):
            yield found.start()
    if _ASTRAL.search(text):
        yield from _unseen_astral(text)
    if _BLANK_BRAILLE in text:
        yield from _blank_braille(text)
    marks = _WIDE_MARK_RUN if _ASTRAL_LETTER.search(text) else _MARK_RUN
    for found in marks.finditer(text):
        yield from range(found.start() + MAX_MARKS, found.end())


def _unseen_astral(text: str) -> Iterator[int]:
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    for found in _ASTRAL_SUSPECT.finditer(text):
        if found.start() not in flags:
            yield found.start()


def _has_reason(text: str, at: int) -> bool:
    """Tell whether the suspect at *at* is one that its neighbours call for."""
    character = text[at]
    if character in _SELECTORS:
        return _selects(text, at)
    if character in _JOINERS:
        return _joins(text, at)
    return character == _BLANK_BRAILLE  # decided run by run, in `_blank_braille`


def _selects(text: str, at: int) -> bool:
    base = text[at - 1] if at else ""
    if base and base in "#*0123456789":
        return text[at + 1 : at + 2] == _KEYCAP
    return _PICTOGRAPH.match(base) is not None


def _joins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if before and before in _JOINERS:
        return False
    if _JOINING.match(before) or _JOINING.match(after):
        return True
    if text[at] != _JOINER or not _PICTOGRAPH.match(after):
        return False
    base = at - 1
    while base > at - 3 and base > 0 and _MODIFIED.match(text[base]):
        base -= 1
    return base >= 0 and _PICTOGRAPH.match(text[base]) is not None


def _blank_braille(text: str) -> Iterator[int]:
    """Yield the blank cells that stand alone: a blank is text only within Braille."""
    for run in _BRAILLE.finditer(text):
        if not run[0].strip(_BLANK_BRAILLE):
            yield from range(*run.span())
