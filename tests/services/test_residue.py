"""Residue: after deletions, edits, an erasure and retention no word of what went is on disk.

Files are searched as they are; of a server the rows, which are what a dump has.

Every text has a word of its own; all of them begin alike, so that one search finds any of them.
"""

import base64
import json
import os
import re
import unicodedata

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.retention import Policy
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import erasure, feedback, memories, retention
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import sqlite

from .. import remains
from ..remains import IN_DATABASE

NEW = Operation(None, ())
LONG = os.environ.get("CODEFLOW_LONG") == "1"
ENTRIES = 1_000 if LONG else 500
"""Each is edited and deleted: so many edits and so many deletions."""

STEM = "jüngquimper"
OTHERS = "kalmarstone"
"""What the words of texts that stay begin with."""


def forms(stem):
    """Match the bytes that *stem* could stand as: spelled and encoded in any of these ways."""
    apart = unicodedata.normalize("NFD", stem)
    plain = apart.encode("ascii", "ignore").decode()
    spelled = {stem, stem.upper(), apart, apart.upper(), plain}
    texts = {encoded for text in spelled for encoded in _encoded(text)}
    return re.compile(b"|".join(map(re.escape, sorted(texts))), re.IGNORECASE)


def _encoded(text):
    escaped = json.dumps(text)[1:-1]
    yield from (text.encode(name) for name in ("utf-8", "utf-16-le", "utf-16-be"))
    yield from (escaped.encode(), json.dumps(escaped)[1:-1].encode(), text.encode().hex().encode())
    for before in range(3):
        # Of each alignment the middle, which what stands around it does not change.
        yield base64.b64encode(b"-" * before + text.encode())[4:-4]


def holding(world, stem):
    """Name what of the home holds *stem* in any form, with what stands there."""
    wanted = forms(stem)
    places = remains.of_home(world.tenants)
    return {name: hit[0] for name, data in places if (hit := wanted.search(data))}


@pytest.mark.parametrize(
    "write",
    [
        lambda stem: stem.encode(),
        lambda stem: stem.upper().encode("utf-16-le"),
        lambda stem: stem.encode("utf-16-be"),
        lambda stem: unicodedata.normalize("NFD", stem).encode(),
        lambda _: b"JungQuimper",
        lambda stem: json.dumps([stem]).encode(),
        lambda stem: json.dumps(json.dumps(stem)).encode(),
        lambda stem: stem.encode().hex().encode(),
        lambda stem: base64.b64encode(b"before" + stem.encode() + b"behind"),
        lambda stem: base64.b64encode(b"beside " + stem.encode() + b" behind"),
        lambda stem: base64.b64encode(b"b" + stem.encode() + b"behind"),
    ],
)
def test_the_search_finds_each_form_in_any_file(world, write):
    path = world.tenants.home.path / "tenants" / "deep" / "file"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\0\1" + write(STEM) + b"\2")

    assert list(holding(world, STEM)) == ["file"]
    assert holding(world, OTHERS) == {}


def write(world, caller, project, number, stem=STEM, **more):
    """Write an entry with a word of its own in every field."""
    word = f"{stem}{number}a"
    raw = {
        "collection": "private" if number % 2 else "project",
        "kind": "guidance",
        "title": f"Über {word} title",
        "body": f"The body of {word} and {word}.",
        "tags": [word],
        "paths": [f"src/{word}/**"],
        "branches": [word],
        "sources": [f"file:src/{word}.py", f"session:{word}"],
        "key": word,
    } | more
    made = memories.create(world.store, caller, project.project_id, None, parse_candidate(raw), NEW)
    return made.memory


def live(world, cast, project, caller, number):
    """Edit an entry, and say and choose things about it that hold words of their own."""
    memory = write(world, caller, project, number)
    if memory.status is Status.PROPOSED:
        memory = world.decide(cast.bob, memory, "approve", comment=f"{STEM}{number}c")
    if number % 10 == 0:
        judgement = Judgement(helpful=True, note=f"{STEM}{number}n")
        feedback.give(world.store, caller, memory.memory_id, judgement, NEW)
        world.select(caller, project, query=f"{STEM}{number}a {STEM}{number}q")
    return world.revise(
        caller,
        memory,
        body=f"Another body, {STEM}{number}e.",
        tags=[f"{STEM}{number}t"],
        sources=[],
    )


def test_a_thousand_deletions_and_edits_leave_no_word(world, cast, project):
    kept = [write(world, cast.ann, project, n, OTHERS) for n in range(4)]
    entries = [live(world, cast, project, cast.ann, n) for n in range(ENTRIES)]
    assert list(holding(world, STEM)) == [IN_DATABASE]

    for memory in entries:
        world.delete(cast.ann, memory, reason=f"about {STEM}")

    with world.store.engine.read() as tx:
        done = dict(
            tx.rows(
                "SELECT action, COUNT(*)"
                "  FROM audit"
                " WHERE action IN ('revise', 'delete')"
                " GROUP BY action"
            )
        )
    assert sorted(done.values()) == [ENTRIES, ENTRIES]
    assert sum(done.values()) >= 1_000
    assert holding(world, STEM) == {}
    world.store.engine.close()
    assert holding(world, STEM) == {}
    assert list(holding(world, OTHERS)) == [IN_DATABASE]
    assert [world.get(cast.ann, memory).memory for memory in kept] == kept


@pytest.mark.files
def test_a_database_that_does_not_blank_what_it_frees_is_found(world, cast, project, monkeypatch):
    """Control: the same deletions, but what SQLite frees stays as it is."""
    world.store.engine.close()
    plain = sqlite._PRAGMAS.replace("secure_delete = ON", "secure_delete = OFF")
    monkeypatch.setattr(sqlite, "_PRAGMAS", plain)
    entries = [live(world, cast, project, cast.ann, n) for n in range(40)]

    for memory in entries:
        world.delete(cast.ann, memory)

    assert list(holding(world, STEM)) == [IN_DATABASE]


def test_retention_leaves_no_word_of_what_it_removes(world, cast, project):
    entries = [live(world, cast, project, cast.ann, n) for n in range(120)]
    world.clock.at += 30 * DAY
    policy = (Policy(frozenset(), frozenset(), frozenset(Status), 30, None),)
    plan = retention.preview(world.store, world.owner, policy)

    done = retention.apply(world.store, world.owner, policy, plan.fingerprint, cascade=False)

    assert len(done.removed) == len(entries)
    assert holding(world, STEM) == {}


def test_an_erasure_leaves_no_word_of_what_was_ones_own(world, cast, project):
    name = f"{STEM} person"
    subject = world.person(name, Role.REVIEWER)
    shared = write(world, subject, project, 2, OTHERS)
    for number in range(1, 60, 2):
        live(world, cast, project, subject, number)
    world.select(subject, project, query=f"{STEM} query", paths=(f"src/{STEM}.py",), branch=STEM)
    world.run(subject, project, branch=f"feature/{STEM}")
    assert list(holding(world, STEM)) == [IN_DATABASE]

    erasure.run(world.store, world.owner, name)

    assert holding(world, STEM) == {}
    assert world.get(cast.max, shared).memory.content == shared.content
