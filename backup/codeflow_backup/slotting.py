"""Adding and removing key slots: a new header before the same payload.

The file is replaced as a whole, after every byte of the new one was read back. Copies of the old
file still open with a key that was removed: only a new backup has a new data key.
"""

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from codeflow_backup import partial, slots
from codeflow_backup.container import Reader
from codeflow_backup.errors import MissingError, UnusableError
from codeflow_backup.files import naming
from codeflow_backup.header import Header
from codeflow_backup.keys import Secret
from codeflow_backup.slots import MAX_SLOTS, Prepared, Slot

_PIECE_BYTES = 1024 * 1024


def add_key(path: Path, secrets: Sequence[Secret], prepared: Prepared) -> int:
    """Give the backup *path* a slot more; return its number, the lowest that was free.

    Args:
        path: The backup; a signature of it does not fit afterwards.
        secrets: One of them opens it.
        prepared: Of the new passphrase or key file, derived before.

    Raises:
        UnusableError: It has 16 slots, or another process changes it.
        MissingError, WrongKeyError, DamagedError, UnknownVersionError: It cannot be opened.
        OSError: From the disk; the backup is as it was.
    """
    with _held(path) as file:
        reader = Reader(file)
        data_key = reader.find_data_key(secrets)
        taken = {slot.number for slot in reader.slots}
        free = [number for number in range(1, MAX_SLOTS + 1) if number not in taken]
        if not free:
            raise UnusableError(f"the backup has {MAX_SLOTS} key slots, and can have no more")
        slot = slots.wrap(prepared, data_key, reader.core.digest(), free[0])
        _replace(path, file, reader, data_key, (*reader.slots, slot))
        return slot.number


def remove_key(path: Path, secrets: Sequence[Secret], number: int) -> None:
    """Take slot *number* from the backup *path*.

    Args:
        path: The backup; a signature of it does not fit afterwards.
        secrets: One of them opens it: without the data key no header can be written.
        number: Of the slot, which may be the one that opens it.

    Raises:
        UnusableError: It is the last slot, or another process changes the backup.
        MissingError: There is no such slot or backup.
        WrongKeyError, DamagedError, UnknownVersionError: The backup cannot be opened.
        OSError: From the disk; the backup is as it was.
    """
    with _held(path) as file:
        reader = Reader(file)
        data_key = reader.find_data_key(secrets)
        kept = tuple(slot for slot in reader.slots if slot.number != number)
        if len(kept) == len(reader.slots):
            raise MissingError(f"the backup has no key slot {number}")
        if not kept:
            raise UnusableError("the last key slot stays: without it nothing opens the backup")
        _replace(path, file, reader, data_key, kept)


@contextmanager
def _held(path: Path) -> Iterator[BinaryIO]:
    """Open the backup as the only one that changes its slots."""
    try:
        found = path.stat(follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError("the backup is not there") from None
    # A link would be replaced by a file, and what it names would stay as it was.
    if not stat.S_ISREG(found.st_mode):
        raise UnusableError("the backup is not a regular file")
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableError("another process changes the keys of this backup") from None
        # Between opening and locking another process may have put its own file there.
        if not os.path.samestat(os.fstat(file.fileno()), path.stat(follow_symlinks=False)):
            raise UnusableError("another process changed the keys of this backup; try again")
        yield file


def _replace(
    path: Path, file: BinaryIO, reader: Reader, data_key: bytes, kept: tuple[Slot, ...]
) -> None:
    ordered = tuple(sorted(kept, key=lambda slot: slot.number))
    # Closing writes again what could not be written.
    with naming(path), partial.opened(path.parent) as (new, temporary):
        new.write(Header(reader.core, ordered).encode(data_key))
        file.seek(reader.payload_at)
        while piece := file.read(_PIECE_BYTES):
            new.write(piece)
        new.flush()
        os.fsync(new.fileno())
        _read_back(new, data_key)
        temporary.replace(path)


def _read_back(file: BinaryIO, data_key: bytes) -> None:
    file.seek(0)
    reader = Reader(file)
    reader.prove(data_key)
    for _ in reader.payload(data_key).chunks():
        pass
