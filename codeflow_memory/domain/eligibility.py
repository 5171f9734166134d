"""Eligibility: which entries a selection may take at all; everything else comes after (01 §9.1)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codeflow_memory.domain.branches import Applies, decide
from codeflow_memory.domain.memory import Sensitivity
from codeflow_memory.domain.paths import PatternLists, Requested


class Traits(NamedTuple):
    """All that the filter and closeness read of an entry.

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
class Group:
    """Entries that apply at the same paths and branches.

    Args:
        paths: Where they apply.
        branches: On which branches they apply.
        memory_ids: Their ids.
        by_cited: The same, by the files that their sources cite.
    """

    paths: tuple[str, ...]
    branches: tuple[str, ...]
    memory_ids: frozenset[str]
    by_cited: tuple[tuple[tuple[str, ...], frozenset[str]], ...]

    def without(self, memory_ids: frozenset[str]) -> "Group":
        """Return the group without these."""
        by_cited = tuple((cited, ids - memory_ids) for cited, ids in self.by_cited)
        return Group(self.paths, self.branches, self.memory_ids - memory_ids, by_cited)


@dataclass(frozen=True, slots=True)
class Mark:
    """Entries of one kind, sensitivity and expiry, by their paths."""

    kind: str
    sensitivity: str
    valid_to: int | None
    count: int
    groups: Mapping[tuple[str, ...], Sequence[Group]]


@dataclass(frozen=True, slots=True)
class Arranged:
    """Entries so that a filter asks about few: by what it reads, in the order in which it does.

    Args:
        marks: All entries.
        lists: The paths of those that do not apply everywhere.
    """

    marks: tuple[Mark, ...]
    lists: PatternLists


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
        groups: The same, by where they apply.
        removed: How many entries each filter removed, by its name.
    """

    memory_ids: frozenset[str]
    groups: tuple[Group, ...]
    removed: dict[str, int]


FILTERS = ("kind", "sensitivity", "expired", "path", "branch", "citation")
"""In the order in which they are asked; an entry counts for the first that removes it."""


def arrange(entries: Iterable[tuple[str, Traits]]) -> Arranged:
    """Arrange entries, an id and its traits each, for `select`."""
    found: dict[_Key, dict[tuple[str, ...], _Branches]] = {}
    for memory_id, traits in entries:
        mark = (traits.kind, traits.sensitivity, traits.valid_to)
        branches = found.setdefault(mark, {}).setdefault(traits.paths, {})
        branches.setdefault(traits.branches, {}).setdefault(traits.cited, []).append(memory_id)
    marks = []
    for mark, by_paths in found.items():
        groups = {
            paths: tuple(_group(paths, branches, cited) for branches, cited in by_branches.items())
            for paths, by_branches in by_paths.items()
        }
        marks.append(Mark(*mark, sum(map(_count, groups.values())), groups))
    paths = {paths for by_paths in found.values() for paths in by_paths if paths}
    return Arranged(tuple(marks), PatternLists(paths))


_Key = tuple[str, str, int | None]
_Branches = dict[tuple[str, ...], dict[tuple[str, ...], list[str]]]
"""Branches, then cited files, to ids."""


def _group(
    paths: tuple[str, ...], branches: tuple[str, ...], cited: Mapping[tuple[str, ...], list[str]]
) -> Group:
    by_cited = tuple((files, frozenset(ids)) for files, ids in cited.items())
    return Group(paths, branches, frozenset().union(*(ids for _, ids in by_cited)), by_cited)


def _count(groups: Iterable[Group]) -> int:
    return sum(len(group.memory_ids) for group in groups)


def select(arranged: Iterable[Arranged], standpoint: Standpoint) -> Eligible:
    """Keep the entries that apply at *standpoint*; what cannot be told stays.

    Of 5,000 entries one by one this took 11 ms; by what they have in common, and by folders, 0.2.
    """
    removed = dict.fromkeys(FILTERS, 0)
    kept: list[Group] = []
    for part in arranged:
        here = standpoint.requested.concerned_of(part.lists)
        for mark in part.marks:
            fault = _removed_by(mark, standpoint)
            if fault is not None:
                removed[fault] += mark.count
                continue
            near = _near(mark, here, standpoint)
            removed["path"] += mark.count - _count(near)
            for group in near:
                if group.branches and _elsewhere(group.branches, standpoint):
                    removed["branch"] += len(group.memory_ids)
                    continue
                whole = group.without(standpoint.broken) if standpoint.broken else group
                removed["citation"] += len(group.memory_ids) - len(whole.memory_ids)
                kept.append(whole)
    return Eligible(frozenset().union(*(g.memory_ids for g in kept)), tuple(kept), removed)


def _near(mark: Mark, here: Collection[tuple[str, ...]], standpoint: Standpoint) -> list[Group]:
    """Return the groups that apply everywhere or *here*: all, for a request without paths."""
    if not standpoint.requested:
        return [group for groups in mark.groups.values() for group in groups]
    return [group for paths in ((), *here) for group in mark.groups.get(paths, ())]


def _elsewhere(branches: tuple[str, ...], standpoint: Standpoint) -> bool:
    return decide(branches, standpoint.branch, standpoint.ancestors) is Applies.NO


def _removed_by(mark: Mark, standpoint: Standpoint) -> str | None:
    if mark.kind not in standpoint.kinds:
        return "kind"
    if mark.sensitivity != Sensitivity.NORMAL:
        return "sensitivity"
    if mark.valid_to is not None and mark.valid_to <= standpoint.at:
        return "expired"
    return None
