r"""The terms of a text: what the keyword index stores of a memory and asks for a query.

A *word* is what UAX #29 calls one; a *name* is words that ``-``, ``.``, ``/``, ``:`` or ``\`` join
without a space (``src/auth/login.py``); a *term* is a word, a name or what is derived from them,
and its `Form` says how. Rows of a form are found through lookups of that form, with one
economy: where a derived term would stand beside an equal exact one, only the exact is stored and
the query looks there too, if and only if the derivation leaves that term as it is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from codeflow_memory.domain.ports import Stems, Words
from codeflow_memory.domain.stop_words import STOP_WORDS

MAX_TERM_CHARACTERS = 64
MAX_QUERY_TERMS = 32
"""Distinct terms, first come."""

VERSION = 2
"""Of these rules; it goes up whenever a text gets other rows, and indexes are made anew."""


class Form(StrEnum):
    """How a term came from the text."""

    EXACT = "exact"
    PART = "part"
    PLAIN = "plain"
    STEM = "stem"
    PAIR = "pair"


WEIGHT: Mapping[Form, float] = {
    Form.EXACT: 1.0,
    Form.PART: 0.7,
    Form.PLAIN: 0.9,
    Form.STEM: 0.6,
    Form.PAIR: 0.8,
}

Frequencies = tuple[int, int, int]
"""How often a term occurs in the title, in the tags and in the body."""


class Lookup(NamedTuple):
    """One term to ask the index for; what is found counts *weight*."""

    term: str
    form: Form
    weight: float


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A term of the query, as typed but folded, and the lookups that may find it, best first."""

    text: str
    lookups: tuple[Lookup, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for.

    ``adjacent`` are indexes into ``tokens`` of words that stand side by side in the query, stop
    words between them left out; ``dropped`` are the terms beyond `MAX_QUERY_TERMS`.
    """

    tokens: tuple[QueryToken, ...]
    adjacent: tuple[tuple[int, int], ...]
    dropped: tuple[str, ...]


_JOINED = re.compile(r"(?<!\w)\w++(?:(?:://|::|[-./:\\])\w++)+")
"""Names. It begins at a word's beginning only, or a long word would be tried from every letter."""

_JOINTS = re.compile(r"[-./:\\_'\W]+")
_UNSPACED = re.compile(
    "([\u3005-\u3007\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f]+)"
)
"""Runs of Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar, which write no spaces."""


class _Kind(StrEnum):
    WORD = "word"
    NAME = "name"
    RUN = "run"


def document_terms(
    title: str, tags: Sequence[str], body: str, words: Words, stems: Stems
) -> dict[tuple[str, Form], Frequencies]:
    """Return every row that the index keeps of a memory, each with at least one occurrence."""
    fields = (title, "\n".join(tags), body)
    counts: dict[tuple[str, Form], list[int]] = {}
    for field, text in enumerate(fields):
        seen = Counter(_surfaces(text, words))
        for (surface, kind), times in seen.items():
            for key in _derived(surface, kind, words, stems):
                row = counts.get(key)
                if row is None:
                    counts[key] = row = [0, 0, 0]
                row[field] += times
    for (term, form), row in counts.items():
        if form is Form.STEM:
            _add_unchanged(row, term, counts)
    return {key: (row[0], row[1], row[2]) for key, row in counts.items()}


def query_terms(text: str, words: Words, stems: Stems, *, literal: bool) -> Query:
    """Return what to look for when a caller asks for *text*.

    Args:
        text: Any text; nothing in it is an operator.
        words: Word boundaries.
        stems: Stems.
        literal: Look for exact forms only, stop words included.
    """
    found: dict[str, QueryToken] = {}
    order: list[str | None] = []
    for surface, kind in _surfaces(text, words):
        tokens = list(_tokens(surface, kind, words, stems, literal=literal))
        for token in tokens:
            found.setdefault(token.text, token)
        if kind is not _Kind.NAME:
            # A run's pairs already tell what stands side by side, and a name's parts are one word.
            order.append(tokens[0].text if tokens and kind is _Kind.WORD else None)
    if not literal and not found.keys() <= STOP_WORDS:
        found = {name: token for name, token in found.items() if name not in STOP_WORDS}
    names = list(found)
    place = {name: index for index, name in enumerate(names[:MAX_QUERY_TERMS])}
    standing = [
        place.get(name) if name else None for name in order if name is None or name in found
    ]
    return Query(
        tokens=tuple(found[name] for name in place),
        adjacent=_neighbours(standing),
        dropped=tuple(names[MAX_QUERY_TERMS:]),
    )


def _neighbours(standing: Sequence[int | None]) -> tuple[tuple[int, int], ...]:
    pairs = ((a, b) for a, b in pairwise(standing) if a is not None and b is not None and a != b)
    return tuple(dict.fromkeys(pairs))


def _add_unchanged(
    row: list[int], term: str, counts: Mapping[tuple[str, Form], Sequence[int]]
) -> None:
    """Count in a stem's row also the words that are that stem and so have no row of their own."""
    for form in (Form.EXACT, Form.PART):
        for field, times in enumerate(counts.get((term, form), ())):
            row[field] += times


def _surfaces(text: str, words: Words) -> Iterator[tuple[str, _Kind]]:
    """Yield words, names and unspaced runs in the order in which they begin; upper case kept."""
    if not text.isascii() and not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    for chunk in text.split():
        if chunk.isalnum() and chunk.isascii():
            yield chunk, _Kind.WORD
        else:
            yield from _of_chunk(chunk, words)


def _of_chunk(chunk: str, words: Words) -> Iterator[tuple[str, _Kind]]:
    names = _JOINED.findall(chunk)
    inside: list[tuple[str, _Kind]] = []
    for index, piece in enumerate(_UNSPACED.split(chunk)):
        if index % 2:
            inside.append((piece, _Kind.RUN))
        else:
            inside.extend((word, _Kind.WORD) for word in words.words(piece))
    known = {text for text, kind in inside if kind is _Kind.WORD}
    yield from ((name, _Kind.NAME) for name in names if name not in known)
    yield from inside


def _derived(surface: str, kind: _Kind, words: Words, stems: Stems) -> Iterator[tuple[str, Form]]:
    """Yield the rows that one occurrence of *surface* counts for."""
    if kind is _Kind.RUN:
        yield from ((words.fold(word), Form.EXACT) for word in words.words(surface) if _fits(word))
        yield from ((pair, Form.PAIR) for pair in _pairs(words.fold(surface)))
        return
    word = words.fold(surface)
    if not _fits(word):
        return
    yield word, Form.EXACT
    if kind is _Kind.NAME:
        return
    common = _is_common(surface)
    plain, stem = (word, stems.stem(word)) if common else _simpler(word, words, stems)
    if plain != word:
        yield plain, Form.PLAIN
    if stem != word:
        yield stem, Form.STEM
    for part in () if common else _parts(surface, words):
        yield part, Form.PART
        stem = stems.stem(part)
        if stem != part:
            yield stem, Form.STEM


def _is_common(surface: str) -> bool:
    """Tell whether *surface* has no accents and is of one part, as most words: seen at once."""
    return surface.isascii() and surface.isalpha() and (surface.islower() or surface.istitle())


def _tokens(
    surface: str, kind: _Kind, words: Words, stems: Stems, *, literal: bool
) -> Iterator[QueryToken]:
    """Yield the query's tokens for *surface*: itself, its parts, or its pairs."""
    if kind is _Kind.RUN:
        yield from _run_tokens(surface, words, literal=literal)
        return
    word = words.fold(surface)
    if not _fits(word):
        return
    if literal or kind is _Kind.NAME:
        yield QueryToken(word, (Lookup(word, Form.EXACT, 1.0),))
        return
    yield QueryToken(word, _lookups(word, words, stems))
    for part in _parts(surface, words):
        yield QueryToken(part, _lookups(part, words, stems))


def _run_tokens(run: str, words: Words, *, literal: bool) -> Iterator[QueryToken]:
    folded = words.fold(run)
    if literal or len(folded) == 1:
        for word in words.words(folded):
            if _fits(word):
                yield QueryToken(word, (Lookup(word, Form.EXACT, 1.0),))
        return
    for pair in _pairs(folded):
        yield QueryToken(pair, (Lookup(pair, Form.PAIR, WEIGHT[Form.PAIR]),))


def _lookups(word: str, words: Words, stems: Stems) -> tuple[Lookup, ...]:
    """Return where *word* may be found, each term and form once with its best weight."""
    plain, stem = _simpler(word, words, stems)
    wanted = [Lookup(word, Form.EXACT, 1.0), Lookup(plain, Form.PLAIN, WEIGHT[Form.PLAIN])]
    if plain != word:
        wanted.append(Lookup(plain, Form.EXACT, WEIGHT[Form.PLAIN]))
    wanted.append(Lookup(word, Form.PART, WEIGHT[Form.PART]))
    wanted.append(Lookup(stem, Form.STEM, WEIGHT[Form.STEM]))
    if stem != word and stems.stem(stem) == stem:
        wanted.append(Lookup(stem, Form.EXACT, WEIGHT[Form.STEM]))
        wanted.append(Lookup(stem, Form.PART, WEIGHT[Form.STEM]))
    best: dict[tuple[str, Form], Lookup] = {}
    for lookup in wanted:
        best.setdefault((lookup.term, lookup.form), lookup)
    return tuple(sorted(best.values(), key=lambda found: (-found.weight, found.term, found.form)))


def _simpler(word: str, words: Words, stems: Stems) -> tuple[str, str]:
    """Return *word* without accents, and the stem of that where it is ASCII, else of *word*."""
    plain = words.strip(word) or word
    return plain, stems.stem(plain if plain.isascii() else word)


def _parts(surface: str, words: Words) -> list[str]:
    """Split a name at its joints and at its changes of case; empty for a word that has neither."""
    parts = [part for piece in _JOINTS.split(surface) if piece for part in _humps(piece)]
    return [] if parts == [surface] else [words.fold(part) for part in parts if _fits(part)]


def _humps(piece: str) -> Iterable[str]:
    """Split ``HTTPServerId2`` into ``HTTP``, ``Server``, ``Id``, ``2``."""
    if piece.islower() or piece.isdigit():
        return (piece,)
    humps: list[str] = []
    start = 0
    for at in range(1, len(piece)):
        before, here = piece[at - 1], piece[at]
        ends_capitals = before.isupper() and here.isupper() and piece[at + 1 : at + 2].islower()
        if (here.isupper() and not before.isupper()) or ends_capitals:
            humps.append(piece[start:at])
            start = at
    humps.append(piece[start:])
    return humps


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _fits(term: str) -> bool:
    return 1 <= len(term) <= MAX_TERM_CHARACTERS
