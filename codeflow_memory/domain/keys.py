"""Keys: what an entry is about, and when two entries cannot both hold (03 §1.6, 08 §4)."""

import hashlib
import re
import unicodedata
from collections.abc import Collection

from codeflow_memory.domain.duplicates import family
from codeflow_memory.domain.memory import Content, canonical_json

FUNCTIONAL = frozenset(
    {
        "age",
        "birthday",
        "capital",
        "deadline",
        "default_branch",
        "email",
        "located_at",
        "manager",
        "owner",
        "phone",
        "spouse",
        "status",
        "title",
        "version",
        "works_at_primary",
    }
)
"""The predicates that have one value at a time, until a tenant says otherwise. Source: 08 §4."""

_SEGMENTS = re.compile(r"[|.]")
_AROUND = re.compile(r" ?([|.]) ?")


def fold(key: str) -> str:
    """Return *key* so that case, compatibility forms and white space make no difference.

    ``API | Version`` is ``api|version``.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
    return _AROUND.sub(r"\1", " ".join(folded.split()))


def predicate(key: str) -> str:
    """Return the last segment of *key*, after ``|`` or ``.``, folded; all of it without either."""
    return _SEGMENTS.split(fold(key))[-1]


def is_functional(content: Content, predicates: Collection[str]) -> bool:
    """Tell whether the key of *content* has one value at a time; *predicates* are folded."""
    return content.key is not None and predicate(content.key) in predicates


def digest(content: Content | None) -> str | None:
    """Return what entries about the same thing share, 64 hex digits; ``None`` without a key.

    The same thing is the same key, in one family of kinds, for the same paths and branches:
    ``|version`` of one folder says nothing of another's.
    """
    if content is None or content.key is None or family(content.kind) is None:
        return None
    about = [
        family(content.kind),
        fold(content.key),
        sorted(set(content.paths)),
        sorted(set(content.branches)),
    ]
    return hashlib.sha256(canonical_json(about).encode()).hexdigest()


def clash(a: Content, b: Content, at: int) -> bool:
    """Tell whether *a* and *b*, of one digest, hold at the same time at *at* or later.

    Args:
        a: One of them.
        b: The other.
        at: Unix microseconds; what has ceased to hold by then stands in nobody's way.
    """
    begins = max(at, a.valid_from or at, b.valid_from or at)
    ends = [c.valid_to for c in (a, b) if c.valid_to is not None]
    return all(begins < end for end in ends)


def closed_at(old: Content, new: Content, at: int) -> int | None:
    """Return when *old* ceases to hold because *new* took its place at *at*, Unix microseconds.

    That is when *new* begins to hold, where it says so, else *at*; never later than *old* says, nor
    before it began.
    """
    wanted = at if new.valid_from is None else new.valid_from
    if old.valid_from is not None and wanted <= old.valid_from:
        wanted = at
    if old.valid_from is not None and wanted <= old.valid_from:
        return old.valid_to
    return wanted if old.valid_to is None else min(wanted, old.valid_to)
