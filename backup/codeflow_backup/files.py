"""Files that others must not read, and that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def create_private(path: Path, data: bytes) -> None:
    """Write *data* to the new file *path*, mode 0600, and sync both file and folder.

    Raises:
        FileExistsError: Something stands there, be it a link to nowhere; it is left as it is.
        OSError: The file cannot be written; nothing is left of it.
    """
    descriptor = open_private(path)
    try:
        with naming(path), os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise
    sync_folder(path.parent)


def open_private(path: Path) -> int:
    """Create the file *path* for reading and writing, mode 0600; return its descriptor.

    Raises:
        FileExistsError: Something stands there; a link is not followed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def sync_folder(folder: Path) -> None:
    """Make what was named, renamed or removed in *folder* last through a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def naming(what: Path | str) -> Iterator[None]:
    """Name *what* in an error of the disk that names no file, as those of writing do not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(what)
        raise
