"""Ends a child process with SIGKILL at its n-th state-changing step, SQLite's or the program's.

A child is a fork: it starts in a millisecond and runs the same code. The parent must hold no
connection to the files that the child works on.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import apsw

FILE_EVENTS = frozenset(
    {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod"}
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

Body = Callable[[str], None]
"""Gets the name of the VFS to open databases with."""


class ChildFailedError(AssertionError):
    """The child ended by an exception of its own; the message is its traceback."""


def killed(home: Path, step: int, body: Body) -> bool:
    """Run *body* in a child that is killed just before its *step*-th change below *home*.

    Returns:
        True when the child was killed, False when it came to its end before that step.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_child(home, step, body, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        message = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        raise ChildFailedError(f"step {step}: {message or status}")
    return False


def _run_child(home: Path, step: int, body: Body, writing: int) -> None:
    status = 1
    try:
        fuse = Fuse(step)
        vfs = KillingVFS("killing", fuse)
        sys.addaudithook(fuse.watch(home))
        body(vfs.vfs_name)
        status = 0
    # The child must not return into the parent's test run, whatever happened in it.
    except BaseException:  # noqa: BLE001 - the parent raises what is reported here
        os.write(writing, traceback.format_exc().encode())
    finally:
        os._exit(status)


class Fuse:
    """Counts steps down to the one at which the process ends."""

    def __init__(self, step: int) -> None:
        self._left = step

    def burn(self) -> None:
        """Count one step; the last one is never taken."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, home: Path) -> Callable[[str, tuple], None]:
        """Return an audit hook that burns at each change of files below *home*."""
        place = os.fspath(home)

        def hook(event: str, arguments: tuple) -> None:
            if event == "open":
                path, _, flags = arguments
                changes = isinstance(flags, int) and bool(flags & _WRITING)
            elif event in FILE_EVENTS:
                path, changes = arguments[0], True
            else:
                return
            if changes and isinstance(path, str | os.PathLike) and place in os.fspath(path):
                self.burn()

        return hook


class KillingVFS(apsw.VFS):
    """The platform's VFS; every state-changing call burns the fuse first."""

    def __init__(self, name: str, fuse: Fuse) -> None:
        super().__init__(name, "")
        self.vfs_name = name
        self._fuse = fuse

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        self._fuse.burn()
        return KillingFile(name, flags, self._fuse)

    def xDelete(self, filename, syncdir):  # noqa: N802 - SQLite's name
        self._fuse.burn()
        super().xDelete(filename, syncdir)


class KillingFile(apsw.VFSFile):
    """A database or journal; every state-changing call burns the fuse first."""

    def __init__(self, name, flags, fuse: Fuse) -> None:
        super().__init__("", name, flags)
        self._fuse = fuse

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        self._fuse.burn()
        super().xWrite(data, offset)

    def xTruncate(self, newsize):  # noqa: N802 - SQLite's name
        self._fuse.burn()
        super().xTruncate(newsize)

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        self._fuse.burn()
        super().xSync(flags)
