"""The scanner: what it finds of written attacks, and what it flags of harmless guidance.

Prints two tables and, last, one JSON line. The attacks and our own notes are those of the tests
(``tests/scanner``); real rule files need the retrieval sets (``--data``), which are not ours to
ship, and guidance of real repositories their checkouts (``--repository``, more than once).

Detection and false alarms stand apart, and so do attacks that only claim something: no average may
hide that no rule finds these. What keeps them out is that nobody has accepted them, which
``tests/http/test_untrusted.py`` proves. ``held_out`` was written after the rules were frozen.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.adapters import git, guidance
from codeflow_memory.domain.scanning import scan

ROOT = Path(__file__).resolve().parent.parent
SETS = ("attacks", "held_out")
STATEMENT = "statement"
EXAMPLES = 5
"""False alarms that are printed of a set."""


@dataclass(frozen=True)
class Rate:
    """How many texts of a set the scanner flags; ``seconds`` is what it took."""

    name: str
    flagged: int
    whole: int
    seconds: float
    characters: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.flagged / self.whole


def main() -> None:
    """Measure every set and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the retrieval sets")
    parser.add_argument("--repository", type=Path, action="append", default=[])
    options = parser.parse_args()

    print(f"{'detection':28}{'found':>7}{'of':>6}{'share':>8}")
    detection = [_print(rate) for name in SETS for rate in _detection(name)]
    print(f"\n{'false alarms':28}{'flagged':>7}{'of':>6}{'share':>8}{'us/1,000 characters':>22}")
    alarms = [_print(rate, timed=True) for rate in _alarms(options.data, options.repository)]
    print(json.dumps({r.name: [r.flagged, r.whole] for r in (*detection, *alarms)}))


def _print(rate: Rate, *, timed: bool = False) -> Rate:
    cost = f"{rate.seconds / rate.characters * 1e9:>22.0f}" if timed else ""
    print(f"{rate.name:28}{rate.flagged:>7}{rate.whole:>6}{rate.share:>8.1%}{cost}")
    return rate


def _detection(name: str) -> Iterator[Rate]:
    by_class: dict[str, list[str]] = {}
    for row in _rows(ROOT / "tests" / "scanner" / f"{name}.jsonl"):
        by_class.setdefault(row["class"], []).append(row["text"])
    claims = by_class.pop(STATEMENT)
    for kind, texts in by_class.items():
        yield _measure(f"{name}: {kind}", texts)
    yield _measure(f"{name}: all but claims", [t for texts in by_class.values() for t in texts])
    yield _measure(f"{name}: claims", claims)


def _alarms(data: Path | None, repositories: Iterable[Path]) -> Iterator[Rate]:
    notes = [row["text"] for row in _rows(ROOT / "tests" / "scanner" / "benign.jsonl")]
    yield _measure("own notes", notes, tell=True)
    if data is not None:
        files = _rows(data / "agent-rules" / "corpus.jsonl")
        texts = [f"{row['title']}\n{row['text']}" for row in files]
        yield _measure("rule files", texts, tell=True)
    for path in repositories:
        checkout = git.open_repository(path.resolve())
        commit = checkout.head().commit
        if commit is None:
            continue
        found = guidance.read_guidance(checkout, commit)
        texts = [f"{piece.title}\n{piece.body}" for piece in found.pieces]
        yield _measure(f"guidance: {path.resolve().name}", texts, tell=True)


def _measure(name: str, texts: list[str], *, tell: bool = False) -> Rate:
    began = time.process_time()
    found = [scan(text) for text in texts]
    took = time.process_time() - began
    flagged = [(text, first[0]) for text, first in zip(texts, found, strict=True) if first]
    for text, first in flagged[: EXAMPLES if tell else 0]:
        print(f"    {first.rule}: {text[first.start : first.end]!r}")
    return Rate(name, len(flagged), len(texts), took, sum(map(len, texts)))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main()
