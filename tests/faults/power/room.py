"""A home with little room: a quota that SQLite's writes meet, or a small file system of its own."""

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw


class Room:
    """How many bytes the files of *home* may have together; ``None`` is no limit."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.limit: int | None = None

    def used(self) -> int:
        """Return the bytes of all files, by their sizes; nothing is opened."""
        return sum(path.stat().st_size for path in self._home.rglob("*") if path.is_file())

    def leave(self, free: int) -> None:
        """Set the limit so that *free* bytes are left."""
        self.limit = self.used() + free

    def refuses(self, growth: int) -> bool:
        """Tell whether *growth* more bytes are too many."""
        return self.limit is not None and growth > 0 and self.used() + growth > self.limit


_numbers = itertools.count(1)


@contextmanager
def limited(room: Room) -> Iterator[str]:
    """Register a VFS whose writes meet *room*; yields its name."""
    vfs = RoomVFS(f"room-{next(_numbers)}", room)
    try:
        yield vfs.vfs_name
    finally:
        vfs.unregister()


class RoomVFS(apsw.VFS):
    """The platform's VFS on a disk that is as large as its room."""

    def __init__(self, name: str, room: Room) -> None:
        super().__init__(name, "")
        self.vfs_name = name
        self._room = room

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return RoomFile(name, flags, self._room)

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""


class RoomFile(apsw.VFSFile):
    """A file that does not grow beyond the room."""

    def __init__(self, name, flags, room: Room) -> None:
        super().__init__("", name, flags)
        self._room = room

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        if self._room.refuses(offset + len(data) - self.xFileSize()):
            raise apsw.exception_for(apsw.SQLITE_FULL)
        super().xWrite(data, offset)

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""


def may_mount() -> bool:
    """Tell whether this process may mount file systems."""
    return os.geteuid() == 0 and Path("/proc/self/ns/mnt").exists()


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """Mount a file system of *size* bytes at *place* for the block."""
    place.mkdir()
    subprocess.run(  # noqa: S603 - fixed arguments
        ["/bin/mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)],
        check=True,
        capture_output=True,
    )
    try:
        yield place
    finally:
        subprocess.run(  # noqa: S603 - fixed arguments
            ["/bin/umount", str(place)], check=True, capture_output=True
        )
