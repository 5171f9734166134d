"""Staging: a backup is decrypted beside the home's files and proved there."""

import os
from pathlib import Path
from typing import BinaryIO

from codeflow_backup import swap, verifying
from codeflow_backup.container import Payload
from codeflow_backup.errors import NoRoomError
from codeflow_backup.files import open_private
from codeflow_backup.home import STAGING, Home
from codeflow_backup.manifest import File, Manifest
from codeflow_backup.pages import Read
from codeflow_backup.plaintext import read_files
from codeflow_backup.progress import Watch

ROOM = 2
"""How many times what is decrypted must fit on the disk: once to lie there, once to work with."""


def check_room(home: Home, size: int) -> None:
    """Refuse a restore that the disk has no room for.

    Raises:
        NoRoomError: It has less than `ROOM` times *size* bytes.
    """
    disk = os.statvfs(home.path)
    free = disk.f_bavail * disk.f_frsize
    if free < ROOM * size:
        raise NoRoomError(f"the disk has {free} bytes free; the restore needs {ROOM * size}")


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
