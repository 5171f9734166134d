"""Playing cells: each on the stage as it was built, so that no cell knows of another."""

from dataclasses import dataclass, replace
from random import Random

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.uses import Uses
from codeflow_memory.services.visible import Shelf

from ..grounds import Ground
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

    def __init__(self, script: Script, ground: Ground) -> None:
        self.script = script
        self.home = ground.copy(script.home, "home")
        self._random = Random(9)  # noqa: S311 - repeatable on purpose
        self.tenants = Tenants(
            self.home, now=lambda: script.at, random_bytes=self._random.randbytes
        )
        self._stores: dict[str, Store] = {}
        self._kept = ground.keep(self.tenants, script.home)

    def get(self, tenant: str) -> Store:
        """Give a store; it keeps nothing of what was there before the home was put back."""
        if tenant not in self._stores:
            self._stores[tenant] = replace(self.tenants.get(tenant), shelf=Shelf(), uses=Uses())
        return self._stores[tenant]

    def ask(self) -> None:
        self.tenants.ask()

    def play(self, cell: Cell, *, in_batch: bool = False) -> Told:
        """Do what *cell* asks and put the stage back."""
        return self.perform(cell, self.script.entry(cell), in_batch=in_batch)

    def perform(self, cell: Cell, entry: Entry, *, in_batch: bool = False) -> Told:
        """Do it to *entry*, which may be none of the stage's."""
        told = self._told(cell, entry, in_batch=in_batch)
        # Whoever was refused, and whoever rehearsed, left everything as it was.
        if self.put_back() and (told.refusal is not None or in_batch):
            return Told("written", told.refusal)
        return told

    def put_back(self) -> bool:
        """Put the home back as it was built, if anything was written; tell whether it was."""
        if not self.written():
            return False
        self._stores.clear()
        self._kept.put_back()
        return True

    def written(self) -> set[str]:
        """Name the tenants whose databases were written to since the home was put back."""
        return self._kept.written()

    def close(self) -> None:
        self._kept.close()
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
