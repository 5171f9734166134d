"""Snapshots: what a home keeps of earlier states, and which may hold what was deleted since."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from codeflow_memory.storage import copies, databases, restoration
from codeflow_memory.storage.databases import Earlier
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


def beside(home: Home) -> list[Earlier]:
    """List what lies beside the databases of a home, wherever those are."""
    with closing(databases.of(home)) as found:
        return found.earlier()
