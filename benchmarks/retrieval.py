"""Retrieval quality: the product's own index, query and ranking over real sets with known answers.

Prints a table and, last, one JSON line. Needs the sets (``--data``), which are not ours to ship.
For each set: r@5 and r@10, the share of the relevant documents among the first five and ten;
nDCG@10; and the milliseconds of a search, from the query's text to the ordered seeds.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean, quantiles

import apsw

from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain import adjacency, ranking
from codeflow_memory.domain.paths import Requested
from codeflow_memory.domain.terms import document_terms, query_terms
from codeflow_memory.storage import terms
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.words import UnicodeWords

ROOT = Path(__file__).resolve().parent.parent
DEPTH = 10
NEAR = 5
WORDS = UnicodeWords()
STEMS = SnowballStems()
SAMPLE = 2_000
SETS = (
    ("locomo", False, None),
    ("peps-commits", False, None),
    ("iproute2-fixes", False, SAMPLE),
    ("iproute2-fixes", False, None),
    ("iproute2-fixes", True, None),
    ("cosqa", False, SAMPLE),
    ("cosqa", False, None),
    ("agent-rules", False, None),
)
"""Folder, whether the query's paths count, and how many documents there are.

A sample has every relevant document and then the first others.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A row of ``corpus.jsonl`` with the scope that stands for its name space."""

    number: int
    scope_id: int
    fields: Mapping[str, object]

    @property
    def texts(self) -> tuple[str, str]:
        """Title and body."""
        return str(self.fields["title"]), str(self.fields["text"])

    @property
    def tags(self) -> list[str]:
        """Tags; of a commit, the files it changed."""
        return list(self.fields["tags"])


@dataclass(frozen=True, slots=True)
class Corpus:
    """A set in the index."""

    tx: Transaction
    documents: Mapping[str, Document]
    scopes: Mapping[str, int]
    long: Mapping[str, int]


def main() -> None:
    """Measure every set and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/retrieval")
    parser.add_argument("--literal", action="store_true", help="exact forms only")
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    print(f"{'set':24}{'queries':>8}{'r@5':>8}{'r@10':>8}{'nDCG@10':>9}{'p50 ms':>9}{'p99 ms':>9}")
    loaded: dict[tuple[str, int | None], Corpus] = {}
    for name, with_paths, size in SETS:
        queries = list(rows(options.data / name / "queries.jsonl"))
        if (name, size) not in loaded:
            loaded = {(name, size): load(options.data / name, queries, size)}
        label = f"{name} + paths" if with_paths else name if size is None else f"{name} {size}"
        measured = measure(loaded[name, size], queries, paths=with_paths, literal=options.literal)
        results[label] = measured
        print(
            f"{label:24}{measured['queries']:8.0f}{measured['r@5']:8.3f}{measured['r@10']:8.3f}"
            f"{measured['ndcg@10']:9.3f}{measured['p50_ms']:9.2f}{measured['p99_ms']:9.2f}"
        )
    print(json.dumps({"benchmark": "retrieval", "literal": options.literal, "sets": results}))


def rows(path: Path) -> Iterator[dict[str, object]]:
    """Yield the objects of a JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def load(folder: Path, queries: Sequence[Mapping[str, object]], size: int | None) -> Corpus:
    """Index ``corpus.jsonl`` in memory with the product's schema; a name space is a scope."""
    kept = list(rows(folder / "corpus.jsonl"))
    if size is not None:
        relevant = {name for query in queries for name in query["rel"]}
        kept = sorted(kept, key=lambda fields: fields["id"] not in relevant)[:size]
    connection = apsw.Connection(":memory:")
    for script in sorted((ROOT / "migrations").glob("*.sql")):
        connection.execute(script.read_text("utf-8")).fetchall()
    connection.execute("PRAGMA foreign_keys = OFF")
    tx = Transaction(connection, writes=True)
    scopes: dict[str, int] = {}
    documents: dict[str, Document] = {}
    for number, fields in enumerate(kept):
        scope_id = scopes.setdefault(str(fields["ns"]), len(scopes) + 1)
        document = Document(number, scope_id, fields)
        documents[str(fields["id"])] = document
        title, body = document.texts
        found = document_terms(title, document.tags, body, WORDS, STEMS)
        terms.insert(tx, scope_id, str(fields["id"]), found)
    characters = {name: sum(map(len, made.texts)) for name, made in documents.items()}
    return Corpus(tx, documents, scopes, ranking.lengths(characters))


