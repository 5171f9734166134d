"""Pruning a folder of backups: which are kept, by rules of how many and how far apart.

The newest backup of each store that verifies is kept whatever the rules say, and what is no backup
is not touched.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from codeflow_backup import shelf, signature, verifying
from codeflow_backup.errors import DamagedError, UnknownVersionError, WrongKeyError
from codeflow_backup.files import sync_folder
from codeflow_backup.keys import Secret
from codeflow_backup.progress import unwatched
from codeflow_backup.shelf import Entry, Other
from codeflow_backup.times import moment
from codeflow_backup.verifying import Level


@dataclass(frozen=True, slots=True)
class Policy:
    """How many backups of each store are kept: the last, and the last of each day, week, month."""

    last: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0

    def is_empty(self) -> bool:
        """Tell whether it keeps nothing by itself."""
        return not (self.last or self.daily or self.weekly or self.monthly)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one backup: the rules that keep it, none where it goes."""

    entry: Entry
    kept_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a pruning does.

    Args:
        verdicts: One for each backup, the oldest first.
        others: Files that are not touched.
        level: How deep the newest was verified.
    """

    verdicts: tuple[Verdict, ...]
    others: tuple[Other, ...]
    level: Level

    @property
    def removed(self) -> list[Entry]:
        """List what goes."""
        return [verdict.entry for verdict in self.verdicts if not verdict.kept_by]


def plan(folder: Path, policy: Policy, secrets: Sequence[Secret]) -> Plan:
    """Decide what of *folder* is kept; nothing is touched.

    Args:
        folder: Of backups, whose ever.
        policy: Applied to each store by itself.
        secrets: With one that opens them, "verified" means every chunk; without, the structure.

    Raises:
        MissingError: There is no such folder.
        UnusableError: A backup cannot be read.
    """
    entries, others = shelf.look(folder)
    kept: dict[Path, list[str]] = {entry.path: [] for entry in entries}
    for group in shelf.of_instance(entries).values():
        newest_first = group[::-1]
        for rule, entry in _kept(newest_first, policy):
            kept[entry.path].append(rule)
        newest = _newest_verified(newest_first, secrets)
        # Where none verifies, none is known to be worth less than another.
        for entry in newest or group:
            kept[entry.path].append("newest verified" if newest else "none verifies")
    verdicts = tuple(Verdict(entry, tuple(kept[entry.path])) for entry in entries)
    return Plan(verdicts, tuple(others), Level.CHUNKS if secrets else Level.STRUCTURE)


def apply(planned: Plan) -> list[Entry]:
    """Remove what the plan removes, with the signatures beside it; return what went.

    A file that is another by now than when the plan was made stays.
    """
    gone = []
    for entry in planned.removed:
        if not _is_still(entry):
            continue
        entry.path.unlink()
        entry.path.with_name(entry.path.name + signature.SUFFIX).unlink(missing_ok=True)
        sync_folder(entry.path.parent)
        gone.append(entry)
    return gone


def _kept(newest_first: Sequence[Entry], policy: Policy) -> list[tuple[str, Entry]]:
    found = [("last", entry) for entry in newest_first[: policy.last]]
    for rule, count, period in (
        ("daily", policy.daily, _day),
        ("weekly", policy.weekly, _week),
        ("monthly", policy.monthly, _month),
    ):
        found += [(rule, entry) for entry in _last_of_each(newest_first, count, period)]
    return found


def _last_of_each(
    newest_first: Sequence[Entry], count: int, period: Callable[[datetime], tuple[int, ...]]
) -> list[Entry]:
    """Return the newest backup of each of the last *count* periods that have one."""
    newest: dict[tuple[int, ...], Entry] = {}
    for entry in newest_first:
        newest.setdefault(period(moment(entry.core.created_at)), entry)
    return list(newest.values())[:count]


def _day(at: datetime) -> tuple[int, ...]:
    return at.year, at.month, at.day


def _week(at: datetime) -> tuple[int, ...]:
    return at.isocalendar()[:2]


def _month(at: datetime) -> tuple[int, ...]:
    return at.year, at.month


def _newest_verified(newest_first: Sequence[Entry], secrets: Sequence[Secret]) -> list[Entry]:
    """Return the newest backup that verifies, and the one that has seen most changes.

    After a restore of an older one, and where a clock went wrong, these are two.
    """
    found = []
    by_generation = sorted(newest_first, key=lambda entry: entry.core.generation, reverse=True)
    for order in (newest_first, by_generation):
        entry = next((entry for entry in order if _verifies(entry, secrets)), None)
        if entry is not None and entry not in found:
            found.append(entry)
    return found


def _verifies(entry: Entry, secrets: Sequence[Secret]) -> bool:
    if not secrets:
        # Its structure was checked when the folder was looked at.
        return True
    try:
        verifying.verify(entry.path, secrets, Level.CHUNKS, unwatched)
    except (DamagedError, WrongKeyError, UnknownVersionError):
        return False
    return True


def _is_still(entry: Entry) -> bool:
    try:
        now = entry.path.lstat()
    except FileNotFoundError:
        return False
    then = entry.stat
    return os.path.samestat(now, then) and now.st_mtime_ns == then.st_mtime_ns
