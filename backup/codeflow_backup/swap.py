"""The swap of a restore: old files into the undo folder, new ones into their places.

Every file gets its second name before it loses its first, and each round of names is durable before
the next begins. So a loss of power keeps every file under one name at least, and doing it all again
from the marker comes to the same end.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from codeflow_backup import marker as markers
from codeflow_backup.errors import UnusableError
from codeflow_backup.files import sync_folder
from codeflow_backup.home import STAGING, Home
from codeflow_backup.marker import Marker, State


def finish(home: Home, marker: Marker) -> None:
    """Bring a restore to its end, from wherever it was cut off; the home is held alone.

    Raises:
        UnusableError: Something stands in a place that the restore left empty.
        OSError: From the disk; doing it again goes on.
    """
    if marker.state is State.SWAPPING:
        _keep(home, marker)
        _clear(home, marker)
        _place(home, marker)
        markers.write(home, replace(marker, state=State.PLACED))
    remove_folder(home, marker.staging)


def sweep(home: Home, marker: Marker | None) -> None:
    """Take away what a restore left that was cut off before its marker stood."""
    for left in home.path.glob(f"{STAGING}*"):
        if marker is not None and left.name == marker.staging:
            continue
        if left.is_dir() and not left.is_symlink():
            remove_folder(home, left.name)
        else:
            left.unlink()


def remove_folder(home: Home, name: str) -> None:
    """Remove a folder of the home and what is in it; nothing happens where there is none."""
    if os.path.lexists(home.path / name):
        shutil.rmtree(home.path / name)
        sync_folder(home.path)


def make_folders(top: Path, names: Iterable[str]) -> None:
    """Make *top*, mode 0700, with the folders that files of these *names* lie in, and sync them."""
    for folder in (top, *(top / parent for parent in _parents(names))):
        if not folder.is_dir():
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
            sync_folder(folder.parent)


def sync_folders(top: Path, names: Iterable[str]) -> None:
    """Make what changed in the folders that files of these *names* lie in durable."""
    for folder in (*(top / parent for parent in _parents(names)), top):
        if folder.is_dir():
            sync_folder(folder)


def _keep(home: Home, marker: Marker) -> None:
    """Give every old file its name in the undo folder."""
    if not marker.moves:
        return
    undo = home.path / marker.undo
    make_folders(undo, marker.moves)
    for name in marker.moves:
        old = home.path / name
        if os.path.lexists(old) and not _same(old, home.path / marker.staging / name):
            _link(old, undo / name)
    sync_folders(undo, marker.moves)


def _clear(home: Home, marker: Marker) -> None:
    """Take every old file's name in the home away, where the undo folder has it."""
    for name in marker.moves:
        old = home.path / name
        if _same(old, home.path / marker.undo / name):
            old.unlink()
    sync_folders(home.path, marker.moves)


def _place(home: Home, marker: Marker) -> None:
    """Give every new file its name in the home."""
    make_folders(home.path, marker.places)
    for name in marker.places:
        _link(home.path / marker.staging / name, home.path / name)
    sync_folders(home.path, marker.places)


def _link(source: Path, target: Path) -> None:
    """Give the file *source* the further name *target*, which may be its own already."""
    if _same(source, target):
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise UnusableError(
            f"{target.name} stands where the restore puts a file: move it aside, then again"
        ) from None


def _same(one: Path, other: Path) -> bool:
    """Tell whether both are names of one file."""
    try:
        return os.path.samestat(one.lstat(), other.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _parents(names: Iterable[str]) -> list[str]:
    """List the folders of *names* below their top, each before those within it."""
    found = {
        str(parent)
        for name in names
        for parent in PurePosixPath(name).parents
        if str(parent) != "."
    }
    return sorted(found)
