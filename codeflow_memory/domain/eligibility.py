"""Eligibility: which entries a selection may take at all; everything else comes after (01 §9.1)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from codeflow_memory.domain.branches import Applies, decide
from codeflow_memory.domain.memory import Sensitivity
from codeflow_memory.domain.paths import Requested


@dataclass(frozen=True, slots=True)
class Traits:
    """All that the filter and closeness read of an entry; many entries have the same.

    Args:
        kind: Its kind.
        sensitivity: How far its text may travel.
        valid_to: When it ceases to hold, Unix microseconds; ``None``: never.
        paths: Where it applies.
        branches: On which branches it applies.
        cited: The files that its sources cite.
    """

    kind: str
    sensitivity: str
    valid_to: int | None
    paths: tuple[str, ...]
    branches: tuple[str, ...]
    cited: tuple[str, ...]


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
    """What passed.

    Args:
        memory_ids: Ids of the entries.
        groups: The same, by their traits.
        removed: How many entries each filter removed, by its name.
    """

    memory_ids: frozenset[str]
    groups: tuple[tuple[Traits, frozenset[str]], ...]
    removed: dict[str, int]


FILTERS = ("kind", "sensitivity", "expired", "path", "branch", "citation")
"""In the order in which they are asked; an entry counts for the first that removes it."""


def select(groups: Iterable[tuple[Traits, frozenset[str]]], standpoint: Standpoint) -> Eligible:
    """Keep the entries that apply at *standpoint*; what cannot be told stays.

    Each group is asked once for all its entries: of 5,000 that takes 1 ms instead of 11.
    """
    removed = dict.fromkeys(FILTERS, 0)
    kept: list[tuple[Traits, frozenset[str]]] = []
    elsewhere = _Elsewhere(standpoint)
    for traits, memory_ids in groups:
        fault = _removed_by(traits, standpoint, elsewhere)
        if fault is not None:
            removed[fault] += len(memory_ids)
            continue
        whole = memory_ids - standpoint.broken if standpoint.broken else memory_ids
        removed["citation"] += len(memory_ids) - len(whole)
        kept.append((traits, whole))
    return Eligible(frozenset().union(*(ids for _, ids in kept)), tuple(kept), removed)


class _Elsewhere:
    """Paths and branches that do not apply at a standpoint; each tuple of them is asked once."""

    def __init__(self, standpoint: Standpoint) -> None:
        self._standpoint = standpoint
        self._paths: dict[tuple[str, ...], bool] = {}
        self._branches: dict[tuple[str, ...], bool] = {}

    def by_paths(self, paths: tuple[str, ...]) -> bool:
        known = self._paths.get(paths)
        if known is None:
            known = self._paths[paths] = not self._standpoint.requested.concerned(paths)
        return known

    def by_branches(self, branches: tuple[str, ...]) -> bool:
        known = self._branches.get(branches)
        if known is None:
            found = decide(branches, self._standpoint.branch, self._standpoint.ancestors)
            known = self._branches[branches] = found is Applies.NO
        return known


def _removed_by(traits: Traits, standpoint: Standpoint, elsewhere: _Elsewhere) -> str | None:
    if traits.kind not in standpoint.kinds:
        return "kind"
    if traits.sensitivity != Sensitivity.NORMAL:
        return "sensitivity"
    if traits.valid_to is not None and traits.valid_to <= standpoint.at:
        return "expired"
    if traits.paths and elsewhere.by_paths(traits.paths):
        return "path"
    if traits.branches and elsewhere.by_branches(traits.branches):
        return "branch"
    return None
