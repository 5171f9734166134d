"""A folder of backups, as it is listed and pruned: what each file says of itself without a key."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeflow_backup import backup_file, signature
from codeflow_backup.container import Reader
from codeflow_backup.errors import BackupError, MissingError
from codeflow_backup.header import Core
from codeflow_backup.slots import Slot


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that has the structure of a backup.

    Args:
        path: Of the file.
        bytes: Its size.
        core: What it says of itself.
        slots: Its keys.
        stat: What the file was when it was looked at.
    """

    path: Path
    bytes: int
    core: Core
    slots: tuple[Slot, ...]
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Other:
    """A file that is no backup, or none that can be read; it is never touched."""

    path: Path
    code: str
    reason: str


def look(folder: Path) -> tuple[list[Entry], list[Other]]:
    """Read the header of every file in *folder*, the oldest backup first.

    Hidden files, folders and the signatures of backups are passed over.

    Raises:
        MissingError: There is no such folder.
    """
    if not folder.is_dir():
        raise MissingError("there is no folder of that name")
    entries, others = list[Entry](), list[Other]()
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_dir() or _is_signature(path):
            continue
        try:
            entries.append(_entry(path))
        except BackupError as error:
            others.append(Other(path, error.code, str(error)))
    return sorted(entries, key=lambda entry: (entry.core.created_at, entry.path.name)), others


def _is_signature(path: Path) -> bool:
    return path.suffix == signature.SUFFIX and path.with_suffix("").exists()


def of_instance(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Group backups by the store they are of, in their order."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.core.instance_id, []).append(entry)
    return groups


def _entry(path: Path) -> Entry:
    with backup_file.opened(path) as file:
        found = os.fstat(file.fileno())
        reader = Reader(file)
        reader.check_structure()
        return Entry(path, found.st_size, reader.core, reader.slots, found)
