"""Sixteen processes write one project: no update is lost and none of them sees a lock error."""

import json
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeflow_memory.domain.errors import CodeflowError, RevisionConflictError
from codeflow_memory.domain.memory import Collection
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import memories
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from .power.consistency import check
from .power.drill import DATABASE
from .power.product import keep_a_note, text
from .power.stores import PROJECT, REPOSITORY, call_of, prepare, step_of
from .power.survey import opened

LONG = os.environ.get("CODEFLOW_LONG") == "1"
PROCESSES = 16
ROUNDS = 100 if LONG else 8
"""In each round a process edits the shared note and keeps one of its own."""


@dataclass(frozen=True, slots=True)
class Writer:
    """What one process did: ``refused`` counts the codes of what it was refused."""

    edited: int
    kept: int
    refused: Counter[str]


def lost_updates(acknowledged: int, revision: int) -> int:
    """Return how many acknowledged edits of a memory that began at revision 1 are not in it."""
    return acknowledged - (revision - 1)


def test_an_update_that_overwrote_another_is_counted():
    """Control: two writers read revision 1, and both are told that they wrote revision 2."""
    assert lost_updates(acknowledged=2, revision=2) == 1
    assert lost_updates(acknowledged=2, revision=3) == 0


def test_sixteen_processes_lose_no_update_and_see_no_lock_error(place):
    home = place / "home"
    home.mkdir()
    prepare(home)
    step_of(1, keep_a_note).run(home, None)

    writers = in_processes(PROCESSES, lambda number: write(home, number))

    refused = sum((writer.refused for writer in writers), Counter())
    print(f"writers: {PROCESSES} processes, {ROUNDS} rounds, refused {dict(refused)}")  # noqa: T201 - counts
    assert set(refused) <= {"revision-conflict"}
    assert sum(writer.kept for writer in writers) == PROCESSES * ROUNDS
    with opened(home / DATABASE) as connection:
        revision = connection.execute("SELECT MAX(revision) FROM memories").get
        entries = connection.execute("SELECT COUNT(*) FROM memories").get
    assert lost_updates(sum(writer.edited for writer in writers), revision) == 0
    assert revision == 1 + PROCESSES * ROUNDS
    assert entries == 1 + PROCESSES * ROUNDS
    check(home)


def write(home: Path, number: int) -> Writer:
    """Be one of the processes."""
    edited = kept = 0
    refused: Counter[str] = Counter()
    with Home(home).shared():
        tenants = Tenants(Home(home), now=lambda: time.time_ns() // 1000)
        store = tenants.get(LOCAL)
        call = call_of(store, f"process {number}")
        shared = call.made("keep_a_note")
        while edited < ROUNDS:
            current = memories.get(store, call.owner, shared).memory.revision
            changes = {"body": f"edit {edited} of process {number}"}
            name = Operation(None, (f"{number}-{edited}",))
            try:
                memories.revise(store, call.owner, shared, changes, current, name)
                edited += 1
            except CodeflowError as error:
                refused[error.code] += 1
                if not isinstance(error, RevisionConflictError):
                    break
                continue
            note = text(f"Note {number} {kept}", collection=Collection.PRIVATE)
            name = Operation(f"note-{number}-{kept}", ("note",))
            memories.create(store, call.owner, PROJECT, REPOSITORY, note, name)
            kept += 1
        tenants.close()
    return Writer(edited, kept, refused)


def in_processes(count: int, work: Callable[[int], Writer]) -> list[Writer]:
    """Run *work* in *count* processes at once and return what each did."""
    started = []
    for number in range(count):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _be_a_child(number, work, writing)
        os.close(writing)
        started.append((child, reading))
    done = []
    for child, reading in started:
        with os.fdopen(reading) as pipe:
            answer = pipe.read()
        _, status = os.waitpid(child, 0)
        assert status == 0, answer
        edited, kept, refused = json.loads(answer)
        done.append(Writer(edited, kept, Counter(refused)))
    return done


def _be_a_child(number: int, work: Callable[[int], Writer], writing: int) -> None:
    status = 1
    try:
        writer = work(number)
        answer = json.dumps([writer.edited, writer.kept, writer.refused])
        status = 0
    # The child must not return into the parent's test run, whatever happened in it.
    except BaseException:  # noqa: BLE001 - the parent fails with what is reported here
        answer = traceback.format_exc()
    finally:
        os.write(writing, answer.encode())
        os._exit(status)
