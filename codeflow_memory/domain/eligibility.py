"""Eligibility: which entries a selection may take at all; everything else comes after (01 §9.1)."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from codeflow_memory.domain.branches import Applies, decide
from codeflow_memory.domain.memory import Sensitivity
from codeflow_memory.domain.paths import Requested


class Filtered(Protocol):
    """What the filter reads of an entry."""

    @property
    def memory_id(self) -> str:
        """Its id."""
        ...

    @property
    def kind(self) -> str:
        """Its kind."""
        ...

    @property
    def sensitivity(self) -> str:
        """How far its text may travel."""
        ...

    @property
    def valid_to(self) -> int | None:
        """When it ceases to hold, Unix microseconds."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """Where it applies."""
        ...

    @property
    def branches(self) -> tuple[str, ...]:
        """On which branches it applies."""
        ...


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where the caller stands.

    Args:
        kinds: Kinds that are wanted.
        requested: Paths that are being worked on.
        branch: ``None`` when it is not known.
        ancestors: Of the commits that entries name, the head and its ancestors; ``None`` when
            that cannot be told.
        at: Unix microseconds.
        broken: Entries whose required citation no longer holds.
    """

    kinds: Collection[str]
    requested: Requested
    branch: str | None
    ancestors: frozenset[str] | None
    at: int
    broken: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Eligible:
    """Ids of the entries that passed, and how many each filter removed, by its name."""

    memory_ids: frozenset[str]
    removed: dict[str, int]


FILTERS = ("kind", "sensitivity", "expired", "citation", "path", "branch")
"""In the order in which they are asked; an entry counts for the first that removes it."""


def select(entries: Iterable[Filtered], standpoint: Standpoint) -> Eligible:
    """Keep the entries that apply at *standpoint*; what cannot be told stays."""
    removed: Counter[str] = Counter(dict.fromkeys(FILTERS, 0))
    kept = []
    for entry in entries:
        fault = _removed_by(entry, standpoint)
        if fault is None:
            kept.append(entry.memory_id)
        else:
            removed[fault] += 1
    return Eligible(frozenset(kept), dict(removed))


def _removed_by(entry: Filtered, standpoint: Standpoint) -> str | None:
    if entry.kind not in standpoint.kinds:
        return "kind"
    if entry.sensitivity != Sensitivity.NORMAL:
        return "sensitivity"
    if entry.valid_to is not None and entry.valid_to <= standpoint.at:
        return "expired"
    if entry.memory_id in standpoint.broken:
        return "citation"
    if entry.paths and not standpoint.requested.concerned(entry.paths):
        return "path"
    if entry.branches and _elsewhere(entry, standpoint):
        return "branch"
    return None


def _elsewhere(entry: Filtered, standpoint: Standpoint) -> bool:
    return decide(entry.branches, standpoint.branch, standpoint.ancestors) is Applies.NO
