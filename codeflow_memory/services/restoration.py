"""Restoration: the first start after a backup was put back, and the end of what it replaced.

The databases must be what the backup held, down to each value; each then begins a restore epoch, in
which the tokens of runs that were under way at the backup count no more.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import checkpoints
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import checkpoints as checkpoint_rows
from codeflow_memory.storage import databases, fingerprint, migrate, restoration
from codeflow_memory.storage.databases import Databases
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.restoration import Marker, Restored

KEPT = 7 * DAY
"""How long what a restore replaced is kept; it may hold what was deleted."""

_STAMP_LENGTH = 16


def settle(home: Home, open_tenants: Callable[[], Tenants]) -> bool:
    """Do what a restore left to the next start; tell whether there was anything.

    A start that is cut off here leaves the rest to the one after it.

    Args:
        home: Nothing uses it; it is held alone meanwhile.
        open_tenants: Opens its tenants, bringing older databases to the newest schema.

    Raises:
        StoreUnusableError: The home is in use, or a database is not what the backup held.
    """
    if not restoration.stands(home):
        return False
    with home.exclusive():
        marker = restoration.find(home)
        if marker is None:
            return False
        with closing(_databases(home, marker)) as found:
            restoration.finish(home, marker, found)
            if not marker.verified:
                for restored in marker.databases:
                    _verify(found, restored)
                restoration.mark_verified(home, marker)
        tenants = open_tenants()
        try:
            for restored in marker.databases:
                _begin(tenants.get(restored.tenant), restored.restore_epoch)
        finally:
            tenants.close()
        restoration.end(home)
    return True


def resume(home: Home) -> None:
    """Bring the swap of a restore to its end, if one was cut off; the home is held alone."""
    marker = restoration.find(home)
    if marker is not None:
        with closing(_databases(home, marker)) as found:
            restoration.finish(home, marker, found)


def discard_all(home: Home) -> list[str]:
    """Remove whatever restores replaced, and moves put aside; return what it was called."""
    names = []
    for folder in restoration.undo_folders(home):
        restoration.remove_undo(home, folder)
        names.append(folder.name)
    with closing(databases.of(home)) as found:
        for kept in found.earlier():
            if kept.retired:
                found.discard(kept.name)
                names.append(kept.name)
    return names


def discard_old(store: Store) -> None:
    """Remove what restores replaced, and what moved elsewhere, more than `KEPT` ago."""
    for folder in restoration.undo_folders(store.home):
        since = _moment(folder.name.removeprefix(restoration.UNDO))
        if since is not None and store.now() - since > KEPT:
            restoration.remove_undo(store.home, folder)
    if store.tenant == LOCAL:
        with closing(databases.of(store.home)) as found:
            for kept in found.earlier():
                if kept.retired and store.now() - kept.at > KEPT:
                    found.discard(kept.name)


def _databases(home: Home, marker: Marker) -> Databases:
    """Return the databases that were restored, for nobody else until they are closed.

    Raises:
        StoreUnusableError: The home is used with others.
    """
    found = databases.of(home, alone=True)
    if marker.address and marker.address != found.address:
        detail = "a restore waits, of another database: name that with --database"
    elif not marker.address and home.server is not None:
        detail = "a restore of its files waits: leave out --database once"
    else:
        return found
    found.close()
    raise StoreUnusableError("the home", detail)


def _verify(found: Databases, restored: Restored) -> None:
    """Refuse a database that is not what the backup held, before anything changes it.

    Raises:
        StoreUnusableError: It is another.
    """
    engine = found.engine(restored.tenant)
    try:
        migrate.prepare(engine, check=True)
        with engine.read() as tx:
            if fingerprint.of_database(tx) != restored.fingerprint:
                raise StoreUnusableError(
                    engine.name, "it is not what the backup held; restore the backup again"
                )
    finally:
        engine.close()


def _begin(store: Store, restore_epoch: int) -> None:
    """Begin the restore epoch, unless a start that was cut off did."""
    with store.engine.read() as tx:
        begun = checkpoint_rows.head(tx).restore_epoch >= restore_epoch
    if not begun:
        checkpoints.record_restore(store, at_least=restore_epoch)


def _moment(stamp: str) -> int | None:
    """Return the time of a folder's stamp; ``None`` for one that no restore gave."""
    try:
        at = datetime.strptime(stamp[:_STAMP_LENGTH], restoration.STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(at.timestamp()) * 1_000_000
