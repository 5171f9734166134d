"""Manifests: kept whole, listed newest first, and stripped of words when an entry goes."""

import random
from dataclasses import replace

import pytest

from codeflow_memory.domain.manifest import Manifest
from codeflow_memory.storage import manifests

MANIFEST = Manifest(
    manifest_id="sel_1",
    repository_id="rep_1",
    project_id="prj_1",
    principal_id="prn_1",
    run_id="run_1",
    created_at=5,
    record='{"entries":[]}',
    free_text='{"query":"walrus"}',
    free_sha256="a" * 64,
    context_sha256="b" * 64,
    manifest_sha256="c" * 64,
)


@pytest.fixture
def filled(tx, scope):
    assert scope.project_id == "prj_1"
    for number in range(1, 5):
        made = replace(
            MANIFEST,
            manifest_id=f"sel_{number}",
            run_id=None if number == 4 else "run_1",
            principal_id="prn_2" if number == 3 else "prn_1",
        )
        manifests.insert(tx, made, {f"mem_{number}", "mem_all"})
    return tx


def test_a_manifest_is_read_back_as_it_was_written(filled):
    assert manifests.find(filled, "rep_1", "prj_1", "sel_1") == MANIFEST
    for where in (("rep_2", "prj_1"), ("rep_1", "prj_2")):
        assert manifests.find(filled, *where, "sel_1") is None


def ids(found):
    return [manifest.manifest_id for manifest in found]


def test_those_of_a_run_and_of_a_principal_come_newest_first_page_by_page(filled):
    where = (filled, "rep_1", "prj_1")

    assert ids(manifests.find_of_run(*where, "run_1", "~", 9)) == ["sel_3", "sel_2", "sel_1"]
    assert ids(manifests.find_of_run(*where, "run_1", "sel_3", 1)) == ["sel_2"]
    assert ids(manifests.find_of_run(*where, "run_2", "~", 9)) == []
    assert ids(manifests.find_of_principal(*where, "prn_1", "~", 9)) == ["sel_4", "sel_2", "sel_1"]
    assert ids(manifests.find_of_principal(filled, "rep_1", "prj_2", "prn_1", "~", 9)) == []


def test_free_text_goes_from_every_manifest_that_lists_the_memory(filled):
    manifests.erase_free_text(filled, "rep_1", "mem_2")
    manifests.erase_free_text(filled, "rep_2", "mem_all")

    left = {
        m.manifest_id: m.free_text
        for n in range(1, 5)
        if (m := manifests.find(filled, "rep_1", "prj_1", f"sel_{n}")) is not None
    }
    assert [name for name, text in left.items() if text is None] == ["sel_2"]

    manifests.erase_free_text(filled, "rep_1", "mem_all")
    erased = manifests.find(filled, "rep_1", "prj_1", "sel_1")
    assert erased == replace(MANIFEST, free_text=None)
    assert filled.value("SELECT COUNT(*) FROM manifest_lists") == 0


def test_a_deletion_finds_its_manifests_on_every_page_and_no_others(tx, scope, monkeypatch):
    assert scope.project_id == "prj_1"
    monkeypatch.setattr(manifests, "_PAGE", 3)
    chance = random.Random(5)  # noqa: S311 - repeatable on purpose
    lists = {f"sel_{n:02}": {f"mem_{chance.randrange(20)}" for _ in range(9)} for n in range(24)}
    for name, listed in lists.items():
        manifests.insert(tx, replace(MANIFEST, manifest_id=name), listed)

    worded = set(lists)
    for memory_id in ("mem_7", "mem_absent", "mem_3", "mem_19"):
        manifests.erase_free_text(tx, "rep_1", memory_id)
        worded -= {name for name, listed in lists.items() if memory_id in listed}
        rows = tx.rows("SELECT manifest_id FROM manifests WHERE free_text IS NOT NULL")
        assert {name for (name,) in rows} == worded
    assert 0 < len(worded) < len(lists)


def test_a_manifest_that_comes_without_free_text_is_stored_so(tx, scope):
    assert scope.project_id == "prj_1"
    bare = replace(MANIFEST, free_text=None)

    manifests.insert(tx, bare, {"mem_1"})
    manifests.erase_free_text(tx, "rep_1", "mem_1")

    assert manifests.find(tx, "rep_1", "prj_1", "sel_1") == bare


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (
            lambda a: manifests.find_of_run(a, "rep_1", "prj_1", "run_1", "~", 1),
            "manifests_of_run",
        ),
        (
            lambda a: manifests.find_of_principal(a, "rep_1", "prj_1", "prn_1", "~", 1),
            "manifests_of_principal",
        ),
        (
            lambda a: manifests.erase_free_text(a, "rep_1", "mem_1"),
            "SEARCH manifest_lists USING PRIMARY KEY (repository_id=? AND manifest_id>?)",
        ),
        (
            lambda a: manifests._erase(a, "rep_1", ["sel_1"]),
            "(repository_id=? AND manifest_id=?)",
        ),
    ],
)
def test_every_statement_goes_by_an_index(asked, plan, goes_by, ask, index):
    ask(asked)

    for statement in asked.statements:
        assert goes_by(statement, index)
        assert "SCAN" not in plan(*statement).replace("SCAN json_each", "")
