"""Memories: the current row of each entry, found scope first."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.errors import RevisionConflictError
from codeflow_memory.domain.limits import TOMBSTONE_BYTES
from codeflow_memory.domain.memory import (
    Kind,
    Pair,
    Sensitivity,
    Status,
    Tombstone,
    Verification,
)
from codeflow_memory.storage import citations, keys, lights, memories, revisions, trust
from codeflow_memory.storage.revisions import Step

ABSENT = 99


def write(tx, memory, base, **more):
    memories.replace(tx, memory, editor="prn_2", text_hash="other", base_revision=base, **more)


def test_a_memory_is_read_back_as_it_was_written(tx, keep, scope):
    memory = keep(
        "mem_1",
        Status.ACCEPTED,
        tags=("é", "b"),
        paths=("src/**",),
        branches=("main",),
        sources=("file:a.py", "run:run_1"),
        derived_from=(Pair("mem_0", 1),),
        key="key",
        valid_from=5,
        valid_to=99,
    )

    stored = memories.find(tx, [scope.scope_id], "mem_1")

    assert stored is not None
    assert (stored.memory, stored.editor, stored.text_hash, stored.before) == (
        memory,
        "prn_1",
        "hash",
        None,
    )
    (light,) = lights.in_statuses(tx, [scope.scope_id], [Status.ACCEPTED])
    assert (light.tags, light.paths, light.branches, light.cited, light.valid_to) == (
        ("é", "b"),
        ("src/**",),
        ("main",),
        ("a.py",),
        99,
    )
    assert lights.titles(tx, [scope.scope_id], ["mem_1"]) == {"mem_1": "Title"}


def test_every_fact_of_a_memory_follows_a_replacement(tx, keep, scope):
    memory = keep("mem_1")
    assert memory.content is not None
    content = replace(memory.content, kind=Kind.SKILL, sensitivity=Sensitivity.SENSITIVE)
    changed = replace(
        memory,
        revision=2,
        status=Status.SUPERSEDED,
        content=content,
        content_sha256=content.sha256(),
        origin="agent",
        trust=1,
        supersedes=Pair("mem_0", 3),
        superseded_by="mem_2",
        review_reason="because",
        conflicts_with=("mem_3",),
        self_approved=True,
        updated_at=20,
        verification=Verification("c" * 40, 5, "prn_1", "valid"),
    )
    citations.put_verification(tx, changed)

    write(tx, changed, base=1)

    stored = memories.find(tx, [scope.scope_id], "mem_1")
    assert stored is not None
    assert (stored.memory, stored.editor, stored.text_hash) == (changed, "prn_2", "other")


@pytest.mark.parametrize("base", [0, 2, 9])
def test_a_replacement_of_another_revision_changes_nothing(tx, keep, scope, base):
    memory = keep("mem_1")

    with pytest.raises(RevisionConflictError) as refused:
        write(tx, replace(memory, revision=base + 1, trust=1), base)

    assert (refused.value.expected, refused.value.current) == (base, 1)
    stored = memories.find(tx, [scope.scope_id], "mem_1")
    assert stored is not None
    assert stored.memory == memory


def test_a_memory_of_another_repository_is_not_replaced(tx, keep):
    memory = keep("mem_1")

    with pytest.raises(RevisionConflictError) as refused:
        write(tx, replace(memory, repository_id="rep_2", revision=2), base=1)

    assert refused.value.current == 0


def test_a_hidden_id_is_found_like_an_absent_one(tx, keep):
    keep("mem_1", Status.ACCEPTED)

    for scope_ids in ([], [ABSENT]):
        assert memories.find(tx, scope_ids, "mem_1") is None
        assert memories.find_all(tx, scope_ids, ["mem_1"]) == []
        assert memories.with_text(tx, scope_ids, "hash") == []
        assert lights.in_statuses(tx, scope_ids, list(Status)) == []
        assert lights.find_all(tx, scope_ids, ["mem_1"]) == []
        assert lights.texts(tx, scope_ids, ["mem_1"]) == {}
        assert lights.wholes(tx, scope_ids, ["mem_1"]) == []
        assert lights.titles(tx, scope_ids, ["mem_1"]) == {}


def test_what_a_context_shows_of_an_entry_is_what_is_stored_of_it(tx, keep, scope):
    memory = keep("mem_1", Status.ACCEPTED, tags=("sea",), sources=("file:a.py",))
    memories.set_review_reason(tx, "rep_1", "mem_1", "stale")

    assert lights.wholes(tx, [scope.scope_id, ABSENT], ["mem_0", "mem_1"]) == [
        lights.Whole(
            "mem_1", 1, memory.collection, memory.trust, "stale", memory.content_sha256,
            memory.content,
        )
    ]  # fmt: skip


def test_a_tombstone_keeps_who_when_why_and_how_it_stood(tx, keep, scope):
    memory = keep("mem_1", sensitivity=Sensitivity.SECRET)
    stone = replace(
        memory,
        revision=2,
        status=Status.DELETED,
        content=None,
        content_sha256=None,
        updated_at=30,
        tombstone=Tombstone("prn_1", 30, "wrong", Sensitivity.SECRET),
    )
    write(tx, stone, base=1)
    revisions.insert(tx, stone, Step("delete", "prn_1", "op_2", "wrong"))

    stored = memories.find(tx, [scope.scope_id], "mem_1")

    assert stored is not None
    assert (stored.memory, stored.before) == (stone, Status.PROPOSED)
    assert stored.canonical_bytes == TOMBSTONE_BYTES
    assert lights.texts(tx, [scope.scope_id], ["mem_1"]) == {}
    assert lights.wholes(tx, [scope.scope_id], ["mem_1"]) == []
    assert lights.titles(tx, [scope.scope_id], ["mem_1"]) == {}
    (light,) = lights.in_statuses(tx, [scope.scope_id], [Status.DELETED])
    assert (light.sensitivity, light.tags, light.characters) == ("secret", (), 0)


def test_lists_come_newest_change_first_then_by_id(tx, keep, scope):
    for memory_id, at in (("mem_b", 5), ("mem_a", 5), ("mem_c", 9)):
        memory = keep(memory_id)
        write(tx, replace(memory, revision=2, updated_at=at), base=1)

    rows = lights.in_statuses(tx, [scope.scope_id], [Status.PROPOSED])

    assert [row.memory_id for row in rows] == ["mem_c", "mem_a", "mem_b"]


def test_trust_and_review_reason_are_no_revision(tx, keep, scope):
    keep("mem_1")

    trust.put(tx, "rep_1", "mem_1", 9, 7)
    memories.set_review_reason(tx, "rep_1", "mem_1", "citation:changed")
    trust.put(tx, "rep_2", "mem_1", 8, 8)

    stored = memories.find(tx, [scope.scope_id], "mem_1")
    assert stored is not None
    assert (stored.memory.revision, stored.memory.trust, stored.memory.standing) == (1, 7, 9)
    assert stored.memory.review_reason == "citation:changed"


def test_what_has_expired_is_listed_oldest_first(tx, keep, scope):
    for memory_id, valid_to in (("mem_1", 50), ("mem_2", 40), ("mem_3", 51), ("mem_4", None)):
        keep(memory_id, Status.ACCEPTED, valid_to=valid_to)
    keep("mem_5", Status.PROPOSED, valid_to=1)

    assert memories.expired(tx, "rep_1", 50, 10) == [
        (scope.scope_id, "mem_2"),
        (scope.scope_id, "mem_1"),
    ]
    assert len(memories.expired(tx, "rep_1", 50, 1)) == 1
    assert memories.expired(tx, "rep_2", 50, 10) == []


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda a: memories.find_all(a, [1], ["mem_1"]), "memories_in_scope"),
        (lambda a: lights.find_all(a, [1], ["mem_1"]), "memories_in_scope"),
        (lambda a: lights.texts(a, [1], ["mem_1"]), "memories_in_scope"),
        (lambda a: lights.wholes(a, [1], ["mem_1"]), "memories_in_scope"),
        (lambda a: lights.titles(a, [1], ["mem_1"]), "memories_in_scope"),
        (lambda a: memories.with_text(a, [1], "hash"), "memories_with_text"),
        (lambda a: lights.in_statuses(a, [1], [Status.ACCEPTED]), "memories_listed"),
        (lambda a: memories.expired(a, "rep_1", 1, 1), "memories_expiring"),
        (lambda a: trust.put(a, "rep_1", "mem_1", 1, 1), "(repository_id=? AND memory_id=?)"),
        (lambda a: trust.temporal(a, "rep_1", "", 1), "memories_temporal"),
        (lambda a: trust.steps(a, [1], "", 1), "memories_in_scope"),
        (lambda a: keys.with_key(a, 1, "0" * 64, Status.ACCEPTED), "memories_with_key"),
        (
            lambda a: keys.set_conflicts(a, "rep_1", "mem_1", [], 1),
            "(repository_id=? AND memory_id=?)",
        ),
    ],
)
def test_every_statement_goes_by_an_index(asked, plan, goes_by, ask, index):
    ask(asked)

    assert goes_by(asked.statements[0], index)
    assert "SCAN m" not in plan(*asked.statements[0])
