"""Tenants: the registry of a home's databases, each opened once and closed with it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.adapters.stems import SnowballStems
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError, StoreUnusableError
from codeflow_memory.domain.grant import StoredGrant
from codeflow_memory.domain.ids import Ids
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.tenant import is_slug
from codeflow_memory.services import rekeying
from codeflow_memory.services.store import Guard, NoGuard, Store
from codeflow_memory.storage import (
    audit,
    copies,
    databases,
    grants,
    migrate,
    moves,
    principals,
    restoration,
    tenants,
)
from codeflow_memory.storage.databases import Files
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import Home
from codeflow_memory.storage.tenants import Instance
from codeflow_memory.storage.words import UnicodeWords

FIRST_OWNER = "owner"
"""The name of the person that every new tenant has."""

_INSTANCE_BYTES = 16

GuardOf = Callable[[str, Engine], Guard]


class Tenants:
    """The tenants of one home; may be shared by threads.

    Args:
        home: The home; it exists.
        now: Unix microseconds, UTC.
        random_bytes: As many random bytes as asked for; tokens' secrets never come from it.
        vfs: Name of an apsw VFS, for fault tests.
        roots: Folders under which repositories may be read; absolute.
        guard_of: Makes the guard of a tenant that had an older document.
        migrating: Whether older databases are brought to the newest schema; the home is held
            alone then.
        rekeying: Whether a shared database with another key comes under the home's; the home is
            held alone then too. Files do so by themselves.
    """

    def __init__(  # noqa: PLR0913 - what one process decides once
        self,
        home: Home,
        *,
        now: Callable[[], int],
        random_bytes: Callable[[int], bytes] = os.urandom,
        vfs: str | None = None,
        roots: tuple[Path, ...] = (),
        guard_of: GuardOf = lambda _, __: NoGuard(),
        migrating: bool = False,
        rekeying: bool = False,
    ) -> None:
        self.home = home
        self._now = now
        self._random_bytes = random_bytes
        self._vfs = vfs
        self._databases = databases.of(home, vfs, alone=migrating or rekeying)
        self._roots = roots
        self._guard_of = guard_of
        self._migrating = migrating
        self._may_rekey = rekeying or not self._databases.shared
        self._ids = Ids(now, random_bytes)
        self._words = UnicodeWords()
        self._stems = SnowballStems()
        self._stores: dict[str, Store] = {}
        self._lock = threading.Lock()

    @property
    def shared(self) -> bool:
        """Whether other homes' servers and workers may use the same databases."""
        return self._databases.shared

    def slugs(self) -> list[str]:
        """List the tenants that have a database, ``local`` first."""
        return self._databases.slugs()

    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a database.

        Raises:
            InvalidRequestError: *tenant* is no slug.
        """
        return self._databases.exists(tenant)

    def ask(self) -> None:
        """Ask what carries the databases for a sign of life.

        Raises:
            BusyError: There is none.
            DeadlineExceededError: There was none by the deadline.
            StoreUnusableError: It refuses us.
        """
        self._databases.ask()

    def place(self, tenant: str) -> str:
        """Say where *tenant*'s database is, to who may read the home."""
        return self._databases.place(tenant)

    def get(self, tenant: str) -> Store:
        """Return a tenant's store, opened and checked when it is first asked for.

        Raises:
            NotFoundError: There is no such tenant, or *tenant* is no slug.
            StoreUnusableError: Its file is damaged, foreign, newer, older or another tenant's.
        """
        with self._lock:
            found = self._stores.get(tenant)
            if found is None:
                found = self._open(tenant)
                self._stores[tenant] = found
            return found

    def create(self, slug: str) -> Store:
        """Make a tenant with its first owner, and open it.

        Raises:
            InvalidRequestError: *slug* is no slug, or the tenant exists.
            StoreUnusableError: It is to be made on a server, and stands as a file of the home.
        """
        if self._databases.exists(slug):
            raise _exists()
        moves.refuse_making(self.home, slug, self._databases.address)
        if self.home.server is not None and slug in self.home.tenants():
            # The checkpoints beside the file are of its audit, and would be continued by another's.
            detail = "this home has its file: `codeflow-memory tenant move` takes it over"
            raise StoreUnusableError(f"tenant {slug}", detail)
        home_key, at = self._key(), self._now()
        instance_id = self._random_bytes(_INSTANCE_BYTES).hex()

        def fill(tx: Transaction) -> None:
            found(tx, slug=slug, home_key=home_key, instance_id=instance_id, ids=self._ids, at=at)

        try:
            self._databases.create(slug, fill)
        except FileExistsError:
            raise _exists() from None
        self.keep_place(slug)
        return self.get(slug)

    def keep_place(self, tenant: str) -> None:
        """Let the home remember on which server *tenant* is, so that none is made of files."""
        if self.shared:
            moves.keep_place(self.home, tenant, self._databases.address)

    def opened(self) -> list[Store]:
        """List the stores that this process opened."""
        with self._lock:
            return list(self._stores.values())

    def close(self) -> None:
        """Close every database."""
        with self._lock:
            stores, self._stores = self._stores, {}
        for store in stores.values():
            store.engine.close()
        self._databases.close()

    def _open(self, slug: str) -> Store:
        # What no tenant can be called is to a caller one that does not exist.
        if not is_slug(slug) or not self._databases.exists(slug):
            raise NotFoundError("tenant", slug)
        if restoration.stands(self.home) and not self._migrating:
            raise StoreUnusableError("the home", "a restore waits: start `codeflow-memory up` once")
        engine = self._databases.engine(slug)
        try:
            migrate.prepare(engine, check=True)
            self._bring_up(slug, engine)
            with engine.read() as tx:
                instance = tenants.find(tx)
        except BaseException:
            engine.close()
            raise
        if instance is None or instance.tenant != slug:
            engine.close()
            raise StoreUnusableError(engine.name, "it belongs to another tenant; move it aside")
        store = Store(
            tenant=slug,
            engine=engine,
            keys=TenantKeys(self._key(), instance.instance_id),
            ids=self._ids,
            now=self._now,
            words=self._words,
            stems=self._stems,
            home=self.home,
            roots=self._roots,
            guard=self._guard_of(slug, engine),
        )
        if not self._may_rekey:
            rekeying.refuse_another(store, instance)
        elif store.keys.check() != instance.key_check:
            rekeying.run(store)
        return store

    def _key(self) -> bytes:
        return self.home.key(self._databases.slugs)

    def _bring_up(self, slug: str, engine: Engine) -> None:
        _, version = engine.versions()
        if self._migrating:
            files = Files(self.home, self._vfs)
            migrate.upgrade(engine, lambda old: copies.make(files, slug, engine, old))
        elif version < migrate.newest_version():
            raise StoreUnusableError(
                engine.name, "its schema is older; start `codeflow-memory up` once"
            )


