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


def of(home: Home) -> list[Path]:
    """List the folders that restores moved an earlier state to, then copies of before migrations.

    In order of their names.
    """
    own = (path for paths in copies.kept(home).values() for path in paths)
    return [*restoration.undo_folders(home), *own]
