"""A VFS whose n-th call of a kind fails: before or after its effect, once or from then on."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import apsw


class Call(StrEnum):
    """The calls that can fail; the value is SQLite's name of the method."""

    OPEN = "xOpen"
    READ = "xRead"
    WRITE = "xWrite"
    TRUNCATE = "xTruncate"
    SYNC = "xSync"
    DELETE = "xDelete"
    ACCESS = "xAccess"
    FILE_SIZE = "xFileSize"
    LOCK = "xLock"


CHANGING = frozenset({Call.OPEN, Call.WRITE, Call.TRUNCATE, Call.SYNC, Call.DELETE})
"""The calls that may change a disk; `Call.OPEN` where it creates the journal."""

IOERR: dict[Call, int] = {
    Call.OPEN: apsw.SQLITE_CANTOPEN,
    Call.READ: apsw.SQLITE_IOERR_READ,
    Call.WRITE: apsw.SQLITE_IOERR_WRITE,
    Call.TRUNCATE: apsw.SQLITE_IOERR_TRUNCATE,
    Call.SYNC: apsw.SQLITE_IOERR_FSYNC,
    Call.DELETE: apsw.SQLITE_IOERR_DELETE,
    Call.ACCESS: apsw.SQLITE_IOERR_ACCESS,
    Call.FILE_SIZE: apsw.SQLITE_IOERR_FSTAT,
    Call.LOCK: apsw.SQLITE_IOERR_LOCK,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """The *index*-th call of a kind, counted from 1, answers *code*."""

    call: Call
    index: int
    code: int
    after: bool
    sticky: bool

    def __str__(self) -> str:
        when = "after" if self.after else "before"
        often = "sticky" if self.sticky else "once"
        return f"{self.call} #{self.index} -> code {self.code} {when} its effect, {often}"


@dataclass(slots=True)
class Meter:
    """Counts calls, and says when one of them has to fail."""

    fault: Fault | None = None
    counts: Counter[Call] = field(default_factory=Counter)
    fired: int = 0

    def due(self, call: Call) -> Fault | None:
        """Count one *call*; return the fault that hits it."""
        self.counts[call] += 1
        fault = self.fault
        if fault is None or fault.call is not call:
            return None
        count = self.counts[call]
        if count == fault.index or (fault.sticky and count > fault.index):
            self.fired += 1
            return fault
        return None

    def repair(self) -> None:
        """End a sticky fault."""
        self.fault = None


_numbers = itertools.count(1)


@contextmanager
def failing(meter: Meter) -> Iterator[str]:
    """Register a VFS that asks *meter*; yields its name."""
    vfs = FaultyVFS(f"faulty-{next(_numbers)}", meter)
    try:
        yield vfs.vfs_name
    finally:
        vfs.unregister()


def _through(meter: Meter, call: Call, effect, *arguments):
    fault = meter.due(call)
    if fault is not None and not fault.after:
        raise apsw.exception_for(fault.code)
    result = effect(*arguments)
    if fault is not None:
        raise apsw.exception_for(fault.code)
    return result


class FaultyVFS(apsw.VFS):
    """The platform's VFS; the meter decides what fails."""

    def __init__(self, name: str, meter: Meter) -> None:
        super().__init__(name, "")
        self.vfs_name = name
        self._meter = meter

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.OPEN, FaultyFile, name, flags, self._meter)

    def xDelete(self, filename, syncdir):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.DELETE, super().xDelete, filename, syncdir)

    def xAccess(self, pathname, flags):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.ACCESS, super().xAccess, pathname, flags)

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""


class FaultyFile(apsw.VFSFile):
    """A database or journal; the meter decides what fails."""

    def __init__(self, name, flags, meter: Meter) -> None:
        super().__init__("", name, flags)
        self._meter = meter

    def xRead(self, amount, offset):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.READ, super().xRead, amount, offset)

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.WRITE, super().xWrite, data, offset)

    def xTruncate(self, newsize):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.TRUNCATE, super().xTruncate, newsize)

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.SYNC, super().xSync, flags)

    def xFileSize(self):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.FILE_SIZE, super().xFileSize)

    def xLock(self, level):  # noqa: N802 - SQLite's name
        return _through(self._meter, Call.LOCK, super().xLock, level)

    def excepthook(self, etype, evalue, etraceback):
        """Leave a failed call to SQLite: its result code already says what happened."""