def measure(
    corpus: Corpus, queries: Sequence[Mapping[str, object]], *, paths: bool, literal: bool
) -> dict[str, float]:
    """Search for every query but the adversarial ones, which have no answer."""
    near, deep, gains, milliseconds = [], [], [], []
    for query in queries:
        if query["cat"] == "adversarial":
            continue
        visible = {
            name: document.number
            for name, document in corpus.documents.items()
            if exists(document, corpus.scopes[str(query["ns"])], query)
        }
        started = time.perf_counter()
        found = search(corpus, query, visible, paths=paths, literal=literal)
        milliseconds.append(1_000 * (time.perf_counter() - started))
        relevant = set(query["rel"])
        near.append(len(relevant.intersection(found[:NEAR])) / len(relevant))
        deep.append(len(relevant.intersection(found[:DEPTH])) / len(relevant))
        gains.append(ndcg(found[:DEPTH], relevant))
    cuts = quantiles(milliseconds, n=100)
    return {
        "queries": len(gains),
        "r@5": round(fmean(near), 4),
        "r@10": round(fmean(deep), 4),
        "ndcg@10": round(fmean(gains), 4),
        "p50_ms": round(cuts[49], 3),
        "p99_ms": round(cuts[98], 3),
    }


def search(
    corpus: Corpus,
    asked: Mapping[str, object],
    visible: Mapping[str, int],
    *,
    paths: bool,
    literal: bool,
) -> list[str]:
    """Return document ids, best first, as a search or a selection would find them."""
    query = query_terms(str(asked["text"]), WORDS, STEMS, literal=literal)
    postings = terms.find(corpus.tx, [corpus.scopes[str(asked["ns"])]], query)
    if "seq" in asked or "src" in asked:
        postings = {
            key: [posting for posting in found if posting[0] in visible]
            for key, found in postings.items()
        }
    scored = ranking.score(query, postings, len(visible), corpus.long)
    scores = scored.totals
    first = ranking.order(ranking.best(scores, adjacency.DEPTH), visible, adjacency.DEPTH)
    texts = {hit.memory_id: corpus.documents[hit.memory_id].texts for hit in first}
    stems = None if literal else STEMS
    totals = ranking.raised(scores, adjacency.bonuses(query, scored.rarity, texts, WORDS, stems))
    if paths:
        requested = Requested(asked["paths"])
        totals = ranking.with_closeness(
            totals,
            {m: requested.closeness((), corpus.documents[m].tags) for m in visible},
        )
    return [hit.memory_id for hit in ranking.order(ranking.best(totals, DEPTH), visible, DEPTH)]


def exists(document: Document, scope_id: int, asked: Mapping[str, object]) -> bool:
    """Tell whether the query may know *document*: the past only, and not what it was cut from."""
    if document.scope_id != scope_id or document.fields["id"] == asked.get("src"):
        return False
    return "seq" not in asked or document.fields["seq"] < asked["seq"]


def ndcg(found: Sequence[str], relevant: set[str]) -> float:
    """Return the normalised discounted cumulative gain with gains of 0 and 1."""
    gain = sum(1 / log2(at + 2) for at, name in enumerate(found) if name in relevant)
    return gain / sum(1 / log2(at + 2) for at in range(min(DEPTH, len(relevant))))


if __name__ == "__main__":
    main()
