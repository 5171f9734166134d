"""Branches: whether an entry that names branches or commits applies where the caller stands.

An item is a branch's name, a glob (``*`` and ``?`` stay within a segment of the name, ``**`` spans
segments, as in git's own ref patterns) or ``commit:<40 hex>``, which applies where that commit is
an ancestor of the head.
"""

from collections.abc import Iterable
from enum import StrEnum

from codeflow_memory.domain.paths import covers, is_glob

_COMMIT = "commit:"
_HEADS = "refs/heads/"


class Applies(StrEnum):
    """What can be told; an entry of which nothing can be told stays."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def decide(items: Iterable[str], branch: str | None, ancestors: frozenset[str] | None) -> Applies:
    """Tell whether an entry with *items* applies.

    Args:
        items: The entry's ``branches``; none means every branch.
        branch: Where the caller stands; ``None`` when it is not known.
        ancestors: The commits, of those that entries name, which are the head or its ancestors;
            ``None`` when that cannot be told.

    Returns:
        Yes when any item says yes, else unknown when any cannot be told, else no.
    """
    answers = {_decide(item, branch, ancestors) for item in items}
    if not answers or Applies.YES in answers:
        return Applies.YES
    return Applies.UNKNOWN if Applies.UNKNOWN in answers else Applies.NO


def matches(item: str, branch: str) -> bool:
    """Tell whether *branch* is the name *item*, or one that it covers if it is a glob."""
    name, pattern = branch.removeprefix(_HEADS), item.removeprefix(_HEADS)
    return covers(pattern, name) if is_glob(pattern) else pattern == name


def _decide(item: str, branch: str | None, ancestors: frozenset[str] | None) -> Applies:
    if item.startswith(_COMMIT):
        if ancestors is None:
            return Applies.UNKNOWN
        return Applies.YES if item.removeprefix(_COMMIT) in ancestors else Applies.NO
    if branch is None:
        return Applies.UNKNOWN
    return Applies.YES if matches(item, branch) else Applies.NO