def found(
    tx: Transaction, *, slug: str, home_key: bytes, instance_id: str, ids: Ids, at: int
) -> str:
    """Write the first rows of an empty migrated database: instance, first owner, audit.

    Returns:
        The principal id of the first owner.
    """
    keys = TenantKeys(home_key, instance_id)
    tenants.insert(tx, Instance(instance_id, slug, at, keys.check()))
    owner = Principal(ids.new("prn"), FIRST_OWNER, "user", None, at, None)
    principals.insert(tx, owner)
    grant = StoredGrant(
        ids.new("grt"), owner.principal_id, Role.OWNER, None, owner.principal_id, at
    )
    grants.insert(tx, grant)
    batch_id = ids.new("bat")
    for action, item, reason in (
        ("tenant.create", instance_id, None),
        ("principal.create", owner.principal_id, None),
        ("grant.create", grant.grant_id, f"{owner.principal_id} {grant.role}"),
    ):
        entry = audit.Entry(
            at=at,
            principal_id=owner.principal_id,
            origin="system",
            batch_id=batch_id,
            action=action,
            item=item,
            reason=reason,
        )
        audit.append(tx, entry, keys.audit_hash)
    return owner.principal_id


def _exists() -> InvalidRequestError:
    return InvalidRequestError.at("/tenant", "exists already")
