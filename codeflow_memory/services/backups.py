"""Backups of databases that are no files: as files for a while, which `codeflow-backup` reads.

Each tenant is copied from one snapshot of its own. A backup of one engine is like one of the other,
and comes back on either.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from codeflow_memory.domain.checkpoint import Head
from codeflow_memory.domain.errors import NotFoundError, StoreUnusableError
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.storage import (
    checkpoints,
    copier,
    databases,
    migrate,
    moves,
    operations,
    restoration,
    staging,
    tenants,
)
from codeflow_memory.storage.databases import Databases, Files
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import DATABASE, LEGACY_DOCUMENT, Home, is_regular
from codeflow_memory.storage.restoration import Restored
from codeflow_memory.storage.staging import Folder
from codeflow_memory.storage.tenants import Instance

KEY, CONFIGURATION = "key", "config.toml"

_REPLACE = "--replace puts the backup in its place, and keeps what stood there for seven days"


@dataclass(frozen=True, slots=True)
class _Store:
    """One tenant's database: whose it is, and how far it has come."""

    instance: Instance
    head: Head

    @property
    def generation(self) -> tuple[int, int]:
        return self.head.restore_epoch, self.head.count


@contextmanager
def laid_out(home: Home, tenant: str | None, watch: Watch = unwatched) -> Iterator[Folder]:
    """Write a home's tenants down as files, in a folder that goes at the end.

    Args:
        home: Servers may run on its databases; nobody waits.
        tenant: Only this one; ``None`` is the whole home.
        watch: Is told how far it has come.

    Raises:
        NotFoundError: There is no such tenant.
        StoreUnusableError: A restore or an import holds the home, or a database cannot be used.
    """
    with home.shared(), closing(databases.of(home)) as source:
        if restoration.stands(home):
            raise StoreUnusableError("the home", "a restore waits: start the server once")
        slugs = source.slugs() if tenant is None else [tenant]
        if tenant is not None and not source.exists(tenant):
            raise NotFoundError("tenant", tenant)
        with staging.folder(home, staging.OUTGOING) as folder:
            names = (KEY, CONFIGURATION, LEGACY_DOCUMENT, operations.FILE)
            staging.take_along(home, folder.home, names)
            files = Files(folder.home)
            for slug in watch(slugs, "copying"):
                with closing(source.engine(slug)) as engine:
                    _write_down(files, slug, engine)
            yield folder
            operations.take_over(folder.home, home)


def find_hindrance(home: Home, folder: Home) -> str | None:
    """Say why what a backup held should not replace what stands in a home's databases.

    Args:
        home: Held alone.
        folder: What the backup held, as files.
    """
    with closing(databases.of(home)) as target:
        backed_up = Files(folder)
        for restored in _restored(folder):
            moved = moves.find(home, restored.tenant)
            if moved is not None and moved.target != target.address:
                return f"the tenant {restored.tenant} was moved to another place: {_REPLACE}"
            if not target.exists(restored.tenant):
                continue
            stands, held = (_store(of.engine(restored.tenant)) for of in (target, backed_up))
            if stands.instance.instance_id != held.instance.instance_id:
                return f"the tenant {restored.tenant} is another than was backed up: {_REPLACE}"
            if stands.generation > held.generation:
                since = stands.head.count - held.head.count
                changes = f"{since} changes" if since > 0 else "a restore"
                return f"the tenant {restored.tenant} has seen {changes} since: {_REPLACE}"
            return f"the tenant {restored.tenant} stands already: {_REPLACE}"
    return None


