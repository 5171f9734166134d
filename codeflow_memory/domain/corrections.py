"""Corrections: whether a text that nearly repeats another says something else (02 §1).

Two texts can share nine letters of ten and mean the opposite. What tells is a number, a name, a
negation, a path or a version that one of them has and the other has not.
"""

import re
from collections import Counter
from collections.abc import Iterator

from codeflow_memory.domain.stop_words import STOP_WORDS

_TOKEN = re.compile(r"[\w@./:+#\\-]*\w")
_TELLS = re.compile(r"\d|[/\\_.:@]|[a-z][A-Z]")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|nobody|nothing|without|cannot|avoid|stop|\w+n['\u2019]t)\b"
    r"|[\u4e0d\u6ca1\u65e0\u672a\u522b\u52ff\u975e]",
    re.IGNORECASE,
)


def corrects(new: str, old: str) -> bool:
    """Tell whether *new*, which resembles *old*, differs from it in what changes its meaning.

    A word that begins with a capital counts as a name, at the start of a sentence too, unless it
    is a stop word: holding a paraphrase for review loses nothing, dropping a correction would.
    """
    if _negations(new) != _negations(old):
        return True
    here, there = (_words(text) for text in (new, old))
    telling = {token.casefold() for text in (new, old) for token in _telling(text)}
    return any(here[token] != there[token] for token in telling)


def _words(text: str) -> Counter[str]:
    return Counter(token.casefold() for token in _TOKEN.findall(text))


def _negations(text: str) -> Counter[str]:
    return Counter(found.casefold() for found in _NEGATION.findall(text))


def _telling(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        named = token[0].isupper() and token.casefold() not in STOP_WORDS
        if named or _TELLS.search(token):
            yield token
