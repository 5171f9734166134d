"""Keyword scores: what a memory is worth to a query, and in which order memories come.

A search goes: `score` the postings; `best` and `order` the first 50 and add to them what
`domain.adjacency` finds in their texts; `best` and `order` again for the seeds. A selection adds
`with_closeness` in between. Nothing here knows who may see what: it is given only what the caller
can see.
"""

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log
from typing import NamedTuple

from codeflow_memory.domain.terms import Form, Query, QueryToken

TITLE_WEIGHT = 4.0
TAG_WEIGHT = 3.0
BODY_WEIGHT = 1.0
SATURATION = 1.2
"""Occurrences in a short entry at which a field counts half; BM25's k1."""

COVERAGE = 0.5
"""Worth of a term's fields at which the term counts half.

So that two words of a question outweigh one of them in a title, while a word in a title, however
often another entry's body says it, still outweighs it.
"""

PIVOT = 800
"""Characters of title and body at which `SATURATION` holds; it grows with them.

A fixed length, not an average, so that an entry's score does not move with what is written
elsewhere.
"""

SHORT = 200
"""Characters up to which length makes no difference.

Without it, the fewer words a remark of one line has, the better it answers any of them.
"""

MAX_SEEDS = 512
PATH_SHARE = 0.6
"""Of the top score, for a memory whose path equals one of the request's."""

DECIMALS = 6
"""Scores are compared and hashed at this precision."""

WORDLESS_CLOSENESS = 0.6
WORDLESS_TRUST = 0.3
WORDLESS_RECENCY = 0.1
RECENCY_HALF_LIFE = 30 * 86_400_000_000
"""Microseconds in which an entry loses half of its recency; counted from the newest entry."""

FIELDS = ("title", "tags", "body")

Posting = tuple[str, int]
"""A memory id and its packed frequencies, `pack`."""

Postings = Mapping[tuple[str, Form], Sequence[Posting]]
"""What the index holds for each lookup of a query, by term and form; each memory at most once."""

MAX_FREQUENCY = 16_383
"""Occurrences in one field that are told apart, of 16,384 characters that a body may have.

So that those of the four forms that are added up fit into one packed field.
"""

_SHIFT = 16
_MASK = (1 << _SHIFT) - 1
_GRADE = 3 * _SHIFT
"""The bit where the place of a form's weight begins, above the packed frequencies."""

_LENGTH = _GRADE + 4
_LENGTH_STEP = 50
"""Characters that one step of a length has: fewer different lengths, fewer worths to compute."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory and its score, rounded."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a query's words are worth.

    Args:
        totals: Memory id to score, above 0 and not yet rounded.
        rarity: The inverse frequency of each token of the query, in its order.
    """

    totals: Mapping[str, float]
    rarity: tuple[float, ...]


def pack(title_tf: int, tag_tf: int, body_tf: int) -> int:
    """Put three frequencies below 65,536 into one integer, as the index's query does in SQL."""
    return (title_tf << 2 * _SHIFT) + (tag_tf << _SHIFT) + body_tf


def lengths(characters: Mapping[str, int]) -> dict[str, int]:
    """Return what `score` needs to know of long entries; short ones are left out.

    Args:
        characters: Memory id to characters of title and body together.
    """
    return {
        memory_id: many // _LENGTH_STEP << _LENGTH
        for memory_id, many in characters.items()
        if many > SHORT
    }