def take_in(home: Home, folder: Home, watch: Watch = unwatched) -> tuple[str, ...]:
    """Put what a backup held into a home's databases: proved first, then all of it.

    Each database is copied beside what is served, and compared with what the backup says of it.
    From then on the restore is only finished; what stood there is kept. The first start does the
    rest, as after a restore of files.

    Args:
        home: Held alone, and so are its databases: a server of another home would go on with
            what comes before its first start, with the tokens of runs.
        folder: What the backup held, as files, with the marker of their own restore.
        watch: Is told how far it has come.

    Returns:
        The tenants.

    Raises:
        StoreUnusableError: A copy is not what the backup held, or a server uses the databases;
            nothing was changed.
    """
    found = _restored(folder)
    with closing(databases.of(home, alone=True)) as target:
        for restored in watch(found, "copying"):
            with closing(Files(folder).engine(restored.tenant)) as engine:
                _stage(target, restored, engine)
        epochs = [Restored(r.tenant, r.fingerprint, _epoch(target, r)) for r in found]
        moves_of_files, places = _files(home, folder, target, found)
        marker = restoration.begin(home, folder, moves_of_files, places, epochs, target.address)
        restoration.finish(home, marker, target)
    for restored in found:
        moves.remove(home, restored.tenant)
    return tuple(restored.tenant for restored in found)


def _write_down(files: Files, slug: str, engine: Engine) -> None:
    migrate.prepare(engine, check=True)
    _, version = engine.versions()
    files.put(DATABASE, slug, version, lambda tx: copier.copy(engine, tx))


def _restored(folder: Home) -> Sequence[Restored]:
    marker = restoration.find(folder)
    return () if marker is None else marker.databases


def _stage(target: Databases, restored: Restored, engine: Engine) -> None:
    _, version = engine.versions()

    def fill(tx: Transaction) -> None:
        if copier.copy(engine, tx).fingerprint != restored.fingerprint:
            raise StoreUnusableError(
                f"tenant {restored.tenant}", "it is not what the backup held; nothing was changed"
            )

    target.stage(restored.tenant, version, fill)


def _epoch(target: Databases, restored: Restored) -> int:
    """Return the restore epoch of a restored database: above every one that its store has had."""
    if not target.exists(restored.tenant):
        return restored.restore_epoch
    stands = _store(target.engine(restored.tenant))
    return max(restored.restore_epoch, stands.head.restore_epoch + 1)


def _files(
    home: Home, folder: Home, target: Databases, found: Sequence[Restored]
) -> tuple[list[str], list[str]]:
    """List which files of the home are put aside, and which of the backup take their places."""
    names = [LEGACY_DOCUMENT] if is_regular(folder.path / LEGACY_DOCUMENT) else []
    staying = set(target.slugs()) - {restored.tenant for restored in found}
    if _key_moves(home, folder, staying=bool(staying)):
        names.append(KEY)
    moved = [name for name in names if os.path.lexists(home.path / name)]
    for restored in found:
        # Signed checkpoints of another store than comes would contradict it.
        if _is_other(target, Files(folder), restored.tenant):
            path = checkpoints.file_of(home.database(restored.tenant))
            moved += [path.relative_to(home.path).as_posix()] if os.path.lexists(path) else []
    if is_regular(folder.path / CONFIGURATION) and not os.path.lexists(home.path / CONFIGURATION):
        names.append(CONFIGURATION)
    return moved, names


def _key_moves(home: Home, folder: Home, *, staying: bool) -> bool:
    """Tell whether the backup's home key comes: where tenants stay they keep theirs."""
    if not is_regular(folder.path / KEY):
        return False
    stands = os.path.lexists(home.path / KEY)
    same = stands and (home.path / KEY).read_bytes() == (folder.path / KEY).read_bytes()
    return not same and not (stands and staying)


def _is_other(target: Databases, backed_up: Files, tenant: str) -> bool:
    if not target.exists(tenant):
        return False
    one, other = (_store(of.engine(tenant)).instance for of in (target, backed_up))
    return one.instance_id != other.instance_id


def _store(engine: Engine) -> _Store:
    with closing(engine), engine.read() as tx:
        instance = tenants.find(tx)
        if instance is None:
            raise StoreUnusableError(engine.name, "it was never filled")
        return _Store(instance, checkpoints.head(tx))
