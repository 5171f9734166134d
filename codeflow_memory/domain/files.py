"""Files: the names and edits of the file-style memory tool; no file of any disk is meant.

A path is a name that is compared, never one that is opened: below `ROOT`, in one spelling. What
would mean another place to some reader of paths (``..``, escapes, backslashes, look-alikes of dots
and slashes) is no name at all.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.text import hidden, normalise

ROOT = "/memories"
TAG = "file"
"""Of an entry that is a file."""

MAX_PATH = 190
MAX_SEGMENT = 100
MAX_SEGMENTS = 8

_KEY = "file:"
_REFUSED = re.compile(r"[\\%:*?\"<>|~$]")
_ID = re.compile(r"mem_[0-9A-Z]{26}")
_SLASHES = "/\\\u2044\u2215\u2216\u29f5\u29f8\ufe68"


@dataclass(frozen=True, slots=True)
class FilePath:
    """A name below `ROOT`, by its segments; the root has none."""

    segments: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join((ROOT, *self.segments))

    @property
    def name(self) -> str:
        """The path below the root: the title of the entry."""
        return "/".join(self.segments)

    @property
    def key(self) -> str:
        """The ``key`` of the entry that is this file."""
        return _KEY + self.name

    @property
    def memory_id(self) -> str | None:
        """The memory that the path names by its id, as searches give it."""
        named = len(self.segments) == 1 and _ID.fullmatch(self.segments[0])
        return self.segments[0] if named else None

    def is_below(self, folder: "FilePath") -> bool:
        """Tell whether this lies in *folder*, at any depth."""
        depth = len(folder.segments)
        return len(self.segments) > depth and self.segments[:depth] == folder.segments

    def moved(self, old: "FilePath", new: "FilePath") -> "FilePath":
        """Return what this path, at or below *old*, is once *old* is called *new*."""
        return FilePath(new.segments + self.segments[len(old.segments) :])


def parse_path(text: str) -> FilePath | None:
    """Read a path as it is spelled; ``None`` where it is none. One slash at its end is let pass."""
    path = normalise(text).removesuffix("/")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        return None
    if len(path) > MAX_PATH or hidden(path, multiline=False):
        return None
    segments = tuple(path.split("/")[2:])
    if len(segments) > MAX_SEGMENTS or not all(map(_is_name, segments)):
        return None
    return FilePath(segments)


def path_of(key: str | None) -> FilePath | None:
    """Return the file that an entry with this ``key`` is."""
    if key is None or not key.startswith(_KEY):
        return None
    return parse_path(f"{ROOT}/{key.removeprefix(_KEY)}")


def _is_name(segment: str) -> bool:
    plain = unicodedata.normalize("NFKC", segment)
    return (
        0 < len(segment) <= MAX_SEGMENT
        and segment == segment.strip()
        and bool(plain.strip(". "))
        and not any(slash in plain for slash in _SLASHES)
        and _REFUSED.search(segment) is None
        and _REFUSED.search(plain) is None
    )


def replaced(text: str, old: str, new: str) -> str:
    """Return *text* with its one occurrence of *old* replaced.

    Raises:
        InvalidRequestError: At ``/old_str``: it is empty, or does not occur exactly once.
    """
    count = text.count(old) if old else 0
    if count != 1:
        detail = "does not occur in the file" if old else "must not be empty"
        detail = f"occurs {count} times: it must name one place" if count else detail
        raise InvalidRequestError.at("/old_str", detail)
    return text.replace(old, new)


def inserted(text: str, line: int, new: str) -> str:
    """Return *text* with *new* as lines of its own after *line*; 0 is before the first.

    Raises:
        InvalidRequestError: At ``/insert_line``: there is no such line.
    """
    lines = text.split("\n")
    if not 0 <= line <= len(lines):
        raise InvalidRequestError.at("/insert_line", f"must be from 0 to {len(lines)}")
    lines[line:line] = new.removesuffix("\n").split("\n")
    return "\n".join(lines)


def numbered(text: str, view_range: Sequence[int] | None) -> str:
    """Return the lines of *text* with their numbers, from 1; -1 is the last line's.

    Raises:
        InvalidRequestError: At ``/view_range``: there are no such lines.
    """
    lines = text.split("\n")
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    if not 1 <= first <= last <= len(lines):
        raise InvalidRequestError.at("/view_range", f"must lie within 1 and {len(lines)}")
    shown = enumerate(lines[first - 1 : last], start=first)
    return "\n".join(f"{number:6}\t{line}" for number, line in shown)
