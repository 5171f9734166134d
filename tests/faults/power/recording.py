"""A log of every state-changing operation on a home: SQLite's through a VFS, renames through `os`.

``files`` are named relative to the home. What SQLite does is seen by the VFS. What the program
does by itself (rename, link, remove, the sync of a file or directory) is seen by wrappers around
the functions of `os`, which are in place while `Recording.running` lasts.
"""

import itertools
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import apsw


class Op(StrEnum):
    """What happened; ``SYNC_DIRECTORY`` is about the folder, the others about one file."""

    CREATE = "create"
    WRITE = "write"
    TRUNCATE = "truncate"
    SYNC = "sync"
    DELETE = "delete"
    RENAME = "rename"
    LINK = "link"
    SYNC_DIRECTORY = "sync directory"
    ACKNOWLEDGE = "acknowledge"


@dataclass(frozen=True, slots=True)
class Event:
    """One operation; ``at`` is an offset for a write and a size for a truncation."""

    op: Op
    name: str = ""
    at: int = 0
    data: bytes = b""
    target: str = ""


@dataclass(slots=True)
class Recording:
    """The log of one run on *home*, and the files that stood there, durable, when it began."""

    home: Path
    before: dict[str, bytes] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def name(self, path: str | Path) -> str | None:
        """Return *path* relative to the home, or ``None`` when it lies elsewhere."""
        # Not resolve(): a name that was just removed or is a link must stay as it was given.
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - no link is followed
        return str(absolute.relative_to(self.home)) if absolute.is_relative_to(self.home) else None

    def add(self, op: Op, name: str, *, at: int = 0, data: bytes = b"", target: str = "") -> None:
        """Append one event."""
        self.events.append(Event(op, name, at, data, target))

    def acknowledge(self) -> None:
        """Note that the caller was told, now, that one more operation is done."""
        self.events.append(Event(Op.ACKNOWLEDGE))

    @contextmanager
    def running(self) -> Iterator[str]:
        """Record until the end of the block; yields the name of the VFS to open databases with."""
        self.before = files_of(self.home)
        self.known = set(self.before)
        vfs = RecordingVFS(f"recording-{next(_numbers)}", self)
        try:
            with _wrapped(self):
                yield vfs.vfs_name
        finally:
            vfs.unregister()


def files_of(home: Path) -> dict[str, bytes]:
    """Read every regular file below *home*; no connection to any of them may be open."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


_numbers = itertools.count(1)


class RecordingVFS(apsw.VFS):
    """The platform's VFS, with a log."""

    def __init__(self, name: str, recording: Recording) -> None:
        super().__init__(name, "")
        self.vfs_name = name
        self._recording = recording

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        path = None if name is None else str(_path(name))
        known = None if path is None else self._recording.name(path)
        # SQLite syncs the directory with the first sync of a journal that it created.
        created = known is not None and not Path(path).exists()
        opened = RecordingFile(name, flags, self._recording, known)
        if known is not None and (created or known not in self._recording.known):
            self._recording.known.add(known)
            opened.syncs_directory = known.endswith("-journal")
            self._recording.add(Op.CREATE, known)
        return opened

    def xDelete(self, filename, syncdir):  # noqa: N802 - SQLite's name
        known = self._recording.name(filename)
        super().xDelete(filename, syncdir)
        if known is not None:
            self._recording.known.discard(known)
            self._recording.add(Op.DELETE, known)
            if syncdir:
                self._recording.add(Op.SYNC_DIRECTORY, str(Path(known).parent))

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""


class RecordingFile(apsw.VFSFile):
    """A database or journal, with a log of what changes it."""

    def __init__(self, name, flags, recording: Recording, known: str | None) -> None:
        super().__init__("", name, flags)
        self._recording = recording
        self._known = known
        self.syncs_directory = False

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        if self._known is not None:
            self._recording.add(Op.WRITE, self._known, at=offset, data=bytes(data))

    def xTruncate(self, newsize):  # noqa: N802 - SQLite's name
        super().xTruncate(newsize)
        if self._known is not None:
            self._recording.add(Op.TRUNCATE, self._known, at=newsize)

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        super().xSync(flags)
        if self._known is None:
            return
        self._recording.add(Op.SYNC, self._known)
        if self.syncs_directory:
            self.syncs_directory = False
            self._recording.add(Op.SYNC_DIRECTORY, str(Path(self._known).parent))

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""


def _path(name) -> str:
    return name.filename() if isinstance(name, apsw.URIFilename) else name


@contextmanager
def _wrapped(recording: Recording) -> Iterator[None]:
    """Put the wrappers in place of `os.rename` and its like, and take them away again."""
    kept = {
        name: getattr(os, name)
        for name in ("rename", "replace", "link", "unlink", "remove", "fsync", "fdatasync")
    }
    moves = {"rename": Op.RENAME, "replace": Op.RENAME, "link": Op.LINK}
    try:
        for name, original in kept.items():
            if name in moves:
                setattr(os, name, _moving(original, recording, moves[name]))
            elif name.endswith("sync"):
                setattr(os, name, _syncing(original, recording))
            else:
                setattr(os, name, _removing(original, recording))
        yield
    finally:
        for name, original in kept.items():
            setattr(os, name, original)


def _moving(original: Callable, recording: Recording, op: Op) -> Callable:
    def move(source, target, **options):
        original(source, target, **options)
        old, new = recording.name(source), recording.name(target)
        if old is not None and new is not None:
            if op is Op.RENAME:
                recording.known.discard(old)
            recording.known.add(new)
            recording.add(op, old, target=new)

    return move


def _removing(original: Callable, recording: Recording) -> Callable:
    def remove(path, **options):
        original(path, **options)
        name = recording.name(path)
        if name is not None and name in recording.known:
            recording.known.discard(name)
            recording.add(Op.DELETE, name)

    return remove


def _syncing(original: Callable, recording: Recording) -> Callable:
    def sync(descriptor):
        original(descriptor)
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        path = Path(f"/proc/self/fd/{number}").readlink()
        name = recording.name(path)
        if name is None:
            return
        if stat.S_ISDIR(os.fstat(number).st_mode):
            recording.add(Op.SYNC_DIRECTORY, name)
            return
        if name not in recording.known:
            recording.known.add(name)
            recording.add(Op.CREATE, name)
        # Plain writes are not seen one by one; a sync makes the whole content durable. Databases
        # come here only before SQLite has them, because nothing else may open them by plain calls.
        content = path.read_bytes()
        recording.add(Op.TRUNCATE, name, at=0)
        recording.add(Op.WRITE, name, data=content)
        recording.add(Op.SYNC, name)

    return sync
