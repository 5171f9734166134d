"""Relations: what a memory's fields record, and nothing guessed."""

from dataclasses import replace

from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Kind,
    Memory,
    Pair,
    Status,
    Verification,
)
from codeflow_memory.domain.provenance import Relation, relations

COMMIT, OTHER = "c" * 40, "d" * 40


def memory(content, **facts):
    return Memory(
        memory_id="mem_1",
        revision=1,
        repository_id="rep_1",
        project_id="prj_1",
        scope_id=1,
        collection=Collection.PROJECT,
        owner="prn_1",
        team_id=None,
        run_id=facts.pop("run_id", None),
        status=Status.ACCEPTED,
        content=content,
        content_sha256=None,
        author="prn_1",
        origin="user",
        trust=0,
        created_at=1,
        updated_at=1,
        **facts,
    )


def test_every_row_of_the_table_has_its_relation():
    content = Content(
        Kind.FACT,
        f"run run_9 at {OTHER}",
        "import src/guess.py; see mem_9",
        paths=("src/**",),
        branches=("main", f"commit:{COMMIT}"),
        sources=(
            "run:run_2",
            f"commit:{COMMIT}",
            "file:a.py",
            f"required:file:a.py@{COMMIT}#L1-L2",
            "session:s",
            "message:m",
            "url:https://docs.example/",
        ),
        derived_from=(Pair("mem_2", 3), Pair("mem_2", 4)),
    )
    checked = Verification(OTHER, 1, "prn_1", "valid")

    assert relations(memory(content, run_id="run_1", verification=checked)) == [
        Relation("applies_to", "branch", "main"),
        Relation("applies_to", "commit", COMMIT),
        Relation("applies_to", "file", "src/**"),
        Relation("cites", "file", "a.py"),
        Relation("derived_from", "memory", "mem_2", 3),
        Relation("derived_from", "memory", "mem_2", 4),
        Relation("learned_from", "commit", COMMIT),
        Relation("learned_from", "run", "run_1"),
        Relation("learned_from", "run", "run_2"),
        Relation("verified_at", "commit", OTHER),
    ]


def test_a_relation_is_recorded_once():
    content = Content(Kind.FACT, "t", "b", paths=("a", "a"), sources=("run:run_1", "run:run_1"))

    assert relations(memory(content, run_id="run_1")) == [
        Relation("applies_to", "file", "a"),
        Relation("learned_from", "run", "run_1"),
    ]


def test_a_tombstone_supplies_nothing():
    stone = replace(memory(Content(Kind.FACT, "t", "b")), content=None, status=Status.DELETED)

    assert relations(stone) == []
