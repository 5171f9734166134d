"""Databases: where a home's tenants are, as files in it or as schemas of one PostgreSQL database.

The one place that decides which engine runs.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import migrate, restoration
from codeflow_memory.storage.engine import Engine, MigrationError, Transaction
from codeflow_memory.storage.home import DATABASE, Home, sync_folder
from codeflow_memory.storage.migrate import Migration
from codeflow_memory.storage.sqlite import SQLiteEngine

Fill = Callable[[Transaction], object]
"""What is done in a transaction that becomes a database whole."""

STAGED = "memory.staged.sqlite"

UNFIT = "a value of it does not fit where it was copied to; nothing was kept"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A database that was put aside, or was never put in place; it may hold what was deleted.

    Args:
        name: What it is called where it lies.
        tenant: Whose it is, or was.
        retired: Whether it was put aside; else it waits for its place.
        at: When it came there; Unix microseconds.
    """

    name: str
    tenant: str
    retired: bool
    at: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of that which carries the databases.

    Args:
        name: Of what.
        detail: What was found; never a password.
        fix: What to do; ``None`` where nothing is wrong.
    """

    name: str
    detail: str
    fix: str | None = None


class Databases(ABC):
    """The tenants' databases of one home; may be shared by threads.

    Beside those that are served there are staged ones, complete and in the place of none yet.

    Args:
        address: Where they are; nothing in it is secret.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    shared = False
    """Whether other homes' servers and workers may use them at the same time."""

    @abstractmethod
    def reach(self) -> None:
        """Make sure that there can be databases, before anything of a home is made.

        Raises:
            InvalidRequestError: The address is none.
            UnreachableError: No connection comes about; the sentence says why.
            StoreUnusableError: What answers there cannot hold them.
        """

    @abstractmethod
    def ask(self) -> None:
        """Ask what carries the databases for a sign of life, at the cost of a round trip or two.

        Raises:
            BusyError: There is none.
            DeadlineExceededError: There was none by the deadline.
            StoreUnusableError: It refuses us.
        """

    @abstractmethod
    def findings(self) -> list[Finding]:
        """Look at what carries the databases; change nothing.

        Raises:
            UnreachableError: It cannot be reached.
        """

    @abstractmethod
    def place(self, tenant: str) -> str:
        """Say where *tenant*'s database is, to who may read the home."""

    @abstractmethod
    def slugs(self) -> list[str]:
        """List the tenants that have a database, ``local`` first."""

    @abstractmethod
    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a database.

        Raises:
            InvalidRequestError: *tenant* is not a slug.
        """

    @abstractmethod
    def engine(self, tenant: str) -> Engine:
        """Return the engine of *tenant*'s database, which is not opened yet."""

    @abstractmethod
    def create(self, tenant: str, fill: Fill) -> None:
        """Make a database of the newest schema with the rows of *fill*: whole, or not at all.

        Raises:
            FileExistsError: The tenant has one; of two makers one wins.
        """

    @abstractmethod
    def stage(self, tenant: str, schema: int, fill: Fill) -> None:
        """Make a staged database, whole or not at all, in place of an earlier staged one.

        Args:
            tenant: Whose it may become.
            schema: Number of its schema.
            fill: Writes every row, those of the ledger of migrations as well.
        """

    @abstractmethod
    def staged(self, tenant: str) -> Engine | None:
        """Return the engine of the staged database; ``None`` where there is none."""

    @abstractmethod
    def install(self, tenant: str, *, replace: bool = False) -> None:
        """Let the staged database be the tenant's from now on.

        Args:
            tenant: Has a staged database.
            replace: Whether the one that it has is put aside, at the same moment.

        Raises:
            FileExistsError: It has one.
        """

    @abstractmethod
    def retire(self, tenant: str, check: Fill) -> str:
        """Put a tenant's database aside, so that nothing serves it; return its name there.

        Args:
            tenant: Has a database.
            check: Looks at it first, while nobody can write; what it raises leaves all as it is.
        """

    @abstractmethod
    def earlier(self) -> list[Earlier]:
        """List what lies beside the databases: retired ones, and staged ones."""

    @abstractmethod
    def discard(self, name: str) -> None:
        """Remove one of `earlier`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what the tenants share."""


