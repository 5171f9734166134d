"""A removal in many transactions that is killed anywhere leaves each entry whole or wholly gone."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from codeflow_memory.domain.access import Access, Origin, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.memory import Collection, Content, Kind, Status
from codeflow_memory.domain.retention import Policy
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    deletion,
    erasure,
    grants,
    memories,
    principals,
    removal,
    retention,
    selections,
)
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories as memory_rows
from codeflow_memory.storage import principals as principal_rows
from codeflow_memory.storage import revisions

from .power.killing import killed
from .power.stores import PROJECT, REPOSITORY, call_of, opened_store, prepare

LONG = os.environ.get("CODEFLOW_LONG") == "1"
STRIDE = 1 if LONG else 7
ENTRIES = 5
SUBJECT = "quimperperson"
NEW = Operation(None, ())
EVERYTHING = (Policy(frozenset(), frozenset(), frozenset(Status), 0, None),)


class Ids:
    """Identifiers that no other attempt makes."""

    def __init__(self, attempt: int) -> None:
        self._attempt, self._count = attempt, 0

    def new(self, prefix: str) -> str:
        """Return the next."""
        self._count += 1
        return f"{prefix}_{self._attempt:013d}{self._count:013d}"


def word(number: int) -> str:
    return f"quimper{number}stone"


def access_of(store: Store, name: str) -> Access:
    with store.engine.read() as tx:
        found = principal_rows.find_by_name(tx, name)
        assert found is not None
        return accesses.of_principal(store, tx, found.principal_id, Origin.USER)


def fill(home: Path) -> list[tuple[int, str]]:
    """Make a home with private entries of one person, each in a selection; return their places."""
    prepare(home)
    with opened_store(home, None, 1) as opened:
        store = replace(opened, ids=Ids(0))
        owner = call_of(store, "").owner
        principals.create(store, owner, NEW, name=SUBJECT, kind="user")
        grants.create(store, owner, NEW, principal=SUBJECT, role=Role.CONTRIBUTOR, repo=None)
        subject = access_of(store, SUBJECT)
        places = []
        for number in range(ENTRIES):
            content = Content(Kind.FACT, f"Title {word(number)}", f"The body of {word(number)}")
            candidate = Candidate(content, Collection.PRIVATE)
            made = memories.create(store, subject, PROJECT, REPOSITORY, candidate, NEW).memory
            request = Request(query=word(number))
            selections.create(store, subject, PROJECT, REPOSITORY, request)
            places.append((made.scope_id, made.memory_id))
    return places


def remove_by_policy(store: Store, owner: Access) -> None:
    plan = retention.preview(store, owner, EVERYTHING)
    retention.apply(store, owner, EVERYTHING, plan.fingerprint, cascade=False)


def erase(store: Store, owner: Access) -> None:
    with store.engine.read() as tx:
        standing = principal_rows.find_by_name(tx, SUBJECT) is not None
    if standing:
        erasure.run(store, owner, SUBJECT)


def run(home: Path, vfs: str | None, work, attempt: int) -> None:
    with (
        mock.patch.object(removal, "STEP_ENTRIES", 2),
        mock.patch.object(erasure, "STEP_ENTRIES", 2),
        mock.patch.object(erasure, "STEP_SELECTIONS", 2),
        opened_store(home, vfs, 10) as opened,
    ):
        store = replace(opened, ids=Ids(attempt))
        work(store, call_of(store, "").owner)


def faults(home: Path, places: list[tuple[int, str]]) -> tuple[int, list[str]]:
    """Count the entries that are gone, and tell what is half of any."""
    found, gone = [], 0
    with opened_store(home, None, 11) as store:
        found += [f"{drift.what} of {drift.where}" for drift in recompute(store, sample=None)[1]]
        with store.engine.read() as tx:
            for number, (scope_id, memory_id) in enumerate(places):
                stored = memory_rows.find(tx, [scope_id], memory_id)
                assert stored is not None
                kept = revisions.find_all(tx, stored.memory.repository_id, memory_id)
                texts = {stored.memory.content is None, *(r.content is None for r in kept)}
                if len(texts) != 1:
                    found.append(f"entry {number} is half gone")
                if stored.memory.content is None:
                    gone += 1
                    found += [f"word {number}"] if word(number) in text_of(home) else []
    return gone, found


def text_of(home: Path) -> str:
    """Return all that stands in the files of *home*."""
    files = sorted(p for p in home.rglob("*") if p.is_file())
    return "\n".join(p.read_bytes().decode("latin-1").lower() for p in files)


@pytest.mark.parametrize("work", [remove_by_policy, erase])
def test_a_kill_leaves_each_entry_whole_or_gone_and_a_rerun_ends_it(place, work):
    places = fill(place / "home")
    seen, kills, alive, wrong = set(), 0, True, []
    while alive:
        home = place / f"killed-{kills}"
        shutil.copytree(place / "home", home)
        step = 1 + kills * STRIDE
        alive = killed(home, step, lambda vfs, home=home: run(home, vfs, work, 1))
        gone, found = faults(home, places)
        seen.add(gone)
        run(home, None, work, 2)
        wrong += [f"step {step}: {fault}" for fault in found]
        after, found = faults(home, places)
        wrong += [f"step {step}, again: {fault}" for fault in found]
        wrong += [] if after == ENTRIES else [f"step {step}: {after} are gone in the end"]
        if work is erase and "quimper" in text_of(home):
            wrong.append(f"step {step}: a word of the subject stays")
        shutil.rmtree(home)
        kills += alive

    print(f"kills, {work.__name__}: {kills}, {len(wrong)} failures")  # noqa: T201 - what it reached
    assert wrong == [], "\n".join(wrong[:20])
    assert seen == {0, 2, 4, 5}
    assert kills >= (60 if LONG else 10)


def test_a_deletion_that_forgets_the_revisions_is_found(place):
    """Control: what stays of an entry must not pass for a whole deletion."""
    home = place / "home"
    places = fill(home)

    with mock.patch.object(deletion.revisions, "erase", return_value=None):
        run(home, None, remove_by_policy, 1)

    gone, found = faults(home, places)
    assert gone == ENTRIES
    assert {"entry 0 is half gone", "word 0"} <= set(found)
