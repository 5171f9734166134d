"""Revisions: one immutable row each, from which a deletion takes the text alone."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.memory import Pair, Status
from codeflow_memory.storage import revisions
from codeflow_memory.storage.revisions import Step


def add(tx, memory, revision, reason=None, **changes):
    changed = replace(memory, revision=revision, updated_at=10 * revision, **changes)
    revisions.insert(tx, changed, Step("revise", "prn_1", f"op_{revision}", reason))
    return changed


def test_revisions_are_listed_oldest_first_as_they_were(tx, keep):
    memory = keep("mem_1")
    add(tx, memory, 3, status=Status.ACCEPTED)
    add(tx, memory, 2)

    listed = revisions.find_all(tx, "rep_1", "mem_1")

    assert [r.revision for r in listed] == [1, 2, 3]
    assert [r.action for r in listed] == ["create", "revise", "revise"]
    assert listed[2].status is Status.ACCEPTED
    assert listed[0].content == memory.content
    assert revisions.find_all(tx, "rep_2", "mem_1") == []


def test_a_revision_is_written_once(tx, keep, constraint_error):
    memory = keep("mem_1")

    with pytest.raises(constraint_error), tx.attempt():
        add(tx, memory, 1)


def test_exact_pairs_are_found_and_no_others(tx, keep):
    for memory_id in ("mem_1", "mem_2"):
        add(tx, keep(memory_id), 2)

    found = revisions.find_pairs(
        tx, "rep_1", [Pair("mem_1", 2), Pair("mem_2", 1), Pair("mem_2", 9)]
    )

    assert [(r.memory_id, r.revision) for r in found] == [("mem_1", 2), ("mem_2", 1)]
    assert revisions.find(tx, "rep_1", "mem_1", 3) is None
    assert revisions.find(tx, "rep_2", "mem_1", 1) is None


def test_an_erasure_leaves_codes_and_dates_and_no_word(tx, keep):
    memory, other = keep("mem_1", valid_to=77), keep("mem_2")
    add(tx, memory, 2, reason="because of the walrus")
    add(tx, memory, 3, reason="wrong")

    revisions.erase(tx, "rep_1", "mem_1", {"wrong"})

    kept = revisions.find_all(tx, "rep_1", "mem_1")
    assert [(r.content, r.content_sha256, r.reason) for r in kept] == [
        (None, None, None),
        (None, None, None),
        (None, None, "wrong"),
    ]
    assert tx.value("SELECT COUNT(*) FROM memory_revisions WHERE valid_to IS NOT NULL") == 0
    (untouched,) = revisions.find_all(tx, "rep_1", "mem_2")
    assert untouched.content == other.content


def test_only_the_very_content_that_served_counts_as_accepted(tx, keep):
    memory = keep("mem_1")
    assert memory.content_sha256 is not None
    assert not revisions.was_accepted(tx, "rep_1", "mem_1", memory.content_sha256)

    add(tx, memory, 2, status=Status.ACCEPTED)
    add(tx, memory, 3, status=Status.OUTDATED, content_sha256="0" * 64)

    assert revisions.was_accepted(tx, "rep_1", "mem_1", memory.content_sha256)
    assert not revisions.was_accepted(tx, "rep_1", "mem_1", "0" * 64)
    assert not revisions.was_accepted(tx, "rep_2", "mem_1", memory.content_sha256)


def test_every_statement_goes_by_the_key(asked, goes_by):
    revisions.find_all(asked, "rep_1", "mem_1")
    revisions.find_pairs(asked, "rep_1", [Pair("mem_1", 1)])
    revisions.was_accepted(asked, "rep_1", "mem_1", "0")
    revisions.erase(asked, "rep_1", "mem_1", {"wrong"})

    assert all(goes_by(s, "(repository_id=? AND memory_id=?") for s in asked.statements)
