"""What counts toward which limit."""

from itertools import product

import pytest

from codeflow_memory.domain.limits import (
    PROJECT_ENTRIES,
    RUN_ENTRIES,
    SCOPE_BYTES,
    TOMBSTONE_BYTES,
    counted_bytes,
    counts_as_live,
    counts_for_run,
)
from codeflow_memory.domain.memory import Collection, Content, Kind, Memory, Status


def memory(status, kind=Kind.FACT, collection=Collection.PRIVATE, run_id="run_1"):
    deleted = status is Status.DELETED
    return Memory(
        memory_id="mem_1",
        revision=1,
        repository_id="rep_1",
        project_id="prj_1",
        scope_id=1,
        collection=collection,
        owner="prn_1",
        team_id=None,
        run_id=run_id,
        status=status,
        content=None if deleted else Content(kind, "é", "字"),
        content_sha256=None,
        author="prn_1",
        origin="user",
        trust=0,
        created_at=1,
        updated_at=1,
    )


def test_the_limits_are_the_contracts():
    assert (PROJECT_ENTRIES, RUN_ENTRIES, SCOPE_BYTES) == (5_000, 512, 33_554_432)


@pytest.mark.parametrize(("status", "kind"), list(product(Status, Kind)))
def test_all_but_the_deleted_and_traces_are_live(status, kind):
    live = status is not Status.DELETED and kind is not Kind.TRACE

    assert counts_as_live(memory(status, kind)) is live


@pytest.mark.parametrize("collection", list(Collection))
@pytest.mark.parametrize("run_id", [None, "run_1"])
def test_a_run_is_charged_for_its_private_and_team_entries(collection, run_id):
    charged = run_id is not None and collection is not Collection.PROJECT

    assert counts_for_run(memory(Status.ACCEPTED, Kind.FACT, collection, run_id)) is charged
    assert not counts_for_run(memory(Status.DELETED, Kind.FACT, collection, run_id))
    assert not counts_for_run(memory(Status.ACCEPTED, Kind.TRACE, collection, run_id))


def test_bytes_are_those_of_the_canonical_json_in_utf_8():
    entry = memory(Status.REJECTED)

    assert entry.content is not None
    assert counted_bytes(entry) == len(entry.content.canonical().encode("utf-8"))
    assert counted_bytes(memory(Status.DELETED)) == TOMBSTONE_BYTES
    assert counted_bytes(memory(Status.ACCEPTED, Kind.TRACE)) == 0
