"""Whatever a store holds comes back: random stores, backed up, restored and started."""

import os
import shutil
from random import Random

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.services import checkpoints, feedback, recomputation
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.storage import fingerprint

from ...conftest import NEW, World
from ...faults.power.survey import opened
from .acting import Place
from .test_faults import BY_A_START

LONG = os.environ.get("CODEFLOW_LONG") == "1"
STORES = 500 if LONG else 200
STEPS = 12

WORDS = ("Straße", "記憶", "naïve", "x" * 64, "src/app.py", "İ", "🕊", "null", "'; --")


class Author:
    """Does random things in one tenant, through the services."""

    def __init__(self, world: World, chance: Random) -> None:
        self._world = world
        self._chance = chance
        self._project = world.project(f"project-{chance.randrange(10**9)}")
        self._ann = world.person("ann")
        self._bob = world.person("bob", Role.REVIEWER)
        self._made = []

    def act(self) -> None:
        """Do one thing."""
        getattr(self, self._chance.choice(_ACTS))()

    def text(self) -> str:
        return " ".join(self._chance.choices(WORDS, k=self._chance.randrange(1, 30)))

    def write(self) -> None:
        self._made.append(
            self._world.write(
                self._ann,
                self._project,
                collection=self._chance.choice(["private", "project"]),
                title=f"{self._chance.random()} {self._chance.choice(WORDS)}",
                body=f"{self.text()} {self._chance.random()}",
                tags=self._chance.sample(["one", "two", "three"], self._chance.randrange(3)),
                paths=self._chance.sample(["src/**", "docs/*.md"], self._chance.randrange(3)),
                sources=self._chance.sample(["file:src/a.py", "commit:" + "a" * 40], 1),
            ).memory
        )

    def _taken(self):
        if not self._made:
            self.write()
        return self._made.pop(self._chance.randrange(len(self._made)))

    def accept(self) -> None:
        memory = self._taken()
        if memory.status == "proposed":
            self._made.append(self._world.decide(self._bob, memory, "approve"))

    def reject(self) -> None:
        memory = self._taken()
        if memory.status == "proposed":
            self._world.decide(self._bob, memory, "reject", reason="wrong")

    def delete(self) -> None:
        memory = self._taken()
        private = memory.collection == "private"
        self._world.delete(self._ann if private else self._world.owner, memory)

    def select(self) -> None:
        self._world.select(self._ann, self._project, query=self.text())

    def run(self) -> None:
        self._world.run(self._ann, self._project)

    def judge(self) -> None:
        memory = self._taken()
        if memory.status == "accepted":
            judgement = Judgement(helpful=self._chance.random() < 0.5, note=self.text())
            feedback.give(self._world.store, self._ann, memory.memory_id, judgement, NEW)
        self._made.append(memory)


_ACTS = ("write", "write", "accept", "accept", "reject", "delete", "select", "run", "judge")


def made(filled, folder, seed) -> Place:
    """Make a random store: some of its tenants, and what was done in them."""
    chance = Random(seed)  # noqa: S311 - reproducible stores
    place = Place(filled, lambda: 1_800_000_000_000_000 + seed).copy(folder)
    with place.started() as tenants:
        for tenant in chance.choice((["local"], ["birch"], ["local", "birch"])):
            author = Author(World(tenants, place.clock, tenant), chance)
            for _ in range(chance.randrange(STEPS)):
                author.act()
    return place


def fingerprints(place: Place) -> dict[str, str]:
    """What the server computes, by tenant."""
    with place.started() as tenants:
        found = {}
        for tenant in tenants.slugs():
            with tenants.get(tenant).engine.read() as tx:
                found[tenant] = fingerprint.of_database(tx)
        return found


LEFT_OUT = {"operations.json", "memory.audit", "tenants/birch/memory.audit"}
"""Files that no backup holds."""


def differences(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Name the files that did not come back byte for byte, and those that came from nowhere."""
    wanted = {name: content for name, content in before.items() if name not in LEFT_OUT}
    found = {name: content for name, content in after.items() if name != "restore.json"}
    return {name for name in wanted | found if wanted.get(name) != found.get(name)}


@pytest.mark.slow
def test_random_stores_come_back_to_the_last_byte(filled, memory):
    for seed in range(STORES):
        place = made(filled, memory / "home", seed)
        again = Place(memory / "again", place.clock)
        said = place.back_up(memory / "b.cfmb")
        before = place.files()

        again.restore(memory / "b.cfmb")

        assert {
            file.database.tenant: file.database.fingerprint
            for file in said.manifest.files
            if file.database
        } == fingerprints(place), seed
        assert differences(before, again.files()) == set(), seed
        if seed % 10 == 0:
            check_started(place, again)
        for path in (place.home, again.home):
            shutil.rmtree(path)
        (memory / "b.cfmb").unlink()


def check_started(place: Place, again: Place) -> None:
    """Start the restored home: only the audit goes on, and everything derived fits its source."""
    again.settle()
    for tenant in ("local", "birch"):
        was, now = place.rows(tenant), again.rows(tenant)
        assert {table for table in was if was[table] != now[table]} <= BY_A_START
        assert set(was["audit"]) < set(now["audit"])
    with again.started() as tenants:
        for tenant in tenants.slugs():
            assert recomputation.recompute(tenants.get(tenant), sample=None)[1] == []
            assert checkpoints.verify(tenants.get(tenant)).sound


KINDS = {
    *("memories", "memory_revisions", "memory_terms", "memory_term_lists", "entities"),
    *("relationships", "receipts", "audit", "manifests", "approvals", "legal_holds", "erasures"),
}
"""Tables that each store has rows in."""


def test_the_random_stores_are_not_all_alike_and_have_rows_of_every_kind(filled, memory):
    """Control: what is compared above differs from store to store, and is not nothing."""
    seen = set()
    for seed in range(4):
        place = made(filled, memory / str(seed), seed)
        seen.add(tuple(sorted(fingerprints(place).items())))
        assert {table for table, rows in place.rows().items() if rows} >= KINDS

    assert len(seen) == 4


def test_a_single_row_that_did_not_come_back_is_found(filled, memory):
    """Control."""
    place = made(filled, memory / "home", 1)
    again = place.copy(memory / "again")
    assert differences(place.files(), again.files()) == set()
    with opened(again.home / "memory.sqlite") as connection:
        connection.execute(
            "UPDATE receipts SET at = at + 1 WHERE at = (SELECT MAX(at) FROM receipts)"
        )

    assert differences(place.files(), again.files()) == {"memory.sqlite"}
