"""Operations: what a tenant's tables, and files of its home, say of how it is run."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.home import Home, is_regular, sync_folder, write_private

FILE = "operations.json"
"""Written by `codeflow-backup` and by the restore drill, each its own key."""

MAX_FILE_BYTES = 64 * 1024

_TEXT_CHARACTERS = 200


def fullest_project(tx: Transaction) -> int:
    """Return how many live entries the fullest project has."""
    return int(
        tx.value("SELECT COALESCE(MAX(live_entries), 0) FROM scopes WHERE audience = 'project'")
    )


def largest_scope(tx: Transaction) -> int:
    """Return how many bytes the largest scope counts."""
    return int(tx.value("SELECT COALESCE(MAX(canonical_bytes), 0) FROM scopes"))


def waiting_jobs(tx: Transaction) -> int:
    """Count the jobs that are yet to be done, or under way."""
    return int(tx.value("SELECT COUNT(*) FROM jobs WHERE status IN ('queued', 'leased')"))


def dead_jobs(tx: Transaction) -> int:
    """Count the jobs that were given up."""
    return int(tx.value("SELECT COUNT(*) FROM jobs WHERE status = 'dead'"))


def last(home: Home, what: str) -> dict[str, str] | None:
    """Return what the home's file says of the last *what*; ``None`` when it says nothing usable.

    Other programs write the file: whatever is in it, only short texts come out.
    """
    found = _read(home.path / FILE).get(what)
    if not isinstance(found, Mapping):
        return None
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, str) and len(value) <= _TEXT_CHARACTERS and value.isprintable()
    }


def take_over(source: Home, target: Home) -> None:
    """Put the file of *source* in the place of that of *target*."""
    if is_regular(source.path / FILE):
        temporary = target.path / f".{FILE}.{os.urandom(8).hex()}"
        write_private(temporary, (source.path / FILE).read_bytes())
        temporary.replace(target.path / FILE)
        sync_folder(target.path)


def _read(path: Path) -> Mapping[str, object]:
    if not is_regular(path):
        # Opening a pipe would wait for its other end.
        return {}
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        found = json.loads(data) if len(data) <= MAX_FILE_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
