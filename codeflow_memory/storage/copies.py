"""Copies: a database as it was before a migration, kept until the next start that succeeds.

A copy is a file of the home, whichever engine the database has. Nobody else can read it, and it has
its name only once it is whole, durable and proven to hold the same. It can hold what was deleted
since.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.storage import copier
from codeflow_memory.storage.databases import Files
from codeflow_memory.storage.engine import Engine
from codeflow_memory.storage.home import Home, sync_folder

_NAME = re.compile(r"memory\.schema-[0-9]{1,9}\.sqlite")


def make(files: Files, tenant: str, engine: Engine, version: int) -> Path:
    """Copy a database of schema *version* into the tenant's folder, and return where to.

    The home is held alone. A copy of the same schema is replaced: the database may have changed
    since a start that ended before its migration.

    Raises:
        StorageFullError: There is no room for it.
        StoreUnusableError: The copy does not hold what the database does.
    """
    name = f"memory.schema-{version}.sqlite"
    return files.put(name, tenant, version, lambda tx: copier.copy(engine, tx))


def kept(home: Home) -> dict[str, list[Path]]:
    """List the copies in a home, by tenant; ``local`` first."""
    folders = ((LOCAL, home.path), *home.folders())
    found = {
        slug: sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
        for slug, folder in folders
    }
    return {slug: paths for slug, paths in found.items() if paths}


def remove(paths: Iterable[Path]) -> None:
    """Remove copies that are needed no more."""
    for path in paths:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
