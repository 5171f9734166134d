"""Playing cells: each on the stage as it was built, so that no cell knows of another."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.visible import Shelf
from codeflow_memory.storage.home import Home

from . import rules
from .acting import Scene, act, batched, sign_in, word
from .rules import Cell
from .stage import Entry, Script


@dataclass(frozen=True, slots=True)
class Told:
    """What a cell answered, and the refusal where it was one."""

    answer: str
    refusal: CodeflowError | None = None


class Stage:
    """A copy of the home that was built, put back after each change."""

    def __init__(self, script: Script, folder: Path) -> None:
        self.script = script
        shutil.copytree(script.folder, folder)
        self.folder = folder
        self._random = Random(9)  # noqa: S311 - repeatable on purpose
        self.tenants = Tenants(
            Home(folder), now=lambda: script.at, random_bytes=self._random.randbytes
        )
        self._stores: dict[str, Store] = {}
        self._left = self._state()

    def get(self, tenant: str) -> Store:
        """Give a store; it keeps nothing of what was there before the home was put back."""
        if tenant not in self._stores:
            self._stores[tenant] = replace(self.tenants.get(tenant), shelf=Shelf())
        return self._stores[tenant]

    def play(self, cell: Cell, *, in_batch: bool = False) -> Told:
        """Do what *cell* asks and put the stage back."""
        return self.perform(cell, self.script.entry(cell), in_batch=in_batch)

    def perform(self, cell: Cell, entry: Entry, *, in_batch: bool = False) -> Told:
        """Do it to *entry*, which may be none of the stage's."""
        told = self._told(cell, entry, in_batch=in_batch)
        # Whoever was refused, and whoever rehearsed, left every byte as it was.
        if self.put_back() and (told.refusal is not None or in_batch):
            return Told("written", told.refusal)
        return told

    def put_back(self) -> bool:
        """Put the home back as it was built, if anything was written; tell whether it was."""
        if self._state() == self._left:
            return False
        self.restore()
        return True

    def restore(self) -> None:
        """Put the home back as it was built."""
        self.tenants.close()
        self._stores.clear()
        for path in databases(self.script.folder):
            shutil.copy2(path, self.folder / path.relative_to(self.script.folder))
        self._left = self._state()

    def close(self) -> None:
        self.tenants.close()

    def _told(self, cell: Cell, entry: Entry, *, in_batch: bool) -> Told:
        try:
            store, access = sign_in(self, self.script.token(cell))
            status = rules.status(cell)
            places = self.script.places
            scene = Scene(
                store,
                access,
                places["project"],
                places["team"],
                places.get(cell.operation),
                status,
                entry,
            )
            return Told((batched if in_batch else act)(scene, cell))
        except CodeflowError as error:
            return Told(word(error), error)

    def _state(self) -> list[tuple[int, int]]:
        found = [path.stat() for path in databases(self.folder)]
        return [(stat.st_mtime_ns, stat.st_size) for stat in found]


def databases(folder: Path) -> list[Path]:
    """List the databases of a home."""
    return [folder / "memory.sqlite", *sorted(folder.glob("tenants/*/memory.sqlite"))]
