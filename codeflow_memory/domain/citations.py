"""Whether a cited file or range of lines still says what it said.

An `Anchor` is taken when a citation is made; later `check` compares it with the file at a commit
and, where it no longer stands there, with the rest of the tree. Nothing here reads a repository:
the tree is a list and its contents come through a function.
"""

import hashlib
import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_OTHER_FILES = 256
"""Files of the tree in which moved lines are looked for; those with the same name come first."""

LEAST_ELSEWHERE = 12
"""Letters and digits in lines looked for in other files; a lone ``}`` is in all of them."""

_TELLING = re.compile(rb"[0-9A-Za-z\x80-\xff]")
_HEAD_DIGITS = 8
_EMPTY_BLOB = hashlib.sha1(b"blob 0\0", usedforsecurity=False).hexdigest()


class Result(StrEnum):
    """What a check found."""

    VALID = "valid"
    MOVED = "moved"
    CHANGED = "changed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Citation:
    """A file, or lines of it, counted from 1 and inclusive; both ``None`` for the whole file."""

    path: str
    first_line: int | None = None
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """What was cited: the file's blob hash, as git computes it, and the hash of its lines.

    ``lines_hash`` is 64 hex digits: the first 8 of the SHA-256 of the first line, then the first
    56 of the SHA-256 of all the lines. The short part makes looking for moved lines cheap: only
    where it agrees are all lines hashed.
    """

    blob_hash: str
    lines_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result, and the place where a moved citation stands now, as ``file:path#L1-L2``."""

    result: Result
    new_place: str | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """A commit's files: path to blob hash, and a function from blob hashes to contents.

    The function may leave out what is absent, too long or beyond its own bound.
    """

    files: Mapping[str, str]
    contents: Callable[[Sequence[str]], Mapping[str, bytes]]


def anchor(content: bytes, first: int | None = None, last: int | None = None) -> Anchor | None:
    """Take the anchor of a file, or of its lines *first* to *last*, counted from 1 and inclusive.

    Returns:
        ``None`` when the range is not within the file.
    """
    if first is None:
        return Anchor(_blob_hash(content))
    lines = _lines(content)
    end = first if last is None else last
    if not 1 <= first <= end <= len(lines):
        return None
    return Anchor(_blob_hash(content), _lines_hash(lines[first - 1 : end]))


def check(citation: Citation, taken: Anchor | None, tree: Tree) -> Outcome:
    """Compare a citation with a tree; the first line that matches wins.

    =====================================================  =========
    the file is not there, and no anchor was taken         missing
    no anchor was taken, or the file is too long to read   unknown
    the file, or the lines in their place, are the same    valid
    they are elsewhere in the file or in another one       moved
    the file is not there                                  missing
    otherwise                                              changed
    =====================================================  =========

    Blank lines and empty files are the same everywhere, so they are never said to have moved.
    """
    blob = tree.files.get(citation.path)
    if taken is None:
        return Outcome(Result.MISSING if blob is None else Result.UNKNOWN)
    if blob == taken.blob_hash:
        return Outcome(Result.VALID)
    if taken.lines_hash is None or citation.first_line is None:
        place = _moved_file(citation.path, taken.blob_hash, tree.files)
    else:
        content = tree.contents([blob]).get(blob) if blob is not None else None
        if blob is not None and content is None:
            return Outcome(Result.UNKNOWN)
        count = (citation.last_line or citation.first_line) - citation.first_line + 1
        span = _Span(taken.lines_hash, citation.first_line, count)
        at = None if content is None else span.find(content)
        if at == citation.first_line:
            return Outcome(Result.VALID)
        place = span.place(citation.path, at) or _moved_lines(citation.path, span, taken, tree)
    if place is not None:
        return Outcome(Result.MOVED, place)
    return Outcome(Result.MISSING if blob is None else Result.CHANGED)


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines to look for: their hash, where they began and how many they are."""

    lines_hash: str
    first: int
    count: int

    def find(self, content: bytes, least: int = 1) -> int | None:
        """Return the line at which they begin now, the nearest to where they did.

        Anywhere but in their old place they must hold *least* letters and digits.
        """
        lines = _lines(content)
        head = self.lines_hash[:_HEAD_DIGITS]
        starts = [
            at
            for at in range(1, len(lines) - self.count + 2)
            if _digest(lines[at - 1])[:_HEAD_DIGITS] == head
        ]
        for at in sorted(starts, key=lambda at: (abs(at - self.first), at)):
            cited = lines[at - 1 : at - 1 + self.count]
            if _lines_hash(cited) != self.lines_hash:
                continue
            if _telling(cited) >= least or (least == 1 and at == self.first):
                return at
        return None

    def place(self, path: str, at: int | None) -> str | None:
        """Write the place as a source does."""
        return None if at is None else f"file:{path}#L{at}-L{at + self.count - 1}"


def _moved_file(path: str, blob_hash: str, files: Mapping[str, str]) -> str | None:
    if blob_hash == _EMPTY_BLOB:
        return None
    same = (other for other, blob in files.items() if blob == blob_hash and other != path)
    found = min(same, key=lambda other: _distance(path, other), default=None)
    return None if found is None else f"file:{found}"


def _moved_lines(path: str, span: _Span, taken: Anchor, tree: Tree) -> str | None:
    """Look for the lines in other files: the unchanged file first, then by name and nearness."""
    others = heapq.nsmallest(
        MAX_OTHER_FILES,
        (other for other in tree.files if other != path),
        key=lambda other: (tree.files[other] != taken.blob_hash, _distance(path, other)),
    )
    contents = tree.contents([tree.files[other] for other in others])
    for other in others:
        content = contents.get(tree.files[other])
        place = None if content is None else span.place(other, span.find(content, LEAST_ELSEWHERE))
        if place is not None:
            return place
    return None


def _distance(path: str, other: str) -> tuple[bool, bool, int, str]:
    """Order files by how likely something of *path* went there."""
    name, other_name = path.rpartition("/")[2], other.rpartition("/")[2]
    folders, other_folders = path.split("/")[:-1], other.split("/")[:-1]
    pairs = zip(folders, other_folders, strict=False)
    shared = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    depth = min(len(folders), len(other_folders)) if shared is None else shared
    same_kind = name.rpartition(".")[2] == other_name.rpartition(".")[2]
    apart = len(folders) + len(other_folders) - 2 * depth
    return (name != other_name, not same_kind, apart, other)


def _telling(lines: Iterable[bytes]) -> int:
    """Count letters and digits: what has few of them stands in many files by chance."""
    return sum(len(_TELLING.findall(line)) for line in lines)


def _lines(content: bytes) -> list[bytes]:
    """Split into lines without their ends, so that a change of line ends changes nothing."""
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


def _lines_hash(lines: Sequence[bytes]) -> str:
    whole = _digest(b"\n".join(lines))
    return _digest(lines[0])[:_HEAD_DIGITS] + whole[: len(whole) - _HEAD_DIGITS]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _blob_hash(content: bytes) -> str:
    # Git's name for the content; nothing rests on it being hard to forge.
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
