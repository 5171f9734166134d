"""Paths and globs: where an entry applies, and how near it is to what is being edited.

``*`` and ``?`` stay within a segment, ``**`` spans any number of segments, and a path without a
glob covers what lies below it too. Every match takes time proportional to the product of the two
lengths at most: no pattern can make it slow.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

EQUAL = 1.0
CONTAINS = 0.6
"""One of the two lies below the other, or a glob covers it."""

SAME_FOLDER = 0.2

_SPAN = "**"


class Requested:
    """The paths of one request, prepared for asking about thousands of entries.

    Args:
        paths: Files, folders or globs, as `codeflow_memory.domain.sources` accepts them. A folder
            stands for what lies in it, a glob for what it may cover.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(dict.fromkeys(path.rstrip("/") for path in paths))
        self._whole = frozenset(self._paths)
        literals = {_literal(path) for path in self._paths}
        self._above = frozenset(folder for path in literals for folder in _and_above(path))
        self._below = tuple(path + "/" if path else "" for path in literals)
        self._folders = frozenset(_folder(path) for path in self._paths if not is_glob(path))
        self._met: dict[str, bool] = {}
        self._near: dict[str, float] = {}
        self._near_cited: dict[str, float] = {}

    def __bool__(self) -> bool:
        """Tell whether there are any."""
        return bool(self._paths)

    def concerned(self, patterns: Sequence[str]) -> bool:
        """Tell whether an entry with *patterns* applies here; it does if either side has none."""
        return not patterns or not self._paths or any(map(self.meets, patterns))

    def concerned_of(self, lists: "PatternLists") -> set[tuple[str, ...]]:
        """Return those of *lists* that are `concerned`, asking only those of nearby folders.

        None of them where no path is requested, though all apply then.
        """
        near = lists.at(self._above) | lists.below(self._below)
        return {patterns for patterns in near if self.concerned(patterns)}

    def closeness(self, patterns: Iterable[str], cited: Iterable[str]) -> float:
        """Return how near an entry is: `EQUAL`, `CONTAINS`, `SAME_FOLDER` or 0.

        Args:
            patterns: The entry's ``paths``.
            cited: The files that its sources cite. Only these can be near by folder alone:
                ``paths`` have already said where the entry applies.
        """
        nearest = 0.0
        for pattern in patterns:
            near = self._near.get(pattern)
            if near is None:
                near = self._near[pattern] = self._nearness(pattern)
            nearest = max(near, nearest)
        for file in cited:
            near = self._near_cited.get(file)
            if near is None:
                near = self._near_cited[file] = self._nearness(file) or self._beside(file)
            nearest = max(near, nearest)
        return nearest

    def meets(self, pattern: str) -> bool:
        """Tell whether *pattern* and one of the paths have any file in common."""
        known = self._met.get(pattern)
        if known is None:
            known = self._met[pattern] = self._decide(pattern)
        return known

    def _nearness(self, pattern: str) -> float:
        if pattern in self._whole:
            return EQUAL
        return CONTAINS if self.meets(pattern) else 0.0

    def _beside(self, file: str) -> float:
        return SAME_FOLDER if _folder(file) in self._folders else 0.0

    def _decide(self, pattern: str) -> bool:
        # Most entries are elsewhere, which the folders before the first glob tell in 0.2 µs.
        literal = _literal(pattern)
        near = literal in self._above or literal.startswith(self._below)
        return near and any(meet(pattern, path) for path in self._paths)


class PatternLists:
    """Lists of patterns by the folders that they lie in: most entries are far from any request.

    Args:
        lists: None of them empty.
    """

    def __init__(self, lists: Iterable[tuple[str, ...]]) -> None:
        found: dict[str, set[tuple[str, ...]]] = {}
        for patterns in lists:
            for pattern in patterns:
                found.setdefault(_literal(pattern), set()).add(patterns)
        self._found = found
        self._literals = sorted(found)

    def at(self, literals: Iterable[str]) -> set[tuple[str, ...]]:
        """Return the lists with a pattern whose part before its first glob is one of these."""
        return {patterns for at in literals for patterns in self._found.get(at, ())}

    def below(self, folders: Iterable[str]) -> set[tuple[str, ...]]:
        """Return the lists with a pattern whose part before its first glob begins so."""
        near: set[tuple[str, ...]] = set()
        for folder in folders:
            at = bisect_left(self._literals, folder)
            while at < len(self._literals) and self._literals[at].startswith(folder):
                near |= self._found[self._literals[at]]
                at += 1
        return near


def applies(patterns: Sequence[str], requested: Iterable[str]) -> bool:
    """Tell whether an entry with *patterns* concerns any of *requested*; see `Requested`."""
    return Requested(requested).concerned(patterns)


def closeness(patterns: Iterable[str], cited: Iterable[str], requested: Iterable[str]) -> float:
    """Return how near an entry is to *requested*, from 0 to 1; see `Requested.closeness`."""
    return Requested(requested).closeness(patterns, cited)


def meet(first: str, second: str) -> bool:
    """Tell whether some file is covered by both, each of which may be a glob or a folder."""
    return _overlap(_segments(first), _segments(second), _SPAN, segments_meet)


def covers(pattern: str, name: str) -> bool:
    """Tell whether *pattern* covers exactly *name*, whose every character stands for itself."""
    return _overlap(tuple(pattern.split("/")), tuple(name.split("/")), _SPAN, _segment_covers)


@lru_cache(maxsize=16_384)
def segments_meet(first: str, second: str) -> bool:
    """Tell whether some name is matched by both segments, either of which may be a glob."""
    if is_glob(first) or is_glob(second):
        return _overlap(first, second, "*", _letters_meet)
    return first == second


def is_glob(path: str) -> bool:
    """Tell whether *path* has any of ``*`` and ``?``."""
    return "*" in path or "?" in path


def _overlap(
    first: Sequence[str], second: Sequence[str], span: str, meets: Callable[[str, str], bool]
) -> bool:
    """Tell whether some sequence is matched by both, where *span* matches any number of items.

    The table of two patterns: each row is one prefix of *first*, and says for every prefix of
    *second* whether some sequence is matched by both prefixes.
    """
    row = [True]
    for theirs in second:
        row.append(row[-1] and theirs == span)
    for ours in first:
        following = [row[0] and ours == span]
        for at, theirs in enumerate(second):
            if span in (ours, theirs):
                following.append(row[at + 1] or following[at])
            else:
                following.append(row[at] and meets(ours, theirs))
        row = following
    return row[-1]


def _letters_meet(first: str, second: str) -> bool:
    return first == second or "?" in (first, second)


def _segment_covers(pattern: str, name: str) -> bool:
    return _overlap(pattern, name, "*", _letters_meet) if is_glob(pattern) else pattern == name


@lru_cache(maxsize=16_384)
def _segments(pattern: str) -> tuple[str, ...]:
    """Split a pattern; one without a glob gets ``**`` at its end, for what lies below it."""
    segments = tuple(segment for segment in pattern.split("/") if segment)
    return segments if is_glob(pattern) else (*segments, _SPAN)


@lru_cache(maxsize=16_384)
def _literal(pattern: str) -> str:
    """Return the whole segments before the first glob: the folder that all it covers lies in."""
    ends = [at for at in (pattern.find("*"), pattern.find("?")) if at >= 0]
    return _folder(pattern[: min(ends)]) if ends else pattern.rstrip("/")


def _and_above(path: str) -> list[str]:
    """Return *path* and the folders that it lies in; the root is the empty string."""
    return [path, "", *(path[:at] for at, letter in enumerate(path) if letter == "/")]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
