"""Restoring a backup into a home: old or new at every moment, never a mix.

The home is held alone. What the backup holds is decrypted beside the home's files and proved; then
the marker stands, and what follows is finished whatever happens (`swap`).
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeflow_backup import (
    backup_file,
    databases,
    marker,
    staging,
    standing,
    swap,
    undo,
    verifying,
)
from codeflow_backup.container import Payload, Reader
from codeflow_backup.header import Core
from codeflow_backup.home import CONFIGURATION, KEY, Home
from codeflow_backup.keys import Secret
from codeflow_backup.manifest import Database, Manifest
from codeflow_backup.marker import Marker, Restored, State
from codeflow_backup.plaintext import read_manifest
from codeflow_backup.progress import Watch
from codeflow_backup.standing import Standing


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a restore ended.

    Args:
        backup: What the backup says of itself.
        places: What was put into the home, as paths below it.
        undo: The folder in the home that has what stood there before; ``""`` if nothing did.
        resumed: Whether an earlier run of the same restore had done it all, but for its end.
    """

    backup: Core
    places: tuple[str, ...]
    undo: str
    resumed: bool


def restore(
    path: Path, home: Home, secrets: Sequence[Secret], watch: Watch, *, replace: bool
) -> Outcome:
    """Put what a backup holds into a home.

    Args:
        path: The backup.
        home: Made where there is none.
        secrets: One of them opens the backup.
        watch: Is told how far it has come.
        replace: Whether what the home holds may be replaced, whatever it is.

    Raises:
        HomeInUseError: A server or another process uses the home.
        StandsError: It holds a store already, which may not be replaced.
        OtherInstanceError, OlderGenerationError: That is another one, or newer than the backup.
        WrongKeyError, DamagedError, UnknownVersionError: See there.
        NoRoomError: The disk has no room for it.
        UnusableError: The home, or a file of the backup, cannot be used.
    """
    with backup_file.opened(path) as file:
        reader = Reader(file)
        # A second of work, for which the home need not be held.
        payload = reader.unlock(secrets)
        found = read_manifest(payload)
        verifying.check_names(found)
        home.make()
        with home.exclusive():
            earlier = settle(home)
            if earlier is not None and _is_done(home, earlier, found, reader.core):
                return Outcome(reader.core, earlier.places, earlier.undo, resumed=True)
            case = _Case(
                reader.core, found, _key(payload, found), standing.look(home, found), earlier
            )
            if not replace:
                standing.refuse(case.stands, found, case.key)
            names = [name for store in case.stands.stores for name in store.files]
            staging.check_disk(home, [*names, *(f.name for f in found.files)], payload.bytes)
            folder = staging.decrypt(home, payload, found, watch)
            planned = _begin(home, case, folder)
            swap.finish(home, planned)
            return Outcome(reader.core, planned.places, planned.undo, resumed=False)


def settle(home: Home) -> Marker | None:
    """Finish the restore that was cut off here, if one was; return what waits for a first start."""
    found = marker.find(home)
    swap.sweep(home, found)
    return None if found is None else swap.finish(home, found)


@dataclass(frozen=True, slots=True)
class _Case:
    """What one restore knows: of the backup, and of the home before it."""

    backup: Core
    found: Manifest
    key: bytes | None
    stands: Standing
    earlier: Marker | None


def _begin(home: Home, case: _Case, folder: str) -> Marker:
    """Write the marker, from which on the restore is only finished."""
    try:
        planned = _plan(home, case, folder)
        marker.write(home, planned)
    except BaseException:
        # An error of the disk after the marker got its name is no proof that it did not.
        if marker.find(home) in {None, case.earlier}:
            swap.remove_folder(home, folder)
        raise
    return planned


def _plan(home: Home, case: _Case, folder: str) -> Marker:
    moves = tuple(name for store in case.stands.stores for name in store.files)
    backed_up = {file.database.tenant: file.database for file in case.found.files if file.database}
    for store in case.stands.stores:
        if standing.is_other(store, backed_up.get(store.place.tenant)):
            moves += standing.checkpoints(home, store)
    if standing.key_moves(case.stands, case.key) and case.stands.key is not None:
        moves += (KEY,)
    return Marker(
        state=State.SWAPPING,
        backup_id=case.backup.backup_id,
        staging=folder,
        undo=undo.new_name(home) if moves else "",
        moves=moves,
        places=tuple(file.name for file in case.found.files if _is_placed(home, case, file.name)),
        databases=tuple(
            Restored(said.tenant, said.fingerprint, _epoch(case, said))
            for said in backed_up.values()
        ),
    )


def _is_placed(home: Home, case: _Case, name: str) -> bool:
    if name == CONFIGURATION:
        return not os.path.lexists(home.path / CONFIGURATION)
    return name != KEY or standing.key_moves(case.stands, case.key)


def _epoch(case: _Case, said: Database) -> int:
    """Return the restore epoch of a restored database: above every one that its store has had."""
    epochs = [databases.epoch_of(said.generation)]
    for store in case.stands.stores:
        if store.place.tenant == said.tenant and store.identity is not None:
            epochs.append(store.identity.restore_epoch)
    if case.earlier is not None:
        epochs += [d.restore_epoch for d in case.earlier.databases if d.tenant == said.tenant]
    return max(epochs) + 1


def _key(payload: Payload, found: Manifest) -> bytes | None:
    """Return the home key in the backup; ``None`` where it has none."""
    for file, start in zip(found.files, found.offsets(), strict=False):
        if file.name == KEY:
            return payload.read(file.bytes, start)
    return None


def _is_done(home: Home, earlier: Marker, found: Manifest, backup: Core) -> bool:
    """Tell whether the same backup was placed already, and each file of it is still what it was."""
    if earlier.state is not State.PLACED or earlier.backup_id != backup.backup_id:
        return False
    placed = [file for file in found.files if file.name in earlier.places]
    return all(
        home.is_regular(file.name) and _sha256(home.path / file.name) == file.sha256
        for file in placed
    )


def _sha256(path: Path) -> str:
    # The home is held alone: no lock of SQLite's is lost by opening the file.
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
