"""Words by apsw's copy of the Unicode algorithms, which does not change with the interpreter."""

import re
from collections.abc import Iterator
from unicodedata import is_normalized, normalize

import apsw.unicode

_PLAIN_ASCII = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
_APOSTROPHES = str.maketrans("\u2019\u02bc\uff07", "'''")
"""One spelling of ``don't``, whatever the editor made of it."""


class UnicodeWords:
    """`codeflow_memory.domain.ports.Words` for Unicode 17 (apsw 3.54)."""

    def words(self, text: str) -> Iterator[str]:
        """Yield the words of *text* in order, by UAX #29 after NFKC, upper case kept."""
        if _PLAIN_ASCII.fullmatch(text):
            # Letters, digits and underscores never part: the common case, four times faster.
            return iter((text,))
        if not text.isascii():
            text = _compatible(text)
        return iter(apsw.unicode.word_iter(text))

    def fold(self, word: str) -> str:
        """Return *word* with the differences of case taken away."""
        return word.lower() if word.isascii() else apsw.unicode.casefold(word)

    def strip(self, word: str) -> str:
        """Return the folded *word* without accents; ASCII has none and stays as it is."""
        if word.isascii():
            return word
        plain = apsw.unicode.casefold(apsw.unicode.strip(word))
        # Of a letter with two marks, as Vietnamese has many, apsw 3.54 takes one at a time.
        return plain if plain.isascii() or plain == word else self.strip(plain)


def _compatible(text: str) -> str:
    composed = text if is_normalized("NFKC", text) else normalize("NFKC", text)
    return composed.translate(_APOSTROPHES)
