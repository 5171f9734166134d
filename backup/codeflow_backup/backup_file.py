"""A backup as a file that is read: opened without following where it may lead."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from codeflow_backup.errors import MissingError, UnusableError


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open the backup *path* to read.

    Raises:
        MissingError: There is no such file.
        UnusableError: It is no regular file, or cannot be read.
    """
    try:
        # Without waiting: something may stand there that only a writer opens.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError("there is no backup of that name") from None
    except OSError as error:
        raise UnusableError(f"the backup cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnusableError("the backup is no regular file")
    with os.fdopen(descriptor, "rb") as file:
        yield file