def score(query: Query, postings: Postings, visible: int, long: Mapping[str, int]) -> Weighed:
    """Score every memory that has a term of the query.

    ``sum of idf(t) * w / (w + 0.5)`` over the query's tokens, where ``w`` is ``weight * (4 title +
    3 tags + body)``: each field saturating as ``tf / (tf + 1.2)``, a body as ``tf / (tf + 1.2 *
    length / 800)``. The weight is that of the best form that the memory has, the frequencies are
    those of all forms together.

    Args:
        query: What is looked for.
        postings: What the index holds for it, of the caller's scopes only.
        visible: How many memories those scopes hold; at least as many as any lookup found.
        long: `lengths` of those memories.

    Returns:
        Totals that the order of the query's words makes no difference to, and what each is worth.

    Source:
        S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
        whose weighted fields saturate together; here each does before as well, so that no body
        outweighs a title by repetition.
    """
    totals: dict[str, float] = {}
    weights = sorted({w for t in query.tokens for _, _, w in t.lookups}, reverse=True)
    worths = _Worths(weights)
    grades = {weight: at << _GRADE for at, weight in enumerate(weights)}
    rarity: dict[str, float] = {}
    # Sorted, so that a sum adds its parts in one order whatever the order in the query; fsum,
    # which needs the parts in lists, costs 0.9 ms more for 6,000 postings.
    for token in sorted(query.tokens, key=lambda token: token.text):
        impact = _impacts(_occurrences(token, postings, grades), worths, long)
        idf = rarity[token.text] = inverse_frequency(len(impact), visible)
        known = totals.get
        for memory_id, value in impact.items():
            totals[memory_id] = known(memory_id, 0.0) + idf * value
    return Weighed(totals, tuple(rarity[token.text] for token in query.tokens))


def inverse_frequency(having: int, visible: int) -> float:
    """Return ``ln(1 + (N - n + 0.5) / (n + 0.5))``: above 0, and less the more memories have it."""
    return log(1 + (visible - having + 0.5) / (having + 0.5))


def best(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    """Return the scores, rounded, of every memory that may be among the best *limit*.

    More than *limit* come back when scores at the cut are equal: their order is `order`'s to find.
    """
    if len(scores) <= limit:
        return {memory_id: round(value, DECIMALS) for memory_id, value in scores.items()}
    # Rounding 5,000 scores costs more than finding the cut, so only what may be above it is.
    cut = round(heapq.nlargest(limit, scores.values())[-1], DECIMALS)
    floor = cut - 10.0**-DECIMALS
    return {
        memory_id: rounded
        for memory_id, value in scores.items()
        if value >= floor and (rounded := round(value, DECIMALS)) >= cut
    }


def order(scores: Mapping[str, float], updated_at: Mapping[str, int], limit: int) -> list[Hit]:
    """Return the first *limit* memories by score, then the later update, then id.

    Args:
        scores: Rounded, as `best` returns them; those that *updated_at* does not know are left out.
        updated_at: Unix microseconds.
        limit: How many to keep; `MAX_SEEDS` of more that scored means ``seeds_truncated``.
    """
    ranked = sorted(
        (memory_id for memory_id in scores if memory_id in updated_at),
        key=lambda memory_id: (-scores[memory_id], -updated_at[memory_id], memory_id),
    )
    return [Hit(memory_id, scores[memory_id]) for memory_id in ranked[:limit]]


def raised(scores: Mapping[str, float], gains: Mapping[str, float]) -> dict[str, float]:
    """Return *scores* with what each memory gains, such as for adjacency or a connection."""
    return {**scores, **{m: fsum((scores.get(m, 0.0), gain)) for m, gain in gains.items()}}


def with_closeness(scores: Mapping[str, float], closeness: Mapping[str, float]) -> dict[str, float]:
    """Add to each memory its share of the top score, for paths near the request's."""
    return raised(scores, closeness_gains(scores, closeness))


def closeness_gains(
    scores: Mapping[str, float], closeness: Mapping[str, float]
) -> dict[str, float]:
    """Return what each memory gains for paths near the request's.

    Args:
        scores: Keyword scores; where no memory has one, closeness counts as if the top were 1.
        closeness: Memory id to nearness from 0 to 1, `codeflow_memory.domain.paths.closeness`.
    """
    top = max(scores.values(), default=1.0)
    return {m: PATH_SHARE * top * near for m, near in closeness.items() if near}


class Wordless(NamedTuple):
    """The parts of a score for a request that has no words."""

    path: float
    trust: float
    recency: float


def without_words(closeness: float, trust: int, updated_at: int, newest: int) -> Wordless:
    """Score a memory for a request that has no words: by path, trust and recency alone.

    Args:
        closeness: From 0 to 1.
        trust: Basis points.
        updated_at: Unix microseconds.
        newest: The latest update of the candidates, so that no clock decides.

    Returns:
        The parts, whose sum is the score.
    """
    recency = 0.5 ** ((newest - updated_at) / RECENCY_HALF_LIFE)
    return Wordless(
        WORDLESS_CLOSENESS * closeness,
        WORDLESS_TRUST * trust / 10_000,
        WORDLESS_RECENCY * recency,
    )


def matched(
    query: Query, postings: Postings, memory_ids: Collection[str]
) -> dict[str, dict[str, list[str]]]:
    """Return for each of *memory_ids* the query's terms that it has, with the fields they are in.

    Terms come in the query's order, fields as in `FIELDS`, by whatever form.
    """
    wanted = frozenset(memory_ids)
    found: dict[str, dict[str, int]] = {memory_id: {} for memory_id in memory_ids}
    for token in query.tokens:
        for lookup in token.lookups:
            held = postings.get((lookup.term, lookup.form), ())
            for memory_id, packed in [posting for posting in held if posting[0] in wanted]:
                terms = found[memory_id]
                terms[token.text] = terms.get(token.text, 0) | packed
    return {
        memory_id: {text: _fields(packed) for text, packed in terms.items()}
        for memory_id, terms in found.items()
    }


def _fields(packed: int) -> list[str]:
    present = (packed >> 2 * _SHIFT, packed >> _SHIFT & _MASK, packed & _MASK)
    return [name for name, times in zip(FIELDS, present, strict=True) if times]


class _Worths(dict[int, float]):
    """Packed frequencies, grade and length to their worth; each is computed once."""

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, packed: int) -> float:
        weight = self._weights[packed >> _GRADE & (1 << _LENGTH - _GRADE) - 1]
        title, tag, body = packed >> 2 * _SHIFT & _MASK, packed >> _SHIFT & _MASK, packed & _MASK
        length = max(SHORT, (packed >> _LENGTH) * _LENGTH_STEP) / PIVOT
        worth = weight * (
            TITLE_WEIGHT * title / (title + SATURATION)
            + TAG_WEIGHT * tag / (tag + SATURATION)
            + BODY_WEIGHT * body / (body + SATURATION * length)
        )
        value = worth / (worth + COVERAGE)
        self[packed] = value
        return value


