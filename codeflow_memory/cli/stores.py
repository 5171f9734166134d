"""A local home for the time of one command: made when it may be, locked, opened, closed."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import NotThereError
from codeflow_memory.cli.output import talk
from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.errors import (
    CodeflowError,
    InvalidRequestError,
    NotFoundError,
    StoreUnusableError,
    UnauthenticatedError,
)
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkpoints, tokens
from codeflow_memory.services.legacy_guard import guard_of
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.settings import Settings, load
from codeflow_memory.storage import databases, principals
from codeflow_memory.storage.home import LEGACY_DOCUMENT, Home
from codeflow_memory.storage.restoration import MARKER as RESTORE_MARKER


@dataclass(frozen=True, slots=True)
class Opened:
    """A home that this process uses."""

    home: Home
    settings: Settings
    tenants: Tenants


def clock(settings: Settings) -> Callable[[], int]:
    """Return the program's clock: Unix microseconds, with the operator's shift."""
    shift = settings.clock.offset_seconds * 1_000_000
    return lambda: time.time_ns() // 1_000 + shift


@contextmanager
def opened(
    context: Context, command: str, *, making: bool = False, roots: tuple[Path, ...] = ()
) -> Iterator[Opened]:
    """Use the local home that *context* names.

    Args:
        context: Names the home.
        command: For the refusal when a server is meant.
        making: Whether a home without its tenant `local` gets it; else it is not found, unless
            an older document waits to be imported.
        roots: Folders that may be read beside those of the configuration: the user named them.

    Raises:
        NotThereError: There is no home.
        StoreUnusableError: An import, migration or restore holds it.
        UnreachableError: Its database server does not let us in.
    """
    home = context.local(command)
    reach(home)
    settle(home)
    if making or waits(home):
        make(home)
    elif not home.path.is_dir():
        raise NotThereError(f"there is no home {home.path}: `codeflow-memory up` makes it")
    settings = load(home.path)
    with home.shared():
        tenants = tenants_of(home, settings, roots)
        try:
            if making and not tenants.exists(LOCAL):
                ensure_local(tenants)
                home.fill_ballast()
            elif making:
                tenants.keep_place(LOCAL)
            yield Opened(home, settings, tenants)
        finally:
            close(tenants)


def reach(home: Home) -> None:
    """Make sure that *home*'s databases can be reached, before anything is made or waits.

    Raises:
        InvalidRequestError: The database's address is none.
        UnreachableError: No connection comes about.
        StoreUnusableError: The package for its engine is missing, or the server is not fit.
    """
    with closing(databases.of(home)) as found:
        found.reach()


def settle(home: Home) -> None:
    """Finish a restore that *home* waits for: before anything else looks at its files.

    Raises:
        StoreUnusableError: It is in use, or not what the backup held.
    """
    if not os.path.lexists(home.path / RESTORE_MARKER):
        return
    # A home is restored once in a long time, if ever.
    from codeflow_memory.services import restoration  # noqa: PLC0415 - when it is needed

    def open_tenants() -> Tenants:
        return tenants_of(home, load(home.path), migrating=True, rekeying=True)

    if restoration.settle(home, open_tenants):
        talk("a backup was restored here: the tokens of its runs are revoked")


def close(tenants: Tenants) -> None:
    """Close every database; how far the audit of each came that was written to is signed first."""
    for store in tenants.opened():
        if store.engine.written:
            checkpoints.write_or_log(store)
    tenants.close()


def waits(home: Home) -> bool:
    """Tell whether an older document stands in *home* and no database of `local` does."""
    if not os.path.lexists(home.path / LEGACY_DOCUMENT):
        return False
    with closing(databases.of(home)) as found:
        return not found.exists(LOCAL)


def make(home: Home) -> None:
    """Make *home*'s folder, and import an older document that waits in it: a first access.

    Raises:
        click.ClickException: The document is not valid; each fault was told.
    """
    home.make()
    settle(home)
    if not os.path.lexists(home.path / LEGACY_DOCUMENT):
        return
    # Its parser is needed once in the life of a home.
    from codeflow_memory.services import legacy_import  # noqa: PLC0415 - when it is needed

    try:
        report = legacy_import.settle(home, now=clock(load(home.path)))
    except InvalidRequestError as error:
        for fault in error.faults:
            talk(f"{fault.pointer or 'the document'}: {fault.detail}")
        raise click.ClickException(
            f"{LEGACY_DOCUMENT} cannot be imported: correct it or move it away; nothing was made"
        ) from None
    if report.outcome is legacy_import.Outcome.CONFLICT:
        talk(f"{legacy_import.conflict()} [import-conflict]; until then only reads are served")


def tenants_of(
    home: Home,
    settings: Settings,
    roots: tuple[Path, ...] = (),
    *,
    migrating: bool = False,
    rekeying: bool = False,
) -> Tenants:
    """Return the registry of *home*'s tenants."""
    return Tenants(
        home,
        now=clock(settings),
        roots=(*settings.repositories.roots, *roots),
        guard_of=guard_of(home),
        migrating=migrating,
        rekeying=rekeying,
    )


def ensure_local(tenants: Tenants) -> Store:
    """Return the tenant `local`, made when it is missing; of two makers one wins."""
    if not tenants.exists(LOCAL):
        try:
            return tenants.create(LOCAL)
        except CodeflowError:
            if not tenants.exists(LOCAL):
                raise
    # Whichever home made it.
    tenants.keep_place(LOCAL)
    return tenants.get(LOCAL)


def caller(tenants: Tenants, token: str | None, tenant: str | None = None) -> Access:
    """Return whom a command acts for: the token's principal, else the tenant's first owner.

    Raises:
        UnauthenticatedError: The token names nobody.
        NotFoundError: There is no such tenant.
    """
    if token is None:
        return owner(tenants.get(tenant or LOCAL))
    parts = parse_token(token)
    if parts is None:
        raise UnauthenticatedError
    if tenant not in {None, parts.tenant}:
        raise NotFoundError("tenant", str(tenant))
    try:
        store = tenants.get(parts.tenant)
    except NotFoundError:
        raise UnauthenticatedError from None
    return accesses.authenticate(store, parts.token_id, parts.secret)


def owner(store: Store) -> Access:
    """Return the access of a tenant's first owner, as who owns the home's files has it."""
    with store.engine.read() as tx:
        found = principals.first_owner(tx)
        if found is None:
            raise StoreUnusableError(store.engine.name, "no person owns its tenant")
        return accesses.of_principal(store, tx, found.principal_id, Origin.USER)


def owner_token(store: Store) -> str:
    """Make a token of a tenant's first owner, for all that the owner may do."""
    access = owner(store)
    new = NewToken(access.principal_id, "user", Role.OWNER)
    return str(tokens.create(store, access, new, Operation(None, ("first token",))).text)
