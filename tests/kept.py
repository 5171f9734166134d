"""States of a home, kept to be laid down again: its files, and the database of its server."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from codeflow_memory.storage.home import DATABASE, Home

from .postgresql import Cluster


class Kept:
    """States by name; whoever keeps or lays one down has closed the home's databases before.

    Args:
        folder: Where the files are kept.
        cluster: Has the home's database; ``None`` where the files are all.
    """

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self._folder = folder
        self._cluster = cluster
        self._databases: dict[str, str] = {}

    def keep(self, home: Home, name: str) -> None:
        """Keep the home as it is, in the place of what was kept under *name*."""
        shutil.copytree(home.path, self._folder / name, dirs_exist_ok=True)
        if self._cluster is not None:
            kept = self._databases.setdefault(name, f"kept_{id(self)}_{len(self._databases)}")
            self._cluster.put_back(_database(home), kept)

    def lay(self, name: str, home: Home) -> None:
        """Let the home be as it was, nothing else in it."""
        shutil.rmtree(home.path, ignore_errors=True)
        shutil.copytree(self._folder / name, home.path)
        self.put_back(name, home)

    def put_back(self, name: str, home: Home) -> None:
        """Let the home's database be as it was, and its other files as they are."""
        if self._cluster is None:
            shutil.copy(self.file(name, DATABASE), home.path / DATABASE)
        else:
            self._cluster.put_back(self._databases[name], _database(home))

    def file(self, name: str, file: str) -> Path:
        """Return the path of a file as it was kept."""
        return self._folder / name / file

    def drop(self) -> None:
        """Let go of what a server keeps."""
        if self._cluster is not None:
            for database in self._databases.values():
                self._cluster.drop(database)


def _database(home: Home) -> str:
    return urlsplit(home.server or "").path.removeprefix("/")
