"""Staging: private folders in a home in which a backup lies as files for a while.

The maker holds a lock on the folder itself, so that what a killed one left is known and swept away.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.storage.home import Home, is_regular, write_private

OUTGOING, INCOMING = ".backup-", ".restore-"
"""What names of folders begin with: of what is written down, and of what is put back."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder laid out like a home.

    Args:
        home: The folder.
        lock: Its descriptor; whoever has it holds the folder.
    """

    home: Home
    lock: int


@contextmanager
def folder(home: Home, prefix: str) -> Iterator[Folder]:
    """Make a folder in *home*, mode 0700, and remove it at the end, whatever happens."""
    sweep(home, prefix)
    path = home.path / f"{prefix}{os.urandom(8).hex()}"
    path.mkdir(mode=0o700)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield Folder(Home(path), handle)
    finally:
        shutil.rmtree(path, ignore_errors=not path.exists())
        os.close(handle)


def sweep(home: Home, prefix: str) -> None:
    """Remove the folders that nobody holds any more."""
    for left in home.path.glob(f"{prefix}*"):
        if left.is_dir() and not left.is_symlink() and _is_left(left):
            shutil.rmtree(left)


def take_along(source: Home, target: Home, names: tuple[str, ...]) -> None:
    """Copy those of *names* that are files of *source* to *target*, mode 0600."""
    for name in names:
        if is_regular(source.path / name):
            write_private(target.path / name, (source.path / name).read_bytes())


def _is_left(path: Path) -> bool:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
