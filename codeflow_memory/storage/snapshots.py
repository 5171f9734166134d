"""Snapshots: what a home keeps of earlier states, and which may hold what was deleted since."""

from collections.abc import Mapping
from pathlib import Path

from codeflow_memory.storage import copies, restoration
from codeflow_memory.storage.home import Home

FIX: Mapping[bool, str] = {
    True: "`codeflow-backup restore --discard-previous` removes it; seven days do too",
    False: "the next `codeflow-memory up` removes it",
}
"""How a folder goes, and how a file does."""

FIX_BESIDE: Mapping[bool, str] = {
    True: "the server removes it after seven days",
    False: "`codeflow-memory tenant move` again ends the move that it waits for",
}
"""How a database goes that was put aside, and how one that is staged."""


def of(home: Home) -> list[Path]:
    """List the folders that restores moved an earlier state to, then copies of before migrations.

    In order of their names.
    """
    own = (path for paths in copies.kept(home).values() for path in paths)
    return [*restoration.undo_folders(home), *own]
