"""Backups and restores of real homes, with a key file that costs nothing to derive."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeflow_backup import creating, restoring
from codeflow_backup import home as homes
from codeflow_backup.creating import Created
from codeflow_backup.keys import KeyFile
from codeflow_backup.progress import unwatched
from codeflow_backup.restoring import Outcome

from codeflow_memory.domain.access import Role
from codeflow_memory.services import erasure, holds, restoration
from codeflow_memory.services.holds import Target
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ...conftest import NEW
from ...faults.power.survey import content_of, opened

SECRET = KeyFile(bytes(range(32)))
OTHER_SECRET = KeyFile(bytes(32))
NEEDLE = "Quarztaube"
"""A word that stands in a memory of every filled home."""


@dataclass(frozen=True)
class Place:
    """A home and what is done with it."""

    home: Path
    clock: Callable[[], int]

    def back_up(self, target: Path, tenant: str | None = None) -> Created:
        return creating.create(homes.Home(self.home), target, [SECRET], unwatched, tenant)

    def restore(self, backup: Path, *secrets: KeyFile, replace: bool = False) -> Outcome:
        return restoring.restore(
            backup, homes.Home(self.home), secrets or (SECRET,), unwatched, replace=replace
        )

    def rows(self, tenant: str = "local"):
        """Every row of every table, by table."""
        with opened(self.home / homes.place_of(tenant).name) as connection:
            assert connection.pragma("integrity_check") == "ok"
            return content_of(connection)

    def settle(self) -> bool:
        """Do what a first start does."""
        return restoration.settle(
            Home(self.home), lambda: Tenants(Home(self.home), now=self.clock, migrating=True)
        )

    @contextmanager
    def started(self) -> Iterator[Tenants]:
        """Use the home as a server does."""
        self.settle()
        home = Home(self.home)
        with home.shared():
            tenants = Tenants(home, now=self.clock)
            try:
                yield tenants
            finally:
                tenants.close()

    def copy(self, folder: Path) -> "Place":
        """Copy the home as its files stand."""
        shutil.copytree(self.home, folder, symlinks=True)
        return Place(folder, self.clock)

    def files(self) -> dict[str, bytes]:
        """Every file below the home but the locks, which have no content that counts."""
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and path.name not in {"lock", "server"}
        }


def empty_an_index(path: Path) -> None:
    """Take every row out of one index, as no statement can; whatever reads the table sees all."""
    with opened(path) as connection:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'projects_by_slug'"
        ((page,),) = connection.execute(sql).fetchall()
        size = connection.pragma("page_size")
    raw = bytearray(path.read_bytes())
    assert raw[(page - 1) * size] == 10, "a leaf of an index"
    raw[(page - 1) * size + 3 : (page - 1) * size + 5] = bytes(2)
    path.write_bytes(raw)


def fill(world) -> None:
    """Write something into each table that a store of some age has rows in."""
    project = world.project()
    ann, bob = world.person("ann"), world.person("bob", Role.REVIEWER)
    world.team("core", ann, bob)
    needle = f"Look for {NEEDLE} in the hay"
    held = world.accept(ann, bob, project, title="The needle", body=needle)
    kept = world.write(ann, project, collection="private", tags=["note"], paths=["src/**"]).memory
    world.revise(ann, kept, body="what it says now", sources=["file:src/app.py"])
    world.delete(ann, world.propose(ann, project))
    world.propose(ann, project, branches=["main"])
    world.select(ann, project, query=NEEDLE)
    world.run(ann, project)
    gone = world.person("gone")
    world.write(gone, project, collection="private", body="what nobody is to know")
    world.accept(gone, bob, project)
    erasure.run(world.store, world.owner, "gone")
    holds.add(world.store, world.owner, Target(held.memory_id), "a dispute", NEW)
