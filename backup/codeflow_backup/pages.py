"""A read-only file layer for SQLite: a database that lies encrypted inside a container.

SQLite asks for pages, the container decrypts the chunks that hold them, and nothing reaches a disk.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from codeflow_backup.databases import harden

Read = Callable[[int, int], bytes]
"""``(length, offset) -> bytes`` of the database."""

_SECTOR_BYTES = 4096
_numbers = itertools.count(1)


class _Layer(apsw.VFS):
    """A file layer with one file in it.

    Args:
        name: What SQLite knows the layer by.
        read: Reads the file.
        size: Of the file, in bytes.
    """

    def __init__(self, name: str, read: Read, size: int) -> None:
        super().__init__(name, "")
        self.vfs_name = name
        self._file = (read, size)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> Any:  # noqa: ANN401, N802 - SQLite's name; any object with such methods serves as a file
        if name is None or not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            # A journal, a temporary file: there is no place for any.
            raise apsw.CantOpenError
        flags[1] = apsw.SQLITE_OPEN_READONLY
        return _File(*self._file)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: ARG002, N802 - SQLite's name
        return False

    def xFullPathname(self, name: str) -> str:  # noqa: N802 - SQLite's name
        return name

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: ARG002, FBT001, N802 - SQLite's name
        raise apsw.ReadOnlyError


class _File:
    """The one file; it cannot be written."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._size = size

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        length = max(0, min(amount, self._size - offset))
        return self._read(length, offset) if length else b""

    def xFileSize(self) -> int:  # noqa: N802 - SQLite's name
        return self._size

    def xSectorSize(self) -> int:  # noqa: N802 - SQLite's name
        return _SECTOR_BYTES

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - SQLite's name
        return apsw.SQLITE_IOCAP_IMMUTABLE

    def xCheckReservedLock(self) -> bool:  # noqa: N802 - SQLite's name
        return False

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: ARG002, N802 - SQLite's name
        return False

    def xLock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        """Lock nothing: nobody else can reach the file."""

    def xUnlock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        """Unlock nothing."""

    def xClose(self) -> None:  # noqa: N802 - SQLite's name
        """Close nothing: the container stays open."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: ARG002, N802 - SQLite's name
        raise apsw.ReadOnlyError

    def xTruncate(self, newsize: int) -> None:  # noqa: ARG002, N802 - SQLite's name
        raise apsw.ReadOnlyError

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        """Sync nothing: nothing was written."""


@contextmanager
def opened(read: Read, size: int) -> Iterator[apsw.Connection]:
    """Open the database of *size* bytes that *read* reads, to look at.

    What *read* raises, comes out of whatever asked for the page.
    """
    layer = _Layer(f"codeflow-backup-{next(_numbers)}", read, size)
    try:
        connection = apsw.Connection(
            "file:/database?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            vfs=layer.vfs_name,
        )
        try:
            harden(connection)
            yield connection
        finally:
            connection.close(True)  # noqa: FBT003 - "force" is apsw's only parameter
    finally:
        layer.unregister()
