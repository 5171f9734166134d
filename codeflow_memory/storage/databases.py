"""Databases: where a home's tenants are, as files in it or as schemas of one PostgreSQL database.

The one place that decides which engine runs.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import migrate
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import Home, sync_folder
from codeflow_memory.storage.sqlite import SQLiteEngine


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
    """The tenants' databases of one home; may be shared by threads."""

    @abstractmethod
    def reach(self) -> None:
        """Make sure that there can be databases, before anything of a home is made.

        Raises:
            InvalidRequestError: The address is none.
            UnreachableError: No connection comes about; the sentence says why.
            StoreUnusableError: What answers there cannot hold them.
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
    def create(self, tenant: str, fill: Callable[[Transaction], None]) -> None:
        """Make a database of the newest schema with the rows of *fill*: whole, or not at all.

        Raises:
            FileExistsError: The tenant has one; of two makers one wins.
        """

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
        self._home = home
        self._vfs = vfs

    def reach(self) -> None:
        """Find nothing in the way: a file is made where it is missing."""

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
        return SQLiteEngine(self._home.database(tenant), vfs=self._vfs)

    def at(self, path: Path) -> Engine:
        """Return the engine of another file of the home, whose name no tenant's has."""
        return SQLiteEngine(path, vfs=self._vfs)

    def create(self, tenant: str, fill: Callable[[Transaction], None]) -> None:
        """Make the file beside its place, and link it into it when it is complete.

        Of a crash at any point nothing remains but a file that no tenant has.
        """
        path = self._home.database(tenant)
        if path.exists():
            raise FileExistsError
        self._home.make_tenant_folder(tenant)
        temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
        engine = SQLiteEngine(temporary, vfs=self._vfs)
        engine.create()
        try:
            migrate.migrate(engine, fill)
            engine.close()
            # Linked, not renamed: a rename would put the file over one that came meanwhile.
            path.hardlink_to(temporary)
        finally:
            engine.close()
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)

    def close(self) -> None:
        """Hold nothing."""


def of(home: Home, vfs: str | None = None) -> Databases:
    """Return the databases of *home*.

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
    return Schemas(home.server)
