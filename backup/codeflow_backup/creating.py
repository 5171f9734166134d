"""Creating a backup: hold the databases, write them down twice (digests, then bytes), read back.

The file gets its name last. Whatever fails before, nothing stands under that name.
"""

import hashlib
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, Final

from codeflow_backup import header, marker, operations, partial, schema
from codeflow_backup.ciphers import Suite
from codeflow_backup.container import Reader, Writer
from codeflow_backup.databases import BLOCK_BYTES, Held, held
from codeflow_backup.errors import (
    DamagedError,
    HomeInUseError,
    MissingError,
    StandsError,
    UnusableError,
)
from codeflow_backup.files import naming, sync_folder
from codeflow_backup.header import Core
from codeflow_backup.home import CONFIGURATION, DOCUMENT, KEY, LOCAL, Home, place_of
from codeflow_backup.keys import Secret
from codeflow_backup.manifest import Database, File, Manifest
from codeflow_backup.plaintext import read_files, read_manifest
from codeflow_backup.progress import Watch
from codeflow_backup.slots import prepare

NO_INSTANCE: Final = "0" * 32
"""Whose backup it is where no database is: a document that was never imported."""


@dataclass(frozen=True, slots=True)
class Created:
    """What a backup that was just made says of itself."""

    core: Core
    manifest: Manifest
    bytes: int


_LAID_OUT: Final = ".backup-"
"""How the folder begins that the server's own program lays a database server's tenants out in."""


@dataclass(frozen=True, slots=True)
class _Source:
    """One file of the home: what the manifest says of it, and where its bytes come from."""

    file: File
    pieces: Callable[[], Iterator[bytes]]


def create(
    home: Home, target: Path, secrets: Sequence[Secret], watch: Watch, tenant: str | None = None
) -> Created:
    """Back a home up into the new file *target*.

    Args:
        home: A server may run on it; its writers wait meanwhile.
        target: Where nothing stands yet.
        secrets: 1 to 16; each alone opens the backup.
        watch: Is told how far it has come.
        tenant: Only this one; ``None`` is the whole home.

    Raises:
        StandsError: Something has that name already.
        MissingError: There is no such home, tenant or folder.
        HomeInUseError: An import, a migration or a restore holds the home, or a writer does.
        UnusableError: A database is damaged or of another program, or the tenants are not in the
            home; nothing of it is backed up.
    """
    _check_target(target)
    _check_place(home)
    # It takes a second of which nobody else should know.
    keys = [prepare(secret) for secret in secrets]
    # Closing writes again what could not be written.
    with naming(target), partial.opened(target.parent) as (file, temporary):
        with home.shared(), ExitStack() as stack:
            _refuse_half_restored(home)
            sources, described = _sources(home, tenant, stack, watch)
            manifest = Manifest(tuple(source.file for source in sources))
            core = _core(described)
            _write(Writer(file, core, keys), manifest, sources, watch)
        os.fsync(file.fileno())
        size = _read_back(file, secrets, manifest, watch)
        _link(temporary, target)
    operations.record_backup(home, core, target.name)
    return Created(core, manifest, size)


def _check_place(home: Home) -> None:
    """Refuse a home that says that its tenants are elsewhere: what lies in it is not theirs.

    Raises:
        UnusableError: Its configuration names a database server.
    """
    if home.path.name.startswith(_LAID_OUT):
        return
    try:
        with (home.path / CONFIGURATION).open("rb") as file:
            named = tomllib.load(file).get("database", {}).get("url")
    except (OSError, ValueError, AttributeError):
        # Nothing that names one; whether it is a configuration at all, the server says.
        return
    if named:
        detail = "its tenants are in a database server: use `codeflow-memory backup create`"
        raise UnusableError(f"{CONFIGURATION}: {detail}")


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise MissingError("the folder that the backup is to be written to is not there")
    try:
        target.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnusableError(f"the backup cannot have that name: {error.strerror}") from None
    raise StandsError("something stands under that name already; a backup replaces nothing")


def _refuse_half_restored(home: Home) -> None:
    found = marker.find(home)
    if found is not None and found.state is marker.State.SWAPPING:
        raise HomeInUseError("a restore was cut off here: run it again, or start the server once")


