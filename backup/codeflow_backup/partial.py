"""Files that are not yet what they will be: each goes with its maker, or with the next."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from codeflow_backup.files import open_private, sync_folder

PARTIAL: Final = ".codeflow-backup-"
"""How the name of a file begins that is no backup yet."""


@contextmanager
def opened(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Give a new file in *folder* that goes at the end of the block, whatever happens in it.

    Of a process that was killed it stays; the next one takes it away. Renaming the file within its
    folder is fine.
    """
    _sweep(folder)
    while True:
        path = folder / f"{PARTIAL}{os.urandom(8).hex()}"
        descriptor = open_private(path)
        # Shared with nobody: it tells a sweeper that its maker lives.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.fchmod(descriptor, 0o600)
        if path.exists():
            break
        os.close(descriptor)
    with os.fdopen(descriptor, "w+b") as file:
        try:
            yield file, path
        finally:
            path.unlink(missing_ok=True)
            sync_folder(folder)


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{PARTIAL}*"):
        try:
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            # Gone by itself, or no file of ours.
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink(missing_ok=True)
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)
