"""Undo folders: what a restore replaced, kept for a while under the day it was replaced.

They hold what stood in the home before, deleted texts too where they stood there.
"""

from datetime import UTC, datetime

from codeflow_backup import swap
from codeflow_backup.home import UNDO, Home

_MOST_A_SECOND = 1_000


def new_name(home: Home) -> str:
    """Return a name for a new undo folder; nothing in the home has it."""
    stamp = UNDO + datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    names = (stamp, *(f"{stamp}-{number}" for number in range(2, _MOST_A_SECOND)))
    return next(name for name in names if not (home.path / name).exists())


def folders(home: Home) -> list[str]:
    """List the undo folders of the home, the oldest first."""
    found = (path for path in home.path.glob(f"{UNDO}*") if path.is_dir())
    return sorted(path.name for path in found if not path.is_symlink())


def discard(home: Home) -> list[str]:
    """Remove every undo folder of the home, which is held alone; return their names."""
    found = folders(home)
    for name in found:
        swap.remove_folder(home, name)
    return found
