"""Likeness: an entry of the same audience that says nearly the same (03 §1.5).

Comparing a text with 5,000 others takes 60 ms, so only likely ones are compared: accepted entries
that share most of its longest words, and the newest proposals, which are not in the index.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.duplicates import NEAR, family, overlap, trigrams
from codeflow_memory.domain.memory import Content, Memory, Sensitivity
from codeflow_memory.domain.terms import Form, document_terms
from codeflow_memory.services.store import Store
from codeflow_memory.storage import lights, memories, terms
from codeflow_memory.storage.engine import Transaction

_WORDS = 12
"""Words that are looked up; long ones are rare ones."""

_HOLDERS = 200
"""Entries read for each word."""

SHOWN = 3
"""Near entries that a reviewer is shown."""

_CANDIDATES = 20
"""Texts that are compared, of the accepted entries and of the proposals each."""


def nearest(
    store: Store, tx: Transaction, reach: Reach, scope_id: int, content: Content
) -> tuple[float, Memory] | None:
    """Return the most similar entry that the caller sees, with its similarity, from `NEAR` on.

    Equal similarities are ordered by id. One that is marked secret is none: whoever reads the new
    entry would be told of it.
    """
    alike = _alike(store, tx, reach, scope_id, content)
    return next((one for one in alike if one[1].sensitivity is not Sensitivity.SECRET), None)


def near(store: Store, tx: Transaction, reach: Reach, memory: Memory) -> list[tuple[float, Memory]]:
    """List the entries nearest to *memory* with their similarity, at most `SHOWN` of them."""
    if memory.content is None:
        return []
    alike = _alike(store, tx, reach, memory.scope_id, memory.content)
    return list(islice((a for a in alike if a[1].memory_id != memory.memory_id), SHOWN))


def _alike(
    store: Store, tx: Transaction, reach: Reach, scope_id: int, content: Content
) -> Iterator[tuple[float, Memory]]:
    if family(content.kind) is None:
        return
    ids = [*_sharing(store, tx, scope_id, content), *_newest(tx, reach, scope_id)]
    own = trigrams(f"{content.title}\n{content.body}")
    scored = [
        (-overlap(own, trigrams(f"{text.title}\n{text.body}")), memory_id)
        for memory_id, text in lights.texts(tx, [scope_id], ids).items()
    ]
    alike = [(-score, memory_id) for score, memory_id in sorted(scored) if -score >= NEAR]
    ids = [memory_id for _, memory_id in alike]
    found = {s.memory.memory_id: s.memory for s in memories.find_all(tx, [scope_id], ids)}
    for similarity, memory_id in alike:
        if reach.sees(found[memory_id]):
            yield similarity, found[memory_id]


def _sharing(store: Store, tx: Transaction, scope_id: int, content: Content) -> list[str]:
    """List the accepted entries that share most of the longest words, the most words first."""
    whole = document_terms(content.title, (), content.body, store.words, store.stems)
    words = sorted({term for term, form in whole if form is Form.EXACT}, key=lambda w: (-len(w), w))
    shared: Counter[str] = Counter()
    for holders in terms.holders(tx, scope_id, words[:_WORDS], _HOLDERS):
        shared.update(holders)
    ranked = sorted(shared.items(), key=lambda item: (-item[1], item[0]))
    return [memory_id for memory_id, _ in ranked[:_CANDIDATES]]


def _newest(tx: Transaction, reach: Reach, scope_id: int) -> list[str]:
    return memories.newest_proposals(tx, scope_id, reach.access.principal_id, _CANDIDATES)
