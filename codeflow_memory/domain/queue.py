"""The review queue: why an entry waits for a person, and which waits most urgently."""

from collections.abc import Mapping

NEW = "new"
"""An entry that waits for nothing but a first decision."""

RANKS: Mapping[str, int] = {
    "flagged": 0,
    "conflict": 1,
    "citation": 2,
    "secret": 3,
    "sensitive": 3,
    "successor": 4,
    "similar": 5,
    "duplicate": 5,
    "trust": 6,
    "origin": 7,
    "tainted": 7,
    "vanished": 8,
    "recovered": 8,
    "returned": 8,
    "undone": 8,
    "legal-hold": 8,
}
"""Reason to its place, the riskiest first: text that may steer an agent, then what contradicts or
no longer holds, what must not spread, what repeats, and last what only came back."""

_LAST = 9

NAMING = frozenset({"duplicate", "similar", "tainted"})
"""Reasons that name another entry: to who does not see that, they are their word alone."""


def reasons_of(review_reason: str | None, *, conflicts: bool, supersedes: bool) -> tuple[str, ...]:
    """Return why an entry waits, the riskiest first; `NEW` alone where nothing speaks against it.

    Args:
        review_reason: As stored: a word, or a word, a colon and what it is about.
        conflicts: Whether another entry says something else under the same key.
        supersedes: Whether it would take the place of guidance in service.
    """
    found = [] if review_reason is None else [review_reason]
    if conflicts and word(review_reason or "") != "conflict":
        found.append("conflict")
    if supersedes:
        found.append("successor")
    return tuple(sorted(found, key=lambda reason: (rank(reason), reason))) or (NEW,)


def word(reason: str) -> str:
    """Return a reason without what it is about: what a queue is narrowed and counted by."""
    return reason.partition(":")[0]


def rank(reason: str) -> int:
    """Return the place of a reason; 0 is the riskiest."""
    return RANKS.get(word(reason), _LAST)


def risk(reason: str) -> str:
    """Return ``high``, ``medium`` or ``low``."""
    place = rank(reason)
    if place <= RANKS["secret"]:
        return "high"
    return "medium" if place < RANKS["origin"] else "low"
