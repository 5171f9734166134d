"""Bring a database to the newest schema, or say why it cannot be used."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage.engine import APPLICATION_ID, Engine, MigrationError, Transaction


def migration_files() -> list[Traversable]:
    """List the numbered ``.sql`` files, oldest first."""
    packaged = resources.files("codeflow_memory") / "_migrations"
    checkout = Path(__file__).parents[2] / "migrations"
    root = packaged if packaged.is_dir() else checkout
    return sorted((f for f in root.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file: 1 is the baseline."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        """The digest by which an edit is noticed, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def all_migrations() -> list[Migration]:
    """Read the files, oldest first."""
    return [
        Migration(number, file.name, file.read_text("utf-8"))
        for number, file in enumerate(migration_files(), start=1)
    ]


def newest_version() -> int:
    """Return the ``user_version`` that this program writes."""
    return len(migration_files())


def version(tx: Transaction) -> int:
    """Return the number of the last migration that was applied."""
    return int(tx.value("SELECT MAX(version) FROM schema_migrations"))


def prepare(engine: Engine, *, check: bool) -> None:
    """Refuse a database that is not ours, is newer, or is damaged; write nothing to it.

    Args:
        engine: The database.
        check: Also run ``quick_check``: a process that serves does so when it first opens a file.

    Raises:
        StoreUnusableError: With the file's name and what to do.
    """
    name = engine.name
    application, version = engine.header()
    if engine.has_journal() and (application != APPLICATION_ID or version > newest_version()):
        # A power loss can tear the first page; SQLite puts it back when it opens the file.
        application, version = engine.versions()
    if application != APPLICATION_ID:
        raise StoreUnusableError(name, "it belongs to another application; move it aside")
    refuse_newer(name, version)
    if check:
        fault = engine.quick_check()
        if fault is not None:
            raise StoreUnusableError(
                name, "it is damaged; restore the newest backup, or move it aside to keep it"
            )


def refuse_newer(name: str, version: int) -> None:
    """Refuse schema *version* of the database *name* when a newer program made it.

    Raises:
        StoreUnusableError: It did.
    """
    if version > newest_version():
        raise StoreUnusableError(
            name, f"its schema {version} is newer than {newest_version()}; update this program"
        )


def migrate(engine: Engine, then: Callable[[Transaction], object] | None = None) -> list[str]:
    """Apply the migrations that are missing, all in one transaction: a failure leaves none of them.

    Args:
        engine: The database; empty, or of an older schema.
        then: Writes the first rows of a new one, in the same transaction.

    Returns:
        The names of the files that were applied, oldest first.

    Raises:
        StoreUnusableError: A file that was applied earlier has been edited since.
    """
    _, version = engine.versions()
    for migration in all_migrations()[:version]:
        _compare(engine, migration)
    missing = all_migrations()[version:]
    if missing:
        engine.script(
            script_of(missing), user_version=missing[-1].number, record=recorder(missing, then)
        )
    return [migration.name for migration in missing]


def upgrade(engine: Engine, keep: Callable[[int], object]) -> list[str]:
    """Bring an existing database to the newest schema; as it was, it is kept in a copy.

    The home is held alone. Whatever fails, the database is as it was.

    Args:
        engine: The database.
        keep: Makes the copy; is told the number of the schema.

    Returns:
        The names of the files that were applied, oldest first.

    Raises:
        StorageFullError: There is no room for the copy.
        StoreUnusableError: The copy or a migration failed.
    """
    _, version = engine.versions()
    if version < newest_version():
        keep(version)
    try:
        return migrate(engine)
    except MigrationError as error:
        detail = (
            f"it cannot be brought from schema {version} to {newest_version()}, and is as it was"
        )
        raise StoreUnusableError(engine.name, f"{detail}: {error}") from error


_LEDGER = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            version   INTEGER NOT NULL PRIMARY KEY,
            name      TEXT    NOT NULL,
            sha256    TEXT    NOT NULL CHECK (length(sha256) = 64)
        ) STRICT
        ;
"""
"""Which files were applied; the first migration finds it missing.

A backup knows a schema by the very text of its tables: that of this one, from its first release on,
ends in the blanks before the semicolon.
"""


def script_of(migrations: Iterable[Migration]) -> str:
    """Return all their statements, and the ledger's."""
    return "\n".join((*(migration.text for migration in migrations), _LEDGER))


def recorder(
    migrations: Iterable[Migration], then: Callable[[Transaction], object] | None = None
) -> Callable[[Transaction], None]:
    """Return what notes in the ledger that *migrations* were applied, and then does *then*."""

    def record(tx: Transaction) -> None:
        tx.executemany(
            """
            INSERT INTO schema_migrations (version, name, sha256)
            VALUES (:version, :name, :sha256)
            """,
            [{"version": m.number, "name": m.name, "sha256": m.sha256} for m in migrations],
        )
        if then is not None:
            then(tx)

    return record


def _compare(engine: Engine, migration: Migration) -> None:
    with engine.read() as tx:
        stored = tx.value(
            "SELECT sha256 FROM schema_migrations WHERE version = :version",
            {"version": migration.number},
        )
    if stored != migration.sha256:
        raise StoreUnusableError(
            engine.name, f"migration {migration.number} was edited after it was applied; reinstall"
        )
