"""How much of a credential a redaction leaves, counted in runs of characters."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from benchmarks.credentials.disguises import DISGUISES
from benchmarks.credentials.kinds import Draw
from benchmarks.credentials.surroundings import Sample

RUN = 8
"""Characters in a row that are too much."""

_MARKER = re.compile(r"\[redacted:[a-z0-9-]+\]")
_BETWEEN = re.compile(r"[\W_]")

Redact = Callable[[str], str]


def remains(note: str, hidden: str, form: str) -> bool:
    """Tell whether *note* has a run of *hidden* that *form* did not have without it.

    Signs and gaps do not count, so that a credential in pieces is still one.
    """
    wanted, there = _bare(hidden), _bare(_MARKER.sub("", note))
    size = min(RUN, len(wanted))
    runs = {wanted[at : at + size] for at in range(len(wanted) - size + 1)}
    elsewhere = _bare(form)
    return any(run in there and run not in elsewhere for run in runs)


def found(samples: Iterable[Sample], redact: Redact) -> dict[str, list[bool]]:
    """Return by kind which samples *redact* leaves nothing of."""
    by_kind: dict[str, list[bool]] = {}
    for sample in samples:
        left = remains(redact(sample.text), sample.secret, sample.form)
        by_kind.setdefault(sample.kind, []).append(not left)
    return by_kind


def found_disguised(
    samples: Iterable[Sample], disguise: str, redact: Redact, seed: int = 5
) -> dict[str, list[bool]]:
    """Return the same of samples in a disguise of `DISGUISES`."""
    draw = Draw(seed)
    by_kind: dict[str, list[bool]] = {}
    for sample in samples:
        note, hidden = DISGUISES[disguise](sample, draw)
        left = remains(redact(note), hidden, sample.form)
        by_kind.setdefault(sample.kind, []).append(not left)
    return by_kind


def share(by_kind: dict[str, list[bool]]) -> float:
    """Return the share of samples of which nothing is left."""
    counted = Counter(hit for hits in by_kind.values() for hit in hits)
    return counted[True] / counted.total()


def _bare(text: str) -> str:
    return _BETWEEN.sub("", text)
