"""Moving: a tenant goes to another engine or home, and is in one place at every moment.

It is copied beside what is served there, and compared. Only when that is confirmed, and nothing was
written since, the source is put aside and the copy takes its name. Whatever cuts a move off, doing
it again goes on: until the source is put aside it is served as before, from then on the copy is
complete.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.domain.errors import (
    BusyError,
    InvalidRequestError,
    NotFoundError,
    StoreUnusableError,
)
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.storage import (
    checkpoints,
    copier,
    databases,
    fingerprint,
    migrate,
    moves,
    restoration,
    tenants,
)
from codeflow_memory.storage.databases import Databases
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import Home, is_regular, sync_folder, write_private
from codeflow_memory.storage.moves import Moved

_ANOTHER_KEY = (
    "the other home has another one, under which no token of the tenant would work; move it to a"
    " new home, or to one with a copy of this key"
)


@dataclass(frozen=True, slots=True)
class Move:
    """A tenant, where it is and where it goes.

    Args:
        tenant: Its slug.
        home: The home that it is of.
        source: Its databases.
        to: The home that it will be of; the same one where only the engine is another.
        target: Its databases.
        cut_off: Whether an earlier run put the source aside already, and got no further.
    """

    tenant: str
    home: Home
    source: Databases
    to: Home
    target: Databases
    cut_off: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A copy that waits to be confirmed.

    Args:
        fingerprint: What it holds.
        anew: Whether it was made now; else an earlier run had, and it is still the same.
    """

    fingerprint: str
    anew: bool


def find_done(home: Home, to: Home, tenant: str) -> str | None:
    """Return where an earlier run took the tenant; ``None`` unless it is there and not here.

    Raises:
        StoreUnusableError: The note about it cannot be read.
        UnreachableError: The database server cannot be reached.
    """
    noted = moves.find(home, tenant)
    if noted is None or not noted.done:
        return None
    with closing(databases.of(home)) as source, closing(databases.of(to)) as target:
        ended = noted.target == target.address and not source.exists(tenant)
        return noted.target if ended and target.exists(tenant) else None


@contextmanager
def opened(home: Home, to: Home, tenant: str, *, dry_run: bool = False) -> Iterator[Move]:
    """Hold both ends of a move, after it was found possible; homes with files are held alone.

    Args:
        home: Where the tenant is.
        to: Where it goes.
        tenant: Its slug.
        dry_run: Whether nothing is made: the move can be looked at, and not done.

    Raises:
        InvalidRequestError: It is there already, or another tenant has its name there.
        NotFoundError: There is no such tenant.
        StoreUnusableError: A home is in use, or has another key; or the tenant cannot be used.
    """
    with ExitStack() as held:
        for one, alone in _homes(home, to):
            if dry_run:
                one.check()
            else:
                one.make()
            # Nobody uses a home without the file that who uses one locks.
            if not dry_run or one.has_lock():
                held.enter_context(one.exclusive() if alone else one.shared())
            if restoration.stands(one):
                raise StoreUnusableError("the home", "a restore waits: start the server once")
        source = held.enter_context(closing(databases.of(home)))
        target = held.enter_context(closing(databases.of(to)))
        cut_off = _is_cut_off(home, source, target, tenant)
        move = Move(tenant, home, source, to, target, cut_off)
        if not cut_off:
            _check(move, dry_run=dry_run)
        yield move


def prepare(move: Move, watch: Watch = unwatched) -> Prepared:
    """Copy the tenant beside what is served, unless that was done and is the same still.

    Raises:
        StorageFullError: There is no room for it.
        StoreUnusableError: The copy is not the same, or cannot be made; nothing of it is kept.
    """
    with closing(move.source.engine(move.tenant)) as engine:
        found = _staged(move)
        if found is not None and found == copier.fingerprint_of(engine):
            return Prepared(found, anew=False)
        _, version = engine.versions()
        copied = []

        def fill(tx: Transaction) -> None:
            copied.append(copier.copy(engine, tx, watch))
            if migrate.version(tx) != version:
                # It was brought to a newer schema between the two questions.
                raise BusyError

        move.target.stage(move.tenant, version, fill)
    return Prepared(copied[0].fingerprint, anew=True)


