"""The checks of ``doctor`` on the machine: programs, disk, who may use the home, the clock."""

import os
import pwd
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from codeflow_memory.cli.findings import Check, State

FULL_BYTES = 8 * 1024 * 1024
LOW_BYTES = 128 * 1024 * 1024
"""Free room below which writes may soon be refused, and below which somebody should look."""

BEHIND_SECONDS = 5
"""So far behind what it recorded itself a clock may be: processes read it before they write."""

_MIB = 1024 * 1024
_USE = os.R_OK | os.W_OK


def git_program() -> Iterator[Check]:
    """Check that git is there."""
    found = shutil.which("git")
    if found is None:
        detail = "not found: nothing is learned or verified"
        yield Check("git", State.WARNING, detail, "install git and put it on PATH")
    else:
        yield Check("git", State.OK, found)


def presence(folder: Path) -> Iterator[Check]:
    """Say nothing where *folder* is one, else what is wrong with it."""
    try:
        if folder.is_dir():
            return
    except PermissionError:
        yield Check(
            "permissions",
            State.FAULT,
            f"{_user(os.geteuid())} may not enter what {folder.name} is in",
            "run this as the home's user, or let this one enter the folders above it",
        )
        return
    yield Check("home", State.FAULT, f"{folder} is no folder", "make it with `codeflow-memory up`")


def disk(folder: Path) -> Iterator[Check]:
    """Check that *folder* can be written to as far as its disk is asked."""
    if is_read_only(folder):
        yield Check(
            "disk",
            State.FAULT,
            "its file system is mounted for reading only",
            "mount it for writing; where errors made it so, check the disk before",
        )
        return
    free = shutil.disk_usage(folder).free
    if free >= LOW_BYTES:
        yield Check("disk", State.OK, "has room")
        return
    state = State.FAULT if free < FULL_BYTES else State.WARNING
    detail = f"{free // _MIB} MiB free: writes are refused when it is full"
    yield Check("disk", state, detail, "make room on the disk, or move the home to a larger one")


def permissions(folder: Path, files: Iterable[Path]) -> Iterator[Check]:
    """Check that this user may read and write *folder*, and then *files*, which are in it."""
    # Of such a file system it is said above.
    wanted = os.R_OK if is_read_only(folder) else _USE
    if not os.access(folder, wanted | os.X_OK):
        kept = [folder]
    else:
        kept = [path for path in files if not os.access(path, wanted)]
    if not kept:
        yield Check("permissions", State.OK, f"{_user(os.geteuid())} may use it")
        return
    found = kept[0].stat()
    yield Check(
        "permissions",
        State.FAULT,
        f"{_user(os.geteuid())} may not read and write {kept[0].name}, which is"
        f" {_user(found.st_uid)}'s (mode {stat.S_IMODE(found.st_mode):o})",
        f"run this as {_user(found.st_uid)}; or `chown -R` the home to its user and"
        f" `chmod -R u+rwX,go= {folder}`",
    )


def clock(name: str, *, seconds_behind: float, shift: int) -> Iterator[Check]:
    """Check the clock against what was recorded by it.

    Args:
        name: Whose record.
        seconds_behind: The newest change is so much later than now.
        shift: Seconds that the configuration puts it forward.
    """
    if seconds_behind > BEHIND_SECONDS:
        yield Check(
            "clock",
            State.WARNING,
            f"it is {round(seconds_behind)} s behind the newest change of {name}",
            "set this machine's clock; where clock.offset_seconds was taken away, wait until then",
        )
    if shift:
        yield Check(
            "clock",
            State.WARNING,
            f"clock.offset_seconds puts it {shift} s forward",
            "take it out of the configuration, but where it is for tests",
        )


def is_read_only(folder: Path) -> bool:
    """Tell whether nothing on the disk of *folder* can be written."""
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
