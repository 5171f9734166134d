"""A home as a backup sees it: which files it has, and the locks that its server respects.

``lock`` is shared by every process that uses the databases, and held alone by a restore. ``server``
is held by the one server of a home.
"""

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeflow_backup.errors import HomeInUseError, MissingError, UnusableError

LOCAL: Final = "local"
"""The tenant whose database lies in the home itself."""

DATABASE: Final = "memory.sqlite"
DOCUMENT: Final = "memory.json"
KEY: Final = "key"
CONFIGURATION: Final = "config.toml"
CHECKPOINTS: Final = "memory.audit"
"""What the server writes beside a database to find out a rolled-back one; no backup holds it."""

MARKER: Final = "restore.json"
STAGING: Final = ".restore-"
UNDO: Final = "undo-"

LOCK, SERVER = "lock", "server"

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_TENANTS = "tenants"
_SIDECARS = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tenant's database is: its name is the path below the home."""

    tenant: str
    name: str

    @property
    def folder(self) -> str:
        """Return the folder below the home, ``""`` for the home itself."""
        return self.name.rpartition("/")[0]


def place_of(tenant: str) -> Place:
    """Return where the database of *tenant* is.

    Raises:
        MissingError: No tenant can be called so.
    """
    if _SLUG.fullmatch(tenant) is None:
        raise MissingError(f"no tenant can be called {tenant!r}")
    return Place(tenant, DATABASE if tenant == LOCAL else f"{_TENANTS}/{tenant}/{DATABASE}")


def tenant_of(name: str) -> str | None:
    """Return the tenant whose database has *name* below its home; ``None`` if none has."""
    if name == DATABASE:
        return LOCAL
    found = re.fullmatch(rf"{_TENANTS}/([^/]+)/{re.escape(DATABASE)}", name)
    if found is None or _SLUG.fullmatch(found[1]) is None or found[1] == LOCAL:
        return None
    return found[1]


class Home:
    """The files of one home.

    Args:
        path: The folder. A path that ends in ``memory.json`` or ``memory.sqlite`` means the folder
            that holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.parent if path.name in {DATABASE, DOCUMENT} else path

    def tenants(self) -> list[str]:
        """List the tenants that have a database, ``local`` first."""
        folders = (path.parent.name for path in self.path.glob(f"{_TENANTS}/*/{DATABASE}"))
        others = sorted(name for name in folders if _SLUG.fullmatch(name) and name != LOCAL)
        return [LOCAL] * os.path.lexists(self.path / DATABASE) + others

    def folders(self) -> list[str]:
        """List the folders that may hold a tenant's files, as paths below the home."""
        found = (path.name for path in self.path.glob(f"{_TENANTS}/*") if path.is_dir())
        return ["", *(f"{_TENANTS}/{name}" for name in sorted(found) if _SLUG.fullmatch(name))]

    def make(self) -> None:
        """Make the folder, mode 0700; one that exists keeps its content.

        Raises:
            UnusableError: It cannot be made, or something else has its name.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UnusableError("the path of the home is not a folder") from None
        except OSError as error:
            raise UnusableError(f"the home cannot be made: {error.strerror}") from None

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Use the databases beside a server.

        Raises:
            MissingError: There is no such home.
            HomeInUseError: An import, a migration or a restore holds it.
        """
        if not self.path.is_dir():
            raise MissingError("there is no home at that path")
        refusal = "an import, migration or restore holds this home; try again when it has ended"
        with self._locked(LOCK, fcntl.LOCK_SH, refusal):
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the home alone, without server.

        Raises:
            HomeInUseError: A server or another process uses it.
        """
        refusal = "this home is in use: stop its server and what else works on it first"
        with ExitStack() as held:
            for name in (LOCK, SERVER):
                held.enter_context(self._locked(name, fcntl.LOCK_EX, refusal))
            yield

    def refuse_sidecars(self, name: str) -> None:
        """Refuse a database beside which files of another journal mode lie.

        SQLite would read the write-ahead log as a part of the database.

        Raises:
            UnusableError: There is one.
        """
        for ending in _SIDECARS:
            if os.path.lexists(self.path / f"{name}{ending}"):
                raise UnusableError(
                    f"{name}{ending} lies beside the database, which never uses one: open the"
                    " database with the program that made that file, or move the file aside"
                )

    def has_journal(self, name: str) -> bool:
        """Tell whether a change of a database is going on, or was interrupted."""
        try:
            journal = (self.path / f"{name}-journal").lstat()
        except FileNotFoundError:
            return False
        return not stat.S_ISREG(journal.st_mode) or journal.st_size > 0

    def is_regular(self, name: str) -> bool:
        """Tell whether the file *name* is one itself; a link to one is not."""
        try:
            return stat.S_ISREG((self.path / name).lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    @contextmanager
    def _locked(self, name: str, how: int, refusal: str) -> Iterator[None]:
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path / name, flags, 0o600)
        try:
            try:
                fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeInUseError(refusal) from None
            yield
        finally:
            os.close(descriptor)
