"""``operations.json`` of a home, in which its server shows when the last backup was made."""

import json
import os
from contextlib import suppress
from typing import Any, Final

from codeflow_backup.files import create_private, sync_folder
from codeflow_backup.header import Core
from codeflow_backup.home import Home
from codeflow_backup.times import rfc3339

FILE: Final = "operations.json"
_MAX_BYTES = 65_536


def record_backup(home: Home, core: Core, name: str) -> None:
    """Note in the home that it was backed up; a home that cannot be written is left as it is.

    Args:
        home: What was backed up.
        core: Of the backup.
        name: Of its file, without its folder.
    """
    path = home.path / FILE
    last = {"at": rfc3339(core.created_at), "file": name, "backup_id": core.backup_id}
    temporary = home.path / f".{FILE}.{os.urandom(8).hex()}"
    try:
        create_private(temporary, json.dumps(_kept(home) | {"last_backup": last}).encode() + b"\n")
        temporary.replace(path)
        sync_folder(home.path)
    except OSError:
        # The backup stands and was verified: this note is not worth its failure.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _kept(home: Home) -> dict[str, Any]:
    """Return what the file says already; nothing where it says nothing that can be read."""
    if not home.is_regular(FILE):
        return {}
    with (home.path / FILE).open("rb") as file:
        text = file.read(_MAX_BYTES)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
