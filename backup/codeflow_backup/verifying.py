"""Verifying a backup: its structure without a key, its chunks, or everything that is in it.

Nothing of it is written anywhere, on whichever level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO

from codeflow_backup import backup_file, checks, databases, pages, schema, signature
from codeflow_backup.container import Payload, Reader
from codeflow_backup.errors import DamagedError, InvalidKeyError, MissingError, UnusableError
from codeflow_backup.header import Core
from codeflow_backup.home import CONFIGURATION, DOCUMENT, KEY, tenant_of
from codeflow_backup.keys import Secret
from codeflow_backup.manifest import File, Manifest
from codeflow_backup.pages import Read
from codeflow_backup.plaintext import read_files, read_manifest
from codeflow_backup.progress import Watch
from codeflow_backup.signature import PublicKey
from codeflow_backup.slots import Slot


class Level(IntEnum):
    """How deep a backup is looked at; each holds those before it."""

    STRUCTURE = 0
    CHUNKS = 1
    CONTENT = 2


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found, all of it good.

    Args:
        level: How deep was looked.
        core: What the backup says of itself; without a key nothing proves it.
        slots: Its keys.
        signed: Whether a signature was checked.
        manifest: What it holds; ``None`` without a key.
    """

    level: Level
    core: Core
    slots: tuple[Slot, ...]
    signed: bool
    manifest: Manifest | None


def verify(
    path: Path,
    secrets: Sequence[Secret],
    level: Level | None,
    watch: Watch,
    signer: PublicKey | None = None,
) -> Verified:
    """Verify the backup *path*.

    Args:
        path: The backup.
        secrets: One of them opens it; none is needed for `Level.STRUCTURE`.
        level: ``None`` is the deepest that is possible.
        watch: Is told how far it has come.
        signer: Whose signature must stand beside the file; ``None`` asks for none.

    Raises:
        MissingError: There is no backup, or no signature where one must be.
        WrongKeyError, DamagedError, UnknownVersionError: See there.
        InvalidKeyError: The level needs a key, and none was given.
        UnusableError: A database in it is of a schema that this program does not know.
    """
    wanted = level if level is not None else Level.CONTENT if secrets else Level.STRUCTURE
    if wanted > Level.STRUCTURE and not secrets:
        raise InvalidKeyError(f"level {wanted:d} needs a passphrase file or a key file")
    with backup_file.opened(path) as file:
        reader = Reader(file)
        reader.check_structure()
        if signer is not None:
            signature.check(file, _sidecar(path), signer)
        found = None
        if wanted > Level.STRUCTURE:
            payload = reader.unlock(secrets)
            found = read_manifest(payload)
            check_names(found)
            _check_chunks(payload, found, watch)
        if wanted is Level.CONTENT and found is not None:
            _check_content(payload, found, watch)
        return Verified(wanted, reader.core, reader.slots, signer is not None, found)


def check_names(found: Manifest) -> None:
    """Refuse a backup that holds a file which this program would not know where to put.

    Raises:
        UnusableError: There is one.
    """
    for file in found.files:
        held = file.database
        tenant = tenant_of(file.name)
        if held is None and file.name in {KEY, CONFIGURATION, DOCUMENT}:
            continue
        if held is None or tenant is None or held.tenant != tenant:
            raise UnusableError("the backup holds a file that this program does not know")


def check_database(read: Read, file: File) -> None:
    """Open a database read-only and compare everything in it with what the manifest says.

    Args:
        read: Reads it.
        file: What the manifest says; it is a database.

    Raises:
        DamagedError: It differs, or what is in it disagrees with itself.
        UnusableError: This program does not know its schema.
    """
    said = file.database
    if said is None:
        raise UnusableError(f"{file.name} is no database")
    schema.check(file.name, said.schema_version, said.ddl_sha256)
    with databases.translated(file.name), pages.opened(read, file.bytes) as connection:
        # First of all: nothing that another schema could make SQLite do is done.
        databases.check_schema(connection, file.name)
        checks.check_integrity(connection, file.name)
        if databases.describe(connection, file.name) != said:
            raise DamagedError(f"{file.name} does not hold what the manifest says")
        checks.check_content(connection, file.name)


def _check_chunks(payload: Payload, found: Manifest, watch: Watch) -> None:
    done = 0
    for _, piece in read_files(payload, found):
        done += len(piece)
        watch("reading", done, payload.bytes)


def _check_content(payload: Payload, found: Manifest, watch: Watch) -> None:
    held = [
        (file, start)
        for file, start in zip(found.files, found.offsets(), strict=False)
        if file.database is not None
    ]
    for number, (file, start) in enumerate(held):
        watch("checking", number, len(held))
        check_database(_within(payload, start), file)
    watch("checking", len(held), len(held))


def _within(payload: Payload, start: int) -> Read:
    return lambda length, offset: payload.read(length, start + offset)


def _sidecar(path: Path) -> bytes:
    try:
        with backup_file.opened(path.with_name(path.name + signature.SUFFIX)) as file:
            return read_bounded(file)
    except MissingError:
        raise MissingError(f"no signature {signature.SUFFIX} stands beside the backup") from None


def read_bounded(file: BinaryIO) -> bytes:
    """Read a signature file, and no more of another than shows that it is none."""
    return file.read(signature.MAX_SIDECAR_BYTES + 1)
