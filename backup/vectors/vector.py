"""A vector: a container, what it is to be opened with, and the answer that a decoder must give."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from encoder import Key, Recipe, Slot, container, key_file, plaintext

OK, WRONG_KEY, DAMAGED, UNKNOWN = "ok", "wrong-key", "damaged", "unknown-version"

KEY = key_file("key")
OTHER = key_file("other")
PASSPHRASE = Key("passphrase", "passphrase", b"correct horse\n", b"correct horse")
SMALL = plaintext(("memory.sqlite", b"SQLite format 3\0" + bytes(48)), ("key", b"k" * 32))


@dataclass(frozen=True)
class Vector:
    """One file of the folder.

    Args:
        name: Of the file, without its ending.
        why: What it shows, a sentence for the index.
        answer: What a decoder must say.
        recipe: How it is made; its label is the name if it has none.
        key: What it is opened with.
        data: The file itself, if no recipe makes it.
    """

    name: str
    why: str
    answer: str
    recipe: Recipe = field(default_factory=lambda: Recipe("", SMALL, (Slot(KEY),)))
    key: Key = KEY
    data: bytes | None = None

    def file(self) -> bytes:
        """Return the bytes of the file."""
        return container(self.made()) if self.data is None else self.data

    def made(self) -> Recipe:
        """Return the recipe under its label."""
        return replace(self.recipe, label=self.recipe.label or self.name)

    def entry(self) -> dict[str, Any]:
        """Return what the index says."""
        entry = {"file": f"{self.name}.cfmb", "key": self.key.name, "result": self.answer}
        if self.answer == OK:
            entry["plaintext_sha256"] = hashlib.sha256(self.recipe.plaintext).hexdigest()
        return {**entry, "why": self.why}


def recipe(**changes: Any) -> Recipe:
    """Return a recipe with one key file slot and a small plaintext, but for *changes*."""
    return Recipe(**{"label": "", "plaintext": SMALL, "slots": (Slot(KEY),), **changes})


def vector(name: str, why: str, answer: str, key: Key = KEY, **changes: Any) -> Vector:
    """Return a vector of a recipe that differs by *changes*."""
    return Vector(name, why, answer, recipe(**changes), key)
