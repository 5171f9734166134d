"""The marker of a restore, ``restore.json`` in the home: what is swapped, and for what.

It is written when everything new lies complete and durable beside the old, and from then on the
restore is only ever finished. The first start of a server takes it away; `RESTORE.md` describes it.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from codeflow_backup import canonical
from codeflow_backup.canonical import Fields
from codeflow_backup.errors import DamagedError, UnusableError
from codeflow_backup.files import create_private, sync_folder
from codeflow_backup.home import MARKER, STAGING, UNDO, Home

T = TypeVar("T")

FORMAT: Final = 1
_MAX_BYTES = 2 * 1024 * 1024

_PART = r"(?!\.{1,2}(?:/|$))[0-9A-Za-z._-]{1,200}"
_NAME = re.compile(rf"{_PART}(?:/{_PART}){{0,2}}")
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_STAGING = re.compile(rf"{re.escape(STAGING)}[0-9a-f]{{16}}")
_UNDO = re.compile(rf"(?:{re.escape(UNDO)}[0-9TZ]{{16}}(?:-[0-9]{{1,4}})?)?")
_DIGEST_BYTES, _ID_BYTES = 32, 16


class State(StrEnum):
    """How far the swap has come."""

    SWAPPING = "swapping"
    PLACED = "placed"
    VERIFIED = "verified"
    """A server's start found the new databases to be what the backup held, and went on."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A database that was restored.

    Args:
        tenant: Its slug.
        fingerprint: What its first start must find.
        restore_epoch: What its first start sets: higher than any before it.
    """

    tenant: str
    fingerprint: str
    restore_epoch: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A restore under way, or waiting for its first start.

    Args:
        state: How far it has come.
        backup_id: Of the backup.
        staging: The folder in the home in which the new files lie.
        undo: The folder in the home that gets the old files; ``""`` where there are none.
        moves: The old files, as paths below the home.
        places: The new files, as paths below the home and the staging folder.
        databases: Those among the new files.
    """

    state: State
    backup_id: str
    staging: str
    undo: str
    moves: tuple[str, ...]
    places: tuple[str, ...]
    databases: tuple[Restored, ...]

    def encode(self) -> bytes:
        """Return the content of the file."""
        document = {
            "format": FORMAT,
            "state": str(self.state),
            "backup_id": self.backup_id,
            "staging": self.staging,
            "undo": self.undo,
            "moves": list(self.moves),
            "places": list(self.places),
            "databases": [
                {
                    "tenant": database.tenant,
                    "fingerprint": database.fingerprint,
                    "restore_epoch": database.restore_epoch,
                }
                for database in self.databases
            ],
        }
        return canonical.encode(document) + b"\n"


def find(home: Home) -> Marker | None:
    """Return the marker that stands in the home; ``None`` without a restore.

    Raises:
        UnusableError: It cannot be read, or another program wrote it.
    """
    path = home.path / MARKER
    if not os.path.lexists(path):
        return None
    refusal = f"{MARKER} in the home is not as a restore leaves it: see RESTORE.md"
    if not home.is_regular(MARKER):
        raise UnusableError(refusal)
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES)
    try:
        return _parse(data.removesuffix(b"\n"))
    except DamagedError:
        raise UnusableError(refusal) from None


def write(home: Home, marker: Marker) -> None:
    """Put the marker into the home, in place of the one that stands there, and sync it.

    Raises:
        UnusableError: A file to be moved has a name that no program could read back.
    """
    try:
        _parse(marker.encode().removesuffix(b"\n"))
    except DamagedError:
        odd = next((name for name in marker.moves if _NAME.fullmatch(name) is None), "a file")
        raise UnusableError(f"{odd} in the home has a name of odd letters; move it aside") from None
    temporary = home.path / f"{STAGING}marker-{os.urandom(8).hex()}"
    create_private(temporary, marker.encode())
    temporary.replace(home.path / MARKER)
    sync_folder(home.path)


def _parse(data: bytes) -> Marker:
    fields = Fields(canonical.parse(data, "the marker"), "the marker")
    fields.integer("format", FORMAT, FORMAT)
    found = Marker(
        state=State(fields.text("state", re.compile("|".join(State)))),
        backup_id=fields.octets("backup_id", _ID_BYTES).hex(),
        staging=fields.text("staging", _STAGING),
        undo=fields.text("undo", _UNDO),
        moves=_listed(fields.take("moves"), _name),
        places=_listed(fields.take("places"), _name),
        databases=_listed(fields.take("databases"), _restored),
    )
    fields.end()
    if found.moves and not found.undo:
        raise DamagedError("the marker moves files nowhere")
    return found


def _listed(value: object, parse: Callable[[object], T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise DamagedError("the marker has no list where one must be")
    return tuple(parse(item) for item in value)


def _name(value: object) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise DamagedError("the marker names a file that no restore moves")
    return value


def _restored(value: object) -> Restored:
    fields = Fields(value, "a database of the marker")
    found = Restored(
        fields.text("tenant", _TENANT),
        fields.octets("fingerprint", _DIGEST_BYTES).hex(),
        fields.integer("restore_epoch", 1),
    )
    fields.end()
    return found