def _sources(
    home: Home, tenant: str | None, stack: ExitStack, watch: Watch
) -> tuple[list[_Source], list[Database]]:
    """Hold every database at once, then take each one's digests: the first of the two passes."""
    tenants = home.tenants() if tenant is None else [tenant]
    places = [place_of(slug) for slug in tenants]
    for place in places:
        if not os.path.lexists(home.path / place.name) and not _is_document(home, place.tenant):
            raise MissingError(f"the home has no tenant {place.tenant}")
    present = [place for place in places if os.path.lexists(home.path / place.name)]
    databases = [stack.enter_context(held(home, place)) for place in present]
    sources, described = list[_Source](), list[Database]()
    for number, database in enumerate(databases):
        watch("checking", number, len(databases))
        found = database.describe()
        described.append(found)
        sources.append(_of_database(database, found))
    watch("checking", len(databases), len(databases))
    names = [KEY, *([CONFIGURATION] if tenant is None else [])]
    names += [DOCUMENT] if tenant in {None, LOCAL} else []
    _refuse_links(home, [name for name in names if name != CONFIGURATION])
    others = [_of_file(home, name) for name in names if home.is_regular(name)]
    if not databases and not any(source.file.name == DOCUMENT for source in others):
        raise MissingError("the home holds nothing to back up: no database and no memory.json")
    return sources + others, described


def _refuse_links(home: Home, names: Sequence[str]) -> None:
    """Refuse what no backup could hold as it is, and without which it would not be whole."""
    for name in names:
        if os.path.lexists(home.path / name) and not home.is_regular(name):
            raise UnusableError(f"{name} is no regular file; move it aside")


def _is_document(home: Home, tenant: str) -> bool:
    return tenant == LOCAL and home.is_regular(DOCUMENT)


def _of_database(database: Held, found: Database) -> _Source:
    size, sha256 = database.digest()
    return _Source(File(database.place.name, size, sha256, found), database.pages)


def _of_file(home: Home, name: str) -> _Source:
    path = home.path / name

    def pieces() -> Iterator[bytes]:
        with path.open("rb") as file:
            while piece := file.read(BLOCK_BYTES):
                yield piece

    whole, size = hashlib.sha256(), 0
    try:
        for piece in pieces():
            whole.update(piece)
            size += len(piece)
    except OSError as error:
        raise UnusableError(f"{name} cannot be read: {error.strerror}") from None
    return _Source(File(name, size, whole.hexdigest()), pieces)


def _core(described: Sequence[Database]) -> Core:
    first = described[0].instance_id if described else NO_INSTANCE
    try:
        version = metadata.version("codeflow-memory")
    except metadata.PackageNotFoundError:
        version = "unknown"
    return Core(
        suite=Suite.AES_256_GCM,
        backup_id=header.new_backup_id(),
        nonce_prefix=header.new_nonce_prefix(),
        instance_id=first,
        generation=max((found.generation for found in described), default=0),
        created_at=time.time_ns() // 1_000,
        schema_version=max(
            (found.schema_version for found in described), default=max(schema.KNOWN)
        ),
        app_version=version,
    )


def _write(writer: Writer, manifest: Manifest, sources: Sequence[_Source], watch: Watch) -> None:
    """Write everything: the second pass, in which nothing may differ from the first."""
    total, done = manifest.total(), 0
    writer.write(manifest.prologue())
    for source in sources:
        whole = hashlib.sha256()
        for piece in source.pieces():
            whole.update(piece)
            writer.write(piece)
            done += len(piece)
            watch("writing", done, total)
        if whole.hexdigest() != source.file.sha256:
            raise HomeInUseError(f"{source.file.name} changed while it was read; try again")
    writer.write(manifest.trailer())
    writer.finish()


def _read_back(file: BinaryIO, secrets: Sequence[Secret], written: Manifest, watch: Watch) -> int:
    """Open what the disk holds as a restore would, and authenticate every chunk of it."""
    size = file.seek(0, os.SEEK_END)
    # What comes back should be the disk's, not what is still in memory.
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    file.seek(0)
    payload = Reader(file).unlock(secrets)
    found = read_manifest(payload)
    done = 0
    for _, piece in read_files(payload, found):
        done += len(piece)
        watch("verifying", done, payload.bytes)
    if found != written:
        raise DamagedError("the disk does not give back what was written to it")
    return size


def _link(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise StandsError("something stands under that name already; it was left alone") from None
    except OSError as error:
        raise UnusableError(
            f"the backup cannot get its name there: {error.strerror}; file systems without hard"
            " links cannot be written to directly: create it elsewhere and copy it"
        ) from None
    sync_folder(target.parent)
