"""Adjacency: which words that stand side by side in a query do so in a memory's text.

Two words stand side by side when nothing but stop words and signs lies between them. A word of the
text is one of the query's when it begins like it and has the same stem; in a literal search, when
it is equal.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from codeflow_memory.domain.ports import Stems, Words
from codeflow_memory.domain.stop_words import STOP_WORDS
from codeflow_memory.domain.terms import Query

BONUS = 0.3
"""Of the inverse frequencies of both words, for each adjacent pair that is found adjacent."""

DEPTH = 50
"""The best memories, whose texts are read for it."""

MAX_PLACES = 32
"""Places of a word in one text that are looked at, so that a text of one word costs no more."""

_WORD = re.compile(r"\w+")
_NEXT = re.compile(r"\W{1,16}(\w+)")
_FIELD_END = " _ "
"""A word that no query has, so that a title's last word is not beside the body's first."""


@dataclass(frozen=True, slots=True)
class _Sought:
    """A word of the query: how its equals begin, and the stem they have."""

    prefix: str
    stem: str


def bonuses(
    query: Query,
    rarity: Sequence[float],
    texts: Mapping[str, tuple[str, ...]],
    words: Words,
    stems: Stems | None,
) -> dict[str, float]:
    """Return what each memory gains for the query's adjacent words that it has adjacent.

    Args:
        query: What is looked for.
        rarity: The inverse frequency of each of its tokens, in its order.
        texts: Memory id to its fields, such as title and body.
        words: Case folding.
        stems: Stems; ``None`` for a literal search.

    Returns:
        Memory id to bonus, only for those that gain any.
    """
    sought = [_sought(token.text, stems) for token in query.tokens]
    pairs = [(sought[a], sought[b], BONUS * (rarity[a] + rarity[b])) for a, b in query.adjacent]
    gains: dict[str, float] = {}
    if not pairs:
        return gains
    for memory_id, fields in texts.items():
        text = words.fold(_FIELD_END.join(fields))
        gain = fsum(worth for a, b, worth in pairs if _beside(text, a, b, stems))
        if gain:
            gains[memory_id] = gain
    return gains


def _sought(word: str, stems: Stems | None) -> _Sought:
    if stems is None:
        return _Sought(word, word)
    stem = stems.stem(word)
    return _Sought(_common(word, stem), stem)


def _beside(text: str, first: _Sought, second: _Sought, stems: Stems | None) -> bool:
    """Tell whether *first* has *second* as its next word anywhere in the folded *text*."""
    if second.prefix not in text:
        return False
    at = text.find(first.prefix)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        word = _WORD.match(text, at)
        end = word.end() if word else at + 1
        starts = at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_")
        if word and starts and _same(word[0], first, stems):
            after = _next(text, end, stems)
            if (
                after is not None
                and after.startswith(second.prefix)
                and _same(after, second, stems)
            ):
                return True
        at = text.find(first.prefix, end)
    return False


def _next(text: str, end: int, stems: Stems | None) -> str | None:
    """Return the word after *end*; stop words are passed over unless the search is literal."""
    found = _NEXT.match(text, end)
    while found and stems is not None and found[1] in STOP_WORDS:
        found = _NEXT.match(text, found.end())
    return found[1] if found else None


def _same(word: str, sought: _Sought, stems: Stems | None) -> bool:
    return (word if stems is None else stems.stem(word)) == sought.stem


def _common(word: str, stem: str) -> str:
    length = 0
    while word[length : length + 1] and word[length : length + 1] == stem[length : length + 1]:
        length += 1
    return word[:length]
