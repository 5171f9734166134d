"""Bring a database to the newest schema, or say why it cannot be used."""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage.engine import APPLICATION_ID, Engine


def migration_files() -> list[Traversable]:
    """List the numbered ``.sql`` files, oldest first."""
    packaged = resources.files("codeflow_memory") / "_migrations"
    checkout = Path(__file__).parents[2] / "migrations"
    root = packaged if packaged.is_dir() else checkout
    return sorted((f for f in root.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)


def newest_version() -> int:
    """Return the ``user_version`` that this program writes."""
    return len(migration_files())


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
    """Apply the migrations that are missing, each in one transaction of its own.

    Returns:
        The names of the files that were applied, oldest first.

    Raises:
        StoreUnusableError: A file that was applied earlier has been edited since.
    """
    _, version = engine.versions()
    applied = []
    for number, file in enumerate(migration_files(), start=1):
        text = file.read_text("utf-8")
        if number <= version:
            _compare(engine, number, text)
            continue
        engine.script(_with_record(number, file.name, text), user_version=number)
        applied.append(file.name)
    return applied


_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version   INTEGER NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL,
    sha256    TEXT    NOT NULL CHECK (length(sha256) = 64)
) STRICT;
"""


def _with_record(number: int, name: str, text: str) -> str:
    # The name and hash come from our own package; a script takes no parameters.
    return (
        f"{_LEDGER}{text}\nINSERT INTO schema_migrations (version, name, sha256) "
        f"VALUES ({number:d}, '{name}', '{_digest(text)}');\n"
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
