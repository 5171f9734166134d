"""Redaction: what of made-up credentials is found, plain and disguised, and what it does to notes.

Prints tables and, last, one JSON line. Counted three times: with the product's own rules, with the
maintained detector alone, and with both, as they run. A credential is found when no eight
characters in a row of it are left. With the sets of ``--data`` (not ours to ship) false alarms in
real text are counted too. The last figure is the time of a body of the greatest length.
"""

import argparse
import json
import timeit
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.credentials.benign import notes
from benchmarks.credentials.disguises import DISGUISES
from benchmarks.credentials.held_out import HELD_OUT
from benchmarks.credentials.measure import Redact, found, found_disguised, share
from benchmarks.credentials.surroundings import samples
from codeflow_memory.adapters.detector import detect, is_present
from codeflow_memory.domain import secrets
from codeflow_memory.domain.drafts import MAX_BODY

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_261_201


def own(text: str) -> str:
    """Redact by the product's own rules."""
    return secrets.redact(text)[0]


def maintained(text: str) -> str:
    """Redact by the maintained detector alone."""
    for kind, start, end in sorted(detect(text), key=lambda span: -span[1]):
        text = f"{text[:start]}[redacted:{kind}]{text[end:]}"
    return text


def both(text: str) -> str:
    """Redact as the product does."""
    return secrets.redact(text, (detect,))[0]


WAYS: dict[str, Redact] = {"own rules": own, "maintained": maintained, "both": both}


def main() -> None:
    """Measure everything and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/retrieval")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kinds", action="store_true", help="print each kind's recall too")
    options = parser.parse_args()
    if not is_present():
        print("The maintained detector is not installed here: its columns say nothing.")
    facts: dict[str, object] = {"seed": options.seed}
    facts["recall"] = _recall(options.seed, kinds=options.kinds)
    facts["touched"] = _touched(options.seed, options.data)
    facts["milliseconds"] = _milliseconds(options.seed)
    print(json.dumps(facts))


def _row(name: str, count: int, values: Sequence[float], form: str) -> None:
    print(f"{name:28}{count:>8}" + "".join(f"{value:>12{form}}" for value in values))


def _head(title: str) -> None:
    print(f"\n{title:28}{'notes':>8}" + "".join(f"{way:>12}" for way in WAYS))


def _recall(seed: int, *, kinds: bool) -> dict[str, list[float]]:
    made = samples(seed)
    measured: dict[str, list[float]] = {}
    _head("found")
    plain = {way: found(made, redact) for way, redact in WAYS.items()}
    measured["plain"] = [share(by_kind) for by_kind in plain.values()]
    _row("plain", len(made), measured["plain"], ".1%")
    for name in DISGUISES:
        measured[name] = [share(found_disguised(made, name, redact)) for redact in WAYS.values()]
        _row(name, len(made), measured[name], ".1%")
    unknown = samples(seed, HELD_OUT)
    measured["held out"] = [share(found(unknown, redact)) for redact in WAYS.values()]
    _row("held out", len(unknown), measured["held out"], ".1%")
    if kinds:
        _head("kind")
        for kind, hits in plain["own rules"].items():
            _row(kind, len(hits), [share({kind: plain[way][kind]}) for way in WAYS], ".1%")
    return measured


def _touched(seed: int, data: Path) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = {}
    _head("touched, without a secret")
    texts = {"made up": [note.text for note in notes(seed)]}
    texts |= {path.parent.name: list(_real(path)) for path in sorted(data.glob("*/corpus.jsonl"))}
    for name, several in texts.items():
        changed = [sum(redact(text) != text for text in several) for redact in WAYS.values()]
        measured[name] = [count / len(several) for count in changed]
        _row(name, len(several), measured[name], ".2%")
    return measured


def _real(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield f"{row['title']}\n{row['text']}"


def _milliseconds(seed: int) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = {}
    print(f"\n{f'ms of {MAX_BODY} characters':36}" + "".join(f"{way:>12}" for way in WAYS))
    prose = "\n\n".join(note.text for note in notes(seed))
    secret = "\n\n".join(sample.text for sample in samples(seed)[::40])
    for name, text in {"notes": prose[:MAX_BODY], "secrets": secret[:MAX_BODY]}.items():
        times = [
            median(timeit.repeat(partial(redact, text), number=1, repeat=9, timer=process_time))
            * 1_000
            for redact in WAYS.values()
        ]
        measured[name] = times
        _row(name, len(text), times, ".2f")
    return measured


if __name__ == "__main__":
    main()
