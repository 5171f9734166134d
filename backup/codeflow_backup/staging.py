"""Staging: a backup is decrypted beside the home's files and proved there."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from codeflow_backup import swap, verifying
from codeflow_backup.container import Payload
from codeflow_backup.errors import NoRoomError, UnusableError
from codeflow_backup.files import create_private, naming, open_private
from codeflow_backup.home import STAGING, Home
from codeflow_backup.manifest import File, Manifest
from codeflow_backup.pages import Read
from codeflow_backup.plaintext import read_files
from codeflow_backup.progress import Watch

ROOM = 2
"""How many times what is decrypted must fit on the disk: once to lie there, once to work with."""


def check_disk(home: Home, names: Iterable[str], size: int) -> None:
    """Refuse a restore that the disk has no room for, or cannot swap.

    Args:
        home: Held alone.
        names: Of the files that will change places, as paths below the home.
        size: Of what is decrypted, in bytes.

    Raises:
        NoRoomError: It has less than `ROOM` times *size* bytes.
        UnusableError: A folder lies on another disk, or files cannot have second names.
    """
    disk = os.statvfs(home.path)
    free = disk.f_bavail * disk.f_frsize
    if free < ROOM * size:
        raise NoRoomError(f"the disk has {free} bytes free; the restore needs {ROOM * size}")
    own = home.path.stat().st_dev
    for folder in {(home.path / name).parent for name in names}:
        if folder.is_dir() and folder.stat().st_dev != own:
            raise UnusableError(
                f"{folder.name} in the home lies on another disk; restore elsewhere"
            )
    _check_links(home)


def _check_links(home: Home) -> None:
    """Try what the swap is made of, while nothing depends on it."""
    first = home.path / f"{STAGING}link-{os.urandom(8).hex()}"
    second = first.with_name(f"{first.name}-2")
    create_private(first, b"")
    try:
        os.link(first, second)
        second.unlink()
    except OSError as error:
        raise UnusableError(
            f"the home's file system gives no file a second name ({error.strerror}): restore into"
            " a home on another, and copy that"
        ) from None
    finally:
        first.unlink()


def decrypt(home: Home, payload: Payload, found: Manifest, watch: Watch) -> str:
    """Decrypt a backup into a new folder of the home, make it durable, and check what is in it.

    Returns:
        The folder's name. When anything fails the folder goes.

    Raises:
        DamagedError: The backup is not what was written.
        NoRoomError: The disk is full.
    """
    name = f"{STAGING}{os.urandom(8).hex()}"
    folder = home.path / name
    names = [file.name for file in found.files]
    try:
        swap.make_folders(folder, names)
        with naming(home.path):
            _write(folder, payload, found, watch)
        swap.sync_folders(folder, names)
        _check(folder, found, watch)
    except BaseException:
        swap.remove_folder(home, name)
        raise
    return name


def _write(folder: Path, payload: Payload, found: Manifest, watch: Watch) -> None:
    current: tuple[File, BinaryIO] | None = None
    done = 0
    try:
        for file, piece in read_files(payload, found):
            if current is None or current[0] is not file:
                _close(current)
                current = file, os.fdopen(open_private(folder / file.name), "wb")
                os.fchmod(current[1].fileno(), 0o600)
            current[1].write(piece)
            done += len(piece)
            watch("decrypting", done, payload.bytes)
    finally:
        _close(current)


def _close(current: tuple[File, BinaryIO] | None) -> None:
    if current is None:
        return
    with current[1] as file:
        file.flush()
        os.fsync(file.fileno())


def _check(folder: Path, found: Manifest, watch: Watch) -> None:
    held = [file for file in found.files if file.database is not None]
    for number, file in enumerate(held):
        watch("checking", number, len(held))
        with (folder / file.name).open("rb") as content:
            verifying.check_database(_reading(content), file)
    watch("checking", len(held), len(held))


def _reading(content: BinaryIO) -> Read:
    # SQLite does not open the file itself: nothing can come to lie beside it.
    return lambda length, offset: os.pread(content.fileno(), length, offset)
