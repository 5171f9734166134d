"""Restoration: what a restore left in the home for the next start, and the rest of its swap.

``codeflow-backup restore`` puts new files beside the old ones, writes the marker and swaps them by
second names; ``backup/RESTORE.md`` describes it. Whoever finds the marker goes on from it: every
step may have been done already, and doing it again changes nothing.
"""

import filecmp
import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from codeflow_memory.domain import strict_json
from codeflow_memory.domain.errors import InvalidRequestError, StoreUnusableError
from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.domain.tenant import is_slug
from codeflow_memory.storage.home import Home, is_regular, sync_folder, write_private

T = TypeVar("T")

MARKER = "restore.json"
UNDO = "undo-"
STAMP = "%Y%m%dT%H%M%SZ"
"""The moment in the name of what was put aside."""

_STAGING = ".restore-"

_FORMAT = 1
_MAX_BYTES = 2 * 1024 * 1024
_SWAPPING, _PLACED, _VERIFIED = "swapping", "placed", "verified"
_NAME = re.compile(r"(?:tenants/[a-z0-9][a-z0-9-]{0,62}/)?(?!\.{1,2}$)[0-9A-Za-z._-]{1,200}")
_FOLDER = re.compile(r"[0-9A-Za-z._-]{1,64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Restored:
    """A database that was restored: what its first start must find, and the epoch that it begins.

    ``restore_epoch`` is above every one that the store had before.
    """

    tenant: str
    fingerprint: str
    restore_epoch: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A restore; names are paths below the home.

    Args:
        swapping: Whether files may still have to change places.
        verified: Whether the new databases were found to be what the backup held.
        staging: The folder of the new files.
        undo: The folder of the old files; ``""`` without any.
        moves: The old files.
        places: The new files.
        databases: Those among the new files.
        address: Where the databases are, if they are no files of the home; else ``""``.
        document: All that the file says.
    """

    swapping: bool
    verified: bool
    staging: str
    undo: str
    moves: tuple[str, ...]
    places: tuple[str, ...]
    databases: tuple[Restored, ...]
    address: str
    document: dict[str, Any]


def find(home: Home) -> Marker | None:
    """Return what a restore left; ``None`` without one.

    Raises:
        StoreUnusableError: It is not what a restore writes.
    """
    path = home.path / MARKER
    if not os.path.lexists(path):
        return None
    try:
        if is_regular(path):
            with path.open("rb") as file:
                return _parse(strict_json.parse(file.read(_MAX_BYTES)))
    except (InvalidRequestError, KeyError, TypeError, ValueError):
        refusal = "it is not what a restore writes"
    else:
        refusal = "it is no regular file"
    raise StoreUnusableError(MARKER, f"{refusal}; see backup/RESTORE.md")


def stands(home: Home) -> bool:
    """Tell whether a restore waits for a start."""
    return os.path.lexists(home.path / MARKER)


class Installing(Protocol):
    """Databases that staged ones can be installed in."""

    def staged(self, tenant: str, /) -> Any | None:  # noqa: ANN401 - only whether there is one
        """Return the staged one; ``None`` where there is none."""

    def install(self, tenant: str, /, *, replace: bool) -> None:
        """Let the staged one take the tenant's place."""


def finish(home: Home, marker: Marker, databases: Installing) -> None:
    """Bring the swap to its end; the home is held alone.

    Every file gets its second name, durably, before it loses its first.

    Args:
        home: Has the marker.
        marker: Says what is to change places.
        databases: Those of the home; where they are no files, the new ones are staged there.

    Raises:
        StoreUnusableError: Something stands in a place that was left empty.
    """
    if marker.swapping:
        for restored in marker.databases if marker.address else ():
            if databases.staged(restored.tenant) is not None:
                databases.install(restored.tenant, replace=True)
        staging = home.path / marker.staging
        _keep(home, marker.undo, marker.moves)
        _make_folders(home.path, marker.places)
        for name in marker.places:
            _link(staging / name, home.path / name)
        _sync_folders(home.path, marker.places)
        _write(home, marker.document | {"state": _PLACED})
    _remove_folder(home, marker.staging)


def begin(
    home: Home,
    folder: Home,
    moves: Sequence[str],
    places: Sequence[str],
    databases: Iterable[Restored],
    address: str,
) -> Marker:
    """Write the marker of a restore into databases that are no files, and return it.

    Args:
        home: Held alone.
        folder: Has the new files; they are copied, for it goes when the restore is done.
        moves: Files of the home that are put aside.
        places: Those of *folder* that take their places.
        databases: Are staged.
        address: Where.
    """
    staging = f"{_STAGING}{os.urandom(8).hex()}"
    _make_folders(home.path / staging, [*places, ""])
    for name in places:
        write_private(home.path / staging / name, (folder.path / name).read_bytes())
    sync_folder(home.path / staging)
    document = {
        "format": _FORMAT,
        "state": _SWAPPING,
        "staging": staging,
        "undo": new_undo(home) if moves else "",
        "moves": list(moves),
        "places": list(places),
        "databases": [asdict(restored) for restored in databases],
        "address": address,
    }
    _write(home, document)
    return _parse(document)


def mark_verified(home: Home, marker: Marker) -> None:
    """Note that the new databases are what the backup held: from here on they may change."""
    _write(home, marker.document | {"state": _VERIFIED})


def end(home: Home) -> None:
    """Take the marker away: the first start is done."""
    (home.path / MARKER).unlink()
    sync_folder(home.path)


def undo_folders(home: Home) -> list[Path]:
    """List the folders of what restores replaced, the oldest first."""
    found = (path for path in home.path.glob(f"{UNDO}*") if path.is_dir())
    return sorted(path for path in found if not path.is_symlink())


def put_aside(home: Home, files: Iterable[Path]) -> str:
    """Move files of the home to a new undo folder, and return its name; the home is held alone.

    Every file gets its second name, durably, before it loses its first.
    """
    undo = new_undo(home)
    moves = [path.relative_to(home.path).as_posix() for path in files]
    _keep(home, undo, moves)
    return undo


def new_undo(home: Home) -> str:
    """Return a name for a new undo folder; nothing in the home has it."""
    stamp = datetime.now(UTC).strftime(STAMP)
    names = (f"{UNDO}{stamp}{more}" for more in ("", *(f"-{n}" for n in range(2, 1_000))))
    return next(name for name in names if not os.path.lexists(home.path / name))


def remove_undo(home: Home, folder: Path) -> None:
    """Remove one of `undo_folders`."""
    _remove_folder(home, folder.name)


def _parse(value: Any) -> Marker:  # noqa: ANN401 - any JSON
    """Read a marker; whatever is wrong is a `KeyError`, `TypeError` or `ValueError`."""
    if value["format"] != _FORMAT or value["state"] not in {_SWAPPING, _PLACED, _VERIFIED}:
        raise ValueError
    undo = value["undo"] and _matching(_FOLDER, value["undo"], UNDO)
    moves = _each(value["moves"], lambda name: _matching(_NAME, name))
    if moves and not undo:
        raise ValueError
    return Marker(
        swapping=value["state"] == _SWAPPING,
        verified=value["state"] == _VERIFIED,
        staging=_matching(_FOLDER, value["staging"], _STAGING),
        undo=undo,
        moves=moves,
        places=_each(value["places"], lambda name: _matching(_NAME, name)),
        databases=_each(value["databases"], _restored),
        address=str(value.get("address", "")),
        document=value,
    )


def _each(values: list[Any], parse: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(values, list):
        raise TypeError
    return tuple(parse(value) for value in values)


def _matching(pattern: re.Pattern[str], value: str, start: str = "") -> str:
    if not value.startswith(start) or pattern.fullmatch(value) is None:
        raise ValueError
    return value


def _restored(value: Any) -> Restored:  # noqa: ANN401 - any JSON
    tenant, epoch = value["tenant"], value["restore_epoch"]
    if not is_slug(tenant) or type(epoch) is not int:
        raise ValueError
    return Restored(tenant, _matching(_FINGERPRINT, value["fingerprint"]), epoch)


def _write(home: Home, document: dict[str, Any]) -> None:
    temporary = home.path / f"{_STAGING}marker-{os.urandom(8).hex()}"
    write_private(temporary, canonical_json(document).encode() + b"\n")
    temporary.replace(home.path / MARKER)
    sync_folder(home.path)


def _keep(home: Home, folder: str, moves: Iterable[str]) -> None:
    undo, moves = home.path / folder, tuple(moves)
    _make_folders(undo, moves)
    for name in moves:
        # Where the undo folder has it, what stands in the home may be the new one.
        if os.path.lexists(home.path / name) and not os.path.lexists(undo / name):
            _link(home.path / name, undo / name)
    _sync_folders(undo, moves)
    for name in moves:
        if _same(home.path / name, undo / name):
            (home.path / name).unlink()
    _sync_folders(home.path, moves)


def _make_folders(top: Path, names: Iterable[str]) -> None:
    names = tuple(names)
    if not names:
        return
    for folder in (top, *(top / name for name in _folders(names))):
        if not folder.is_dir():
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
            sync_folder(folder.parent)


def _sync_folders(top: Path, names: Iterable[str]) -> None:
    names = tuple(names)
    for folder in (*(top / name for name in _folders(names)), *([top] if names else [])):
        if folder.is_dir():
            sync_folder(folder)


def _folders(names: Iterable[str]) -> list[str]:
    """List the folders that files of these names lie in, each before those within it."""
    found = {str(parent) for name in names for parent in Path(name).parents}
    return sorted(found - {"."})


def _link(source: Path, target: Path) -> None:
    if _same(source, target):
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise StoreUnusableError(
            target.name, "it stands where a restore puts a file; move it aside"
        ) from None


def _same(one: Path, other: Path) -> bool:
    """Tell whether both are names of one file, or of copies: the home may have been copied."""
    try:
        if os.path.samestat(one.lstat(), other.lstat()):
            return True
        return is_regular(one) and is_regular(other) and filecmp.cmp(one, other, shallow=False)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _remove_folder(home: Home, name: str) -> None:
    if os.path.lexists(home.path / name):
        shutil.rmtree(home.path / name)
        sync_folder(home.path)
