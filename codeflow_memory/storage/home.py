"""A home: the folder that holds the tenants' databases, the home key and the locks.

One server owns a home (lock file ``server``); every process that uses its databases shares the lock
file ``lock``, which importing, migrating and restoring take exclusively.
"""

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError, StoreUnusableError
from codeflow_memory.domain.tenant import LOCAL, is_slug

DATABASE = "memory.sqlite"
LEGACY_DOCUMENT = "memory.json"
LOCK = "lock"
PLACE = "place"
_SERVERS = ("postgresql://", "postgres://")
"""How the address of a database begins that is no file of a home."""

BALLAST = "ballast"
BALLAST_BYTES = 2 * 1024 * 1024

_HALF_MADE = (
    f".{DATABASE}.*",
    ".key.*",
    f".{PLACE}.*",
    ".ballast.*",
    ".token.*",
    ".operations.json.*",
)

_KEY_BYTES = 32
_PLACE_BYTES = 16
_NO_FOLDER = "its path is not a folder"
_NO_KEY = (
    "there is none, and databases are; restore it from a backup of this home. If it is lost, put"
    " 32 random bytes there: every token ends then"
)
_NO_SHARED_KEY = (
    "there is none, and the database has tenants; copy the file `key` of the home that made them."
    " If it is lost, put 32 random bytes there and run `codeflow-memory tenant rekey`"
)


class Home:
    """The files of one home.

    Args:
        path: The folder. A path that ends in ``memory.json`` or ``memory.sqlite`` means the
            folder that holds it.
        server: URL of the PostgreSQL database that has the tenants; ``None``: files of the folder.
    """

    def __init__(self, path: Path, server: str | None = None) -> None:
        if path.name in {LEGACY_DOCUMENT, DATABASE}:
            path = path.parent
        self.path = path
        self.server = server

    def make(self) -> None:
        """Make the folder, mode 0700; one that exists keeps its content.

        Raises:
            StoreUnusableError: The path is no folder, or it cannot be made.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.stat().st_uid == os.getuid():
                self.path.chmod(0o700)
        except (FileExistsError, NotADirectoryError):
            raise StoreUnusableError("the home", _NO_FOLDER) from None
        except OSError as error:
            raise StoreUnusableError("the home", f"it cannot be made: {error.strerror}") from None

    def check(self) -> None:
        """Make sure that the folder is there or could be, and make nothing.

        Raises:
            StoreUnusableError: Something else stands in its way.
        """
        above = next(p for p in (self.path, *self.path.parents) if os.path.lexists(p))
        if not above.is_dir():
            raise StoreUnusableError("the home", _NO_FOLDER)

    def has_lock(self) -> bool:
        """Tell whether the folder has the file that each process locks which uses its databases."""
        return os.path.lexists(self.path / LOCK)

    def key(self, tenants: Callable[[], Collection[str]] | None = None) -> bytes:
        """Return the home key: the credential ``codeflow-key``, else the file.

        A home without databases gets a new one.

        Args:
            tenants: Lists those that have a database, wherever that is; else those of the folder.

        Raises:
            StoreUnusableError: The key is missing beside databases, cannot be read or does not have
                32 bytes.
        """
        credentials = os.environ.get("CREDENTIALS_DIRECTORY")
        if credentials and (credential := Path(credentials) / "codeflow-key").is_file():
            return _read_key(credential)
        path = self.path / "key"
        if not path.exists():
            # Looked for again: of two first starts the other may have made key and database since.
            if (tenants or self.tenants)() and not path.exists():
                raise StoreUnusableError("key", _NO_KEY if self.server is None else _NO_SHARED_KEY)
            self._make_once(path, os.urandom(_KEY_BYTES))
        if not is_regular(path):
            raise StoreUnusableError("key", "the home key is not a regular file")
        return _read_key(path)

    def place(self) -> str | None:
        """Return what tells this home from others with its databases; ``None`` where none has.

        32 hexadecimal digits, made once. A second home has a copy of this one's key and no more: a
        copy of all of it would be taken for it.
        """
        if self.server is None:
            return None
        path = self.path / PLACE
        if not path.exists():
            self._make_once(path, os.urandom(_PLACE_BYTES).hex().encode())
        return path.read_text("ascii")

    def tenants(self) -> list[str]:
        """List the tenants that have a database, ``local`` first."""
        folders = (p.parent.name for p in self.path.glob(f"tenants/*/{DATABASE}"))
        # A folder that no tenant can be called is somebody else's, and no reason not to serve.
        others = sorted(name for name in folders if is_slug(name))
        return [LOCAL] * (self.path / DATABASE).exists() + others

    def database(self, tenant: str) -> Path:
        """Return the path of *tenant*'s database, which need not exist.

        Raises:
            InvalidRequestError: *tenant* is not a slug.
        """
        check_slug(tenant)
        if tenant == LOCAL:
            return self.path / DATABASE
        return self.path / "tenants" / tenant / DATABASE

    def folders(self) -> list[tuple[str, Path]]:
        """List the folders of tenants, with or without a database, but for that of ``local``."""
        found = sorted(self.path.glob("tenants/*"))
        return [(path.name, path) for path in found if is_slug(path.name) and path.is_dir()]

    def make_tenant_folder(self, tenant: str) -> None:
        """Make the folder of *tenant*'s database, mode 0700."""
        folder = self.database(tenant).parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for made in (folder, folder.parent):
            if made != self.path and self.path in made.parents:
                made.chmod(0o700)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Own the home as its one server.

        Raises:
            StoreUnusableError: Another server owns it.
        """
        with self._locked("server", fcntl.LOCK_EX, "another server owns this home; stop it first"):
            yield

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Use the home's databases.

        Raises:
            StoreUnusableError: An import, a migration or a restore holds the home.
        """
        with self._locked(LOCK, fcntl.LOCK_SH, "an import, migration or restore holds this home"):
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the home alone: for importing, migrating and restoring.

        Raises:
            StoreUnusableError: Some process uses the home's databases.
        """
        with self._locked(LOCK, fcntl.LOCK_EX, "this home is in use; stop its server first"):
            yield

    def sweep(self) -> None:
        """Take away what makers that were killed left behind; the home is held alone."""
        # What a restore decrypted that was cut off before its marker stood, or a backup wrote down.
        for left in (*self.path.glob(".restore-*"), *self.path.glob(".backup-*")):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()
        for folder in (self.path, *self.path.glob("tenants/*")):
            for pattern in _HALF_MADE:
                for left in folder.glob(pattern):
                    left.unlink(missing_ok=True)

    def fill_ballast(self) -> None:
        """Set room aside that a full disk's deletions and revocations can have; best effort."""
        path = self.path / BALLAST
        if path.exists() and not self.is_ballast_spent():
            return
        temporary = self.path / f".ballast.{os.getpid()}"
        try:
            write_private(temporary, bytes(BALLAST_BYTES))
            temporary.rename(path)
        except OSError:
            temporary.unlink(missing_ok=True)

    def release_ballast(self) -> bool:
        """Give the room back; tell whether there was any.

        The empty file stays and says so: until it is filled again, the room is not for anything
        else, `is_ballast_spent`.
        """
        path = self.path / BALLAST
        try:
            if path.stat().st_size == 0:
                return False
            os.truncate(path, 0)
        except FileNotFoundError:
            return False
        return True

    def is_ballast_spent(self) -> bool:
        """Tell whether the room was given back and not set aside again."""
        try:
            return (self.path / BALLAST).stat().st_size == 0
        except FileNotFoundError:
            return False

    def _make_once(self, path: Path, data: bytes) -> None:
        temporary = self.path / f".{path.name}.{os.urandom(8).hex()}"
        write_private(temporary, data)
        try:
            # Linked, not renamed: of two first starts one wins, and both use what it made.
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink()
        sync_folder(self.path)

    @contextmanager
    def _locked(self, name: str, how: int, refusal: str) -> Iterator[None]:
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path / name, flags, 0o600)
        try:
            os.fchmod(handle, 0o600)
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreUnusableError("the home", refusal) from None
            yield
        finally:
            os.close(handle)