def confirm(move: Move, prepared: Prepared) -> str | None:
    """Put the source aside and let the copy take its place.

    Returns:
        What the source is called now; ``None`` when it was written to since it was copied: then
        all is as it was.
    """
    before = moves.find(move.home, move.tenant)
    moves.write(
        move.home, move.tenant, Moved(move.target.address, prepared.fingerprint, done=False)
    )

    def check(tx: Transaction) -> None:
        if fingerprint.of_database(tx) != prepared.fingerprint:
            raise _ChangedError

    try:
        kept = move.source.retire(move.tenant, check)
    except _ChangedError:
        if before is None:
            moves.remove(move.home, move.tenant)
        else:
            moves.write(move.home, move.tenant, before)
        return None
    finish(move)
    return kept


def finish(move: Move) -> None:
    """Let the copy take its place, after the source was put aside.

    Raises:
        StoreUnusableError: The copy is not what was confirmed.
    """
    noted = moves.find(move.home, move.tenant)
    assert noted is not None, "who puts a source aside notes it first"  # noqa: S101 - an invariant
    if not move.target.exists(move.tenant):
        if _staged(move) != noted.fingerprint:
            detail = "its copy is not what was confirmed; the source is kept where it was put aside"
            raise StoreUnusableError(f"tenant {move.tenant}", detail)
        if move.to.path != move.home.path:
            _take_checkpoints(move)
            moves.remove(move.to, move.tenant)
        move.target.install(move.tenant)
    moves.write(move.home, move.tenant, Moved(noted.target, noted.fingerprint, done=True))


class _ChangedError(Exception):
    """The source is not what was copied."""


def _homes(home: Home, to: Home) -> list[tuple[Home, bool]]:
    """List the homes of a move, and whether files of each are in play."""
    if home.path == to.path:
        return [(home, home.server is None or to.server is None)]
    return sorted(((one, one.server is None) for one in (home, to)), key=lambda pair: pair[0].path)


def _is_cut_off(home: Home, source: Databases, target: Databases, tenant: str) -> bool:
    noted = moves.find(home, tenant)
    return (
        noted is not None
        and not noted.done
        and noted.target == target.address
        and not source.exists(tenant)
    )


def _check(move: Move, *, dry_run: bool) -> None:
    if move.source.address == move.target.address:
        raise InvalidRequestError.at("/to", "it is there already")
    if not move.source.exists(move.tenant):
        raise NotFoundError("tenant", move.tenant)
    if move.target.exists(move.tenant):
        raise InvalidRequestError.at("/tenant", "one of that name exists there already")
    _share_key(move, dry_run=dry_run)
    with closing(move.source.engine(move.tenant)) as engine:
        migrate.prepare(engine, check=True)
        _check_instance(move, engine)


def _check_instance(move: Move, engine: Engine) -> None:
    with engine.read() as tx:
        found = tenants.find(tx)
    if found is None or found.tenant != move.tenant:
        raise StoreUnusableError(engine.name, "it belongs to another tenant; move it aside")
    if TenantKeys(_key(move.home, move.source), found.instance_id).check() != found.key_check:
        raise StoreUnusableError(engine.name, "it has another home key; start the server once")


def _share_key(move: Move, *, dry_run: bool) -> None:
    """Refuse another key; a new home gets this one's, as from a backup."""
    if move.to.path == move.home.path:
        return
    own, path = _key(move.home, move.source), move.to.path / "key"
    if is_regular(move.home.path / "key") and not os.path.lexists(path):
        if move.target.slugs():
            raise StoreUnusableError("key", _ANOTHER_KEY)
        if dry_run:
            return
        write_private(path, own)
        sync_folder(move.to.path)
    if _key(move.to, move.target) != own:
        raise StoreUnusableError("key", _ANOTHER_KEY)


def _key(home: Home, of: Databases) -> bytes:
    return home.key(of.slugs)


def _staged(move: Move) -> str | None:
    """Return the fingerprint of the copy; ``None`` without one that can be read."""
    engine = move.target.staged(move.tenant)
    if engine is None:
        return None
    with closing(engine):
        try:
            return copier.fingerprint_of(engine)
        except StoreUnusableError:
            return None


def _take_checkpoints(move: Move) -> None:
    """Copy the signed checkpoints of the audit, which lie in the home, to the other one."""
    own = checkpoints.file_of(move.home.database(move.tenant))
    if not is_regular(own):
        return
    there = checkpoints.file_of(move.to.database(move.tenant))
    there.unlink(missing_ok=True)
    write_private(there, own.read_bytes())
    sync_folder(there.parent)
