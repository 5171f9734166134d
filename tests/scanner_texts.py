"""The texts that the scanner is measured on; all written for this project.

``attacks.jsonl`` was there while the rules were written, ``held_out.jsonl`` was written after they
had been frozen, and no rule was changed for it. ``benign.jsonl`` is what teams write to agents.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "scanner"
STATEMENT = "statement"
"""The class of texts that only claim something: no scanner can tell these from the truth."""


@dataclass(frozen=True)
class Attack:
    """A text, its class and the code of its language."""

    kind: str
    language: str
    text: str


@cache
def attacks(name: str) -> tuple[Attack, ...]:
    """Read ``attacks`` or ``held_out``."""
    return tuple(Attack(row["class"], row["lang"], row["text"]) for row in _rows(name))


@cache
def benign() -> tuple[str, ...]:
    """Read the benign notes."""
    return tuple(row["text"] for row in _rows("benign"))


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