def find_server(text: str) -> str | None:
    """Return *text* as the address of a database server; ``None`` when it is none.

    Its scheme may be in any case, as in every URL (RFC 3986 §3.1), and comes back in lower case:
    PostgreSQL's library knows no other.
    """
    scheme, separator, rest = text.partition("://")
    address = scheme.lower() + separator + rest
    return address if address.startswith(_SERVERS) else None


def check_slug(tenant: str) -> str:
    """Return *tenant* when it is a tenant slug.

    Raises:
        InvalidRequestError: It is not ``[a-z0-9][a-z0-9-]{0,62}``.
    """
    if not is_slug(tenant):
        raise InvalidRequestError.at(
            "/tenant", "a tenant is a-z, 0-9 and '-', at most 63 characters, no leading '-'"
        )
    return tenant


def require_tenant(home: Home, tenant: str) -> Path:
    """Return the path of an existing tenant's database.

    Raises:
        NotFoundError: There is no such tenant.
    """
    path = home.database(tenant)
    if not path.exists():
        raise NotFoundError("tenant", tenant)
    return path


def write_private(path: Path, data: bytes) -> None:
    """Write a new file, mode 0600 whatever the umask, and sync it.

    Raises:
        FileExistsError: Something stands under that name.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o600)
    try:
        os.fchmod(handle, 0o600)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Make renames and new names in *path* durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_regular(path: Path) -> bool:
    """Tell whether *path* itself is a regular file; a link to one is not."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _read_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except OSError as error:
        raise StoreUnusableError("key", f"it cannot be read: {error.strerror}") from None
    if len(key) != _KEY_BYTES:
        raise StoreUnusableError("key", f"the home key has {len(key)} bytes, not {_KEY_BYTES}")
    return key
