"""What the domain and the services need from outside: word boundaries, stems, who is watching."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Watch(Protocol):
    """Somebody who is shown how far long work has come."""

    def __call__(self, items: Sequence[T], label: str, /) -> Iterable[T]:
        """Yield *items* one by one, as they are worked on; *label* says what they are."""
        ...


def unwatched(items: Sequence[T], _label: str, /) -> Iterable[T]:
    """Be nobody who watches."""
    return items


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
