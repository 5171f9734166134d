"""Search: the memories of a project that have the words of a query, best first (01 §7)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from codeflow_memory.domain import adjacency, ranking
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.branches import Applies, decide
from codeflow_memory.domain.memory import Collection, Kind
from codeflow_memory.domain.paths import Requested
from codeflow_memory.domain.terms import Query, query_terms
from codeflow_memory.services import access as accesses
from codeflow_memory.services import visible
from codeflow_memory.services.store import Store
from codeflow_memory.services.visible import Visible
from codeflow_memory.storage import lights, terms
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.lights import Light, Text

SNIPPET = 240
"""Characters."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for; ``None`` narrows nothing. ``literal`` looks for exact words only.

    ``below`` is a folder: only entries with a path of their own in it are found.
    """

    text: str
    literal: bool = False
    limit: int = 20
    kind: Kind | None = None
    collections: frozenset[Collection] | None = None
    path: str | None = None
    branch: str | None = None
    below: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was found; ``matched`` is term to the fields that have it.

    ``lines`` are the first and last line of the body that the snippet is of, counted from 1.
    """

    memory_id: str
    revision: int
    title: str
    score: float
    matched: Mapping[str, list[str]]
    snippet: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, best first, and what was cut from the question."""

    results: tuple[Found, ...]
    terms: tuple[str, ...]
    terms_dropped: tuple[str, ...]
    seeds_truncated: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """The keyword scores of a query over some entries.

    Args:
        query: What was looked for.
        postings: What the index holds for it.
        scores: Memory id to score, not yet rounded; adjacency is in it.
        near: The same for the first 50 alone.
        texts: What was read of those 50 for adjacency; nothing without adjacent words.
    """

    query: Query
    postings: ranking.Postings
    scores: Mapping[str, float]
    near: Mapping[str, float]
    texts: Mapping[str, Text]


def find(
    store: Store, access: Access, project_id: str, repo: str | None, question: Question
) -> Answer:
    """Search one project.

    Raises:
        NotFoundError: No such project for the caller.
    """
    query = query_terms(question.text, store.words, store.stems, literal=question.literal)
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        seen = store.shelf.accepted(tx, reach)
        kept = _kept(seen, question, store.now())
        looked = Looked(query, visible.scope_ids(reach), seen, kept, literal=question.literal)
        scored = score(store, tx, looked)
        # What adjacency raises is among the nearest, so the first of them are the first of all.
        near = scored.near if question.limit <= adjacency.DEPTH else scored.scores
        hits = best(near, seen.by_id, question.limit)
        unread = [hit.memory_id for hit in hits if hit.memory_id not in scored.texts]
        shown = {**scored.texts, **lights.texts(tx, looked.scope_ids, unread)}
    matched = ranking.matched(query, scored.postings, [hit.memory_id for hit in hits])
    return Answer(
        tuple(_found(shown[hit.memory_id], hit, matched[hit.memory_id]) for hit in hits),
        tuple(token.text for token in query.tokens),
        query.dropped,
        len(scored.scores) > ranking.MAX_SEEDS,
    )


@dataclass(frozen=True, slots=True)
class Looked:
    """Where a query is looked for.

    Args:
        query: The query.
        scope_ids: The scopes that the caller reads.
        seen: The entries that the caller sees: what statistics count.
        kept: Ids of those that may be found.
        literal: Whether only exact words count.
    """

    query: Query
    scope_ids: list[int]
    seen: Visible
    kept: AbstractSet[str]
    literal: bool


def score(store: Store, tx: Transaction, looked: Looked) -> Scored:
    """Score the entries that have a word of the query."""
    query, kept = looked.query, looked.kept
    postings = terms.find(tx, looked.scope_ids, query)
    seen = looked.seen
    whole = ranking.score(query, postings, len(seen.by_id), seen.long)
    scores = whole.totals
    if not scores.keys() <= kept:
        scores = {m: s for m, s in scores.items() if m in kept}
    near = {
        hit.memory_id: scores[hit.memory_id] for hit in best(scores, seen.by_id, adjacency.DEPTH)
    }
    if not query.adjacent:
        return Scored(query, postings, scores, near, {})
    read = lights.texts(tx, looked.scope_ids, near)
    texts = {memory_id: (text.title, text.body) for memory_id, text in read.items()}
    stems = None if looked.literal else store.stems
    gains = adjacency.bonuses(query, whole.rarity, texts, store.words, stems)
    near = ranking.raised(near, gains)
    return Scored(query, postings, {**scores, **near}, near, read)


def best(scores: Mapping[str, float], rows: Mapping[str, Light], limit: int) -> list[ranking.Hit]:
    """Return the best *limit* entries: by score, then the later update, then id."""
    found = ranking.best(scores, limit)
    return ranking.order(found, {m: rows[m].updated_at for m in found}, limit)


def _kept(rows: Visible, question: Question, at: int) -> AbstractSet[str]:
    narrowed = (question.kind, question.path, question.branch, question.below)
    narrows = any(narrowed) or question.collections is not None
    if not narrows and not rows.expired(at) and not rows.flagged:
        return rows.by_id.keys()
    requested = Requested([question.path] if question.path else [])
    return {m for m, row in rows.by_id.items() if _matches(row, question, requested, at)}


def _matches(row: Light, question: Question, requested: Requested, at: int) -> bool:
    return (
        not row.flagged
        and (row.valid_to is None or row.valid_to > at)
        and (question.kind is None or row.kind == question.kind)
        and (question.collections is None or row.collection in question.collections)
        and (question.below is None or any(_is_below(path, question.below) for path in row.paths))
        and (not row.paths or requested.concerned(row.paths))
        and (
            question.branch is None
            or not row.branches
            or decide(row.branches, question.branch, None) is not Applies.NO
        )
    )


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _found(text: Text, hit: ranking.Hit, matched: Mapping[str, list[str]]) -> Found:
    start, end = _around(text.body, matched)
    lines = (text.body.count("\n", 0, start) + 1, text.body.count("\n", 0, end) + 1)
    shown = _cut(text.body, start, end)
    return Found(hit.memory_id, text.revision, text.title, hit.score, matched, shown, lines)


def snippet(body: str, words: Mapping[str, object]) -> str:
    """Return the part of *body* around its first match, cut at spaces; one line."""
    return _cut(body, *_around(body, words))


def _around(body: str, words: Mapping[str, object]) -> tuple[int, int]:
    folded = body.casefold()
    found = [at for at in (folded.find(word) for word in words) if at >= 0]
    start = max(0, min(found, default=0) - SNIPPET // 3)
    if start:
        start = body.find(" ", start) + 1 or start
    end = start + SNIPPET
    if end < len(body):
        end = max(body.rfind(" ", start, end), start + 1)
    return start, end


def _cut(body: str, start: int, end: int) -> str:
    text = " ".join(body[start:end].split())
    return ("… " if start else "") + text + (" …" if end < len(body) else "")
