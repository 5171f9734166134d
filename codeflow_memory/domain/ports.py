"""What the domain needs from libraries: word boundaries and stems."""

from collections.abc import Iterable
from typing import Protocol


class Words(Protocol):
    """Unicode text: where words begin and end, and what they are without accents."""

    def words(self, text: str) -> Iterable[str]:
        """Yield the words of *text* in order, by UAX #29 after NFKC, upper case kept."""
        ...

    def fold(self, word: str) -> str:
        """Return *word* with the differences of case taken away."""
        ...

    def strip(self, word: str) -> str:
        """Return the folded *word* without accents; idempotent, and *word* itself if it has none.

        Empty when nothing but marks was there.
        """
        ...


class Stems(Protocol):
    """Stems: what the inflections of one word have in common."""

    def stem(self, word: str) -> str:
        """Return the stem of the folded *word*; *word* itself where its script has no stemmer.

        Never empty for a word that is not. It need not be idempotent.
        """
        ...