def _impacts(
    occurrences: Collection[Posting], worths: _Worths, long: Mapping[str, int]
) -> dict[str, float]:
    """Return what a token gives each memory that has it."""
    if not long:
        return {memory_id: worths[packed] for memory_id, packed in occurrences}
    steps = long.get
    return {memory_id: worths[packed | steps(memory_id, 0)] for memory_id, packed in occurrences}


def _occurrences(
    token: QueryToken, postings: Postings, grades: Mapping[float, int]
) -> Collection[Posting]:
    """Return each memory that has *token*, with the grade of its best form and all frequencies.

    No occurrence is both a word and a part, so these add up; a stem's row has all of them.
    """
    lookups = [at for at in token.lookups if (at.term, at.form) in postings]
    if len(lookups) == 1 and not grades[lookups[0].weight]:
        return postings[lookups[0].term, lookups[0].form]
    held: dict[str, int] = {}
    for lookup in lookups:
        found, grade = postings[lookup.term, lookup.form], grades[lookup.weight]
        if held:
            _merge(held, found, lookup.form, grade)
        else:
            held.update(found if not grade else ((m, packed + grade) for m, packed in found))
    return held.items()


def _merge(held: dict[str, int], found: Sequence[Posting], form: Form, grade: int) -> None:
    """Put the rows of a further lookup into what better ones of the token have found."""
    known = held.get
    match form:
        case Form.STEM:
            for memory_id, packed in found:
                held[memory_id] = (known(memory_id, grade) >> _GRADE << _GRADE) + packed
        case Form.PLAIN:
            for memory_id, packed in found:
                held.setdefault(memory_id, packed + grade)
        case _:
            for memory_id, packed in found:
                held[memory_id] = known(memory_id, grade) + packed
