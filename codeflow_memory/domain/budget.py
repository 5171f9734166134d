"""The budget of a context: which entries fit, taken in the order of their scores."""

from dataclasses import dataclass
from enum import StrEnum


class Omission(StrEnum):
    """Which budget an entry did not fit."""

    CHARACTERS = "characters"
    ENTRIES = "entries"


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many characters of context, its frame included, and so many entries."""

    characters: int = 12_000
    entries: int = 20


class Filling:
    """Takes entries one by one while both budgets hold.

    After one that is too long a shorter one may still fit.

    Args:
        budget: Both limits.
        frame: Characters that the context has without any entry.
    """

    def __init__(self, budget: Budget, *, frame: int) -> None:
        self.left = budget.characters - frame
        self._places = budget.entries

    @property
    def full(self) -> bool:
        """Tell whether no entry is taken any more, however short."""
        return self._places <= 0

    def offer(self, size: int) -> Omission | None:
        """Take an entry of *size* characters, or return which budget it does not fit."""
        if self.full:
            return Omission.ENTRIES
        if size > self.left:
            return Omission.CHARACTERS
        self._places -= 1
        self.left -= size
        return None
