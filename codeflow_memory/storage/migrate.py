"""Bring a database to the newest schema, or say why it cannot be used."""

import hashlib
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import apsw

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import copies
from codeflow_memory.storage.engine import APPLICATION_ID, Engine, Transaction


def migration_files() -> list[Traversable]:
    """List the numbered ``.sql`` files, oldest first."""
    packaged = resources.files("codeflow_memory") / "_migrations"
    checkout = Path(__file__).parents[2] / "migrations"
    root = packaged if packaged.is_dir() else checkout
    return sorted((f for f in root.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)


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
    if version > newest_version():
        raise StoreUnusableError(
            name, f"its schema {version} is newer than {newest_version()}; update this program"
        )
    if check:
        fault = engine.quick_check()
        if fault is not None:
            raise StoreUnusableError(
                name, "it is damaged; restore the newest backup, or move it aside to keep it"
            )


def migrate(engine: Engine) -> list[str]:
    """Apply the migrations that are missing, all in one transaction: a failure leaves none of them.

    Returns:
        The names of the files that were applied, oldest first.

    Raises:
        StoreUnusableError: A file that was applied earlier has been edited since.
    """
    _, version = engine.versions()
    missing = []
    for number, file in enumerate(migration_files(), start=1):
        text = file.read_text("utf-8")
        if number <= version:
            _compare(engine, number, text)
        else:
            missing.append((number, file.name, text))
    if missing:
        engine.script(
            "\n".join(text for _, _, text in missing),
            user_version=missing[-1][0],
            record=partial(_record, missing),
        )
    return [name for _, name, _ in missing]


def upgrade(engine: Engine) -> list[str]:
    """Bring an existing database to the newest schema; as it was, it is kept in a copy.

    The home is held alone. Whatever fails, the database is as it was.

    Returns:
        The names of the files that were applied, oldest first.

    Raises:
        StorageFullError: There is no room for the copy.
        StoreUnusableError: The copy or a migration failed.
    """
    _, version = engine.versions()
    if version < newest_version():
        copies.make(engine, version)
    try:
        return migrate(engine)
    except apsw.Error as error:
        detail = (
            f"it cannot be brought from schema {version} to {newest_version()}, and is as it was"
        )
        raise StoreUnusableError(engine.name, f"{detail}: {error}") from error


def _record(applied: list[tuple[int, str, str]], tx: Transaction) -> None:
    """Note in the ledger, which the first migration finds missing, which files were applied."""
    tx.execute(
        """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            version   INTEGER NOT NULL PRIMARY KEY,
            name      TEXT    NOT NULL,
            sha256    TEXT    NOT NULL CHECK (length(sha256) = 64)
        ) STRICT
        """
    )
    tx.executemany(
        """
        INSERT INTO schema_migrations (version, name, sha256)
        VALUES (:version, :name, :sha256)
        """,
        [
            {"version": number, "name": name, "sha256": _digest(text)}
            for number, name, text in applied
        ],
    )


def _compare(engine: Engine, number: int, text: str) -> None:
    with engine.read() as tx:
        stored = tx.value(
            "SELECT sha256 FROM schema_migrations WHERE version = :version", {"version": number}
        )
    if stored != _digest(text):
        raise StoreUnusableError(
            engine.name, f"migration {number} was edited after it was applied; reinstall"
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