class Files(Databases):
    """A SQLite file each, in the home.

    Args:
        home: The home; it exists.
        vfs: Name of an apsw VFS, for fault tests.
    """

    def __init__(self, home: Home, vfs: str | None = None) -> None:
        super().__init__(str(home.path))
        self._home = home
        self._vfs = vfs

    def reach(self) -> None:
        """Find nothing in the way: a file is made where it is missing."""

    def ask(self) -> None:
        """Find them alive: nothing has to run so that a file can be opened."""

    def findings(self) -> list[Finding]:
        """Find nothing: the checks of the home's files are checks of the home."""
        return []

    def place(self, tenant: str) -> str:
        """Name *tenant*'s file."""
        return str(self._home.database(tenant))

    def slugs(self) -> list[str]:
        """List the tenants that have a file, ``local`` first."""
        return self._home.tenants()

    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a file."""
        return self._home.database(tenant).exists()

    def engine(self, tenant: str) -> Engine:
        """Return the engine of *tenant*'s file."""
        return self.at(self._home.database(tenant))

    def at(self, path: Path) -> SQLiteEngine:
        """Return the engine of another file of the home, whose name no tenant's has."""
        return SQLiteEngine(path, vfs=self._vfs)

    def create(self, tenant: str, fill: Fill) -> None:
        """Make the file beside its place, and link it into it when it is complete.

        Of a crash at any point nothing remains but a file that no tenant has.
        """
        path = self._home.database(tenant)
        if path.exists():
            raise FileExistsError
        migrations = migrate.all_migrations()
        with self._complete(tenant, migrations, migrate.recorder(migrations, fill)) as temporary:
            # Linked, not renamed: a rename would put the file over one that came meanwhile.
            path.hardlink_to(temporary)
        sync_folder(path.parent)

    def stage(self, tenant: str, schema: int, fill: Fill) -> None:
        """Make the file under the name of a staged one."""
        self.put(STAGED, tenant, schema, fill)

    def staged(self, tenant: str) -> Engine | None:
        """Return the engine of the staged file."""
        path = self._staged(tenant)
        return self.at(path) if path.exists() else None

    def install(self, tenant: str, *, replace: bool = False) -> None:
        """Give the staged file the name of the tenant's; the home is held alone."""
        staged, path = self._staged(tenant), self._home.database(tenant)
        if replace and path.exists():
            self.retire(tenant, lambda _: None)
        elif path.exists():
            raise FileExistsError
        staged.rename(path)
        sync_folder(path.parent)

    def retire(self, tenant: str, check: Fill) -> str:
        """Move the file to a new undo folder; the home is held alone."""
        engine = self.engine(tenant)
        try:
            with engine.write() as tx:
                check(tx)
        finally:
            engine.close()
        return restoration.put_aside(self._home, [self._home.database(tenant)])

    def earlier(self) -> list[Earlier]:
        """List the staged files; what was put aside is in the home's undo folders."""
        folders = (("local", self._home.path), *self._home.folders())
        found = ((slug, folder / STAGED) for slug, folder in folders)
        return [
            Earlier(
                path.relative_to(self._home.path).as_posix(),
                slug,
                retired=False,
                at=path.stat().st_mtime_ns // 1_000,
            )
            for slug, path in found
            if path.exists()
        ]

    def discard(self, name: str) -> None:
        """Remove a staged file."""
        path = self._home.path / name
        path.unlink(missing_ok=True)
        sync_folder(path.parent)

    def put(self, name: str, tenant: str, schema: int, fill: Fill) -> Path:
        """Make a file of that name in the tenant's folder, in place of one that has it.

        Raises:
            StoreUnusableError: The rows of *fill* do not fit the schema.
        """
        path = self._home.database(tenant).with_name(name)
        try:
            with self._complete(tenant, migrate.all_migrations()[:schema], fill) as temporary:
                temporary.replace(path)
        except MigrationError:
            raise StoreUnusableError(f"tenant {tenant}", UNFIT) from None
        sync_folder(path.parent)
        return path

    @contextmanager
    def _complete(
        self, tenant: str, migrations: Sequence[Migration], record: Fill
    ) -> Iterator[Path]:
        """Make a database file in the tenant's folder: complete and durable, but for its name.

        Args:
            tenant: Its folder is made where it is missing.
            migrations: Lead to its schema.
            record: Writes the ledger of migrations, and all other rows.
        """
        self._home.make_tenant_folder(tenant)
        temporary = self._home.database(tenant).with_name(f".{DATABASE}.{os.urandom(8).hex()}")
        engine = self.at(temporary)
        engine.create()
        try:
            script = migrate.script_of(migrations)
            engine.script(script, user_version=migrations[-1].number, record=record)
            engine.close()
            yield temporary
        finally:
            engine.close()
            temporary.unlink(missing_ok=True)

    def close(self) -> None:
        """Hold nothing."""

    def _staged(self, tenant: str) -> Path:
        return self._home.database(tenant).with_name(STAGED)


def of(home: Home, vfs: str | None = None, *, alone: bool = False) -> Databases:
    """Return the databases of *home*.

    Args:
        home: Names them.
        vfs: Name of an apsw VFS, for fault tests.
        alone: Whether no other process may use them meanwhile. Files leave that to the locks of
            the home; a database server is asked when it is first used.

    Raises:
        StoreUnusableError: It names a database server and the package for it is not installed.
    """
    if home.server is None:
        return Files(home, vfs)
    try:
        # A package of its own, that a home of files does without.
        from codeflow_memory.storage.schemas import Schemas  # noqa: PLC0415 - see above
    except ImportError:
        # The package, or the library of PostgreSQL's that it needs.
        detail = "PostgreSQL needs the extra: pip install 'codeflow-memory[postgres]'"
        raise StoreUnusableError("the database", detail) from None
    return Schemas(home.server, alone=alone)
