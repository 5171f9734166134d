"""The exact import of an export: the same, or nothing."""

import json
from dataclasses import dataclass
from random import Random

import pytest

from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import (
    ForbiddenError,
    ImportConflictError,
    InvalidRequestError,
)
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Status, canonical_json
from codeflow_memory.services import access as accesses
from codeflow_memory.services import deletion, exact_import, feedback, memories, review
from codeflow_memory.services.exact_import import Result
from codeflow_memory.services.export import Format, export
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import audit, principals
from codeflow_memory.storage.home import Home

NEW = Operation(None, ())


def draft(**fields):
    return parse_candidate(
        {"collection": "project", "kind": "fact", "title": "A title", "body": "Some body."} | fields
    )


@pytest.fixture
def filled(world):
    """A tenant with entries of every status and history."""
    store, owner = world.store, world.owner
    ann, bob = world.person("ann"), world.person("bob", Role.REVIEWER)
    project = world.project()

    def create(access=ann, **fields):
        return memories.create(store, access, project.project_id, None, draft(**fields), NEW).memory

    def decide(memory, action, access=bob):
        decision = Decision(action, comment="Seen.", reason="wrong")
        return review.decide(store, access, memory.memory_id, decision, memory.revision, NEW)

    first = create(title="First", body="Retry.", tags=["http"], paths=["src/a.py"])
    first = memories.revise(store, ann, first.memory_id, {"body": "Retry once."}, 1, NEW).memory
    decide(first, Action.APPROVE)
    feedback.give(store, bob, first.memory_id, Judgement(helpful=True, note="Good."), NEW)
    decide(create(title="Second", derived_from=[pair(first)]), Action.REJECT)
    gone = create(title="Third", body="To be deleted.")
    deletion.delete(store, owner, gone.memory_id, gone.revision, NEW, reason="wrong")
    create(owner, title="Mine", collection="private")
    create(title="Anns own", collection="private")
    run = world.sign_in(world.run(ann, project).text)
    create(run, title="A run's own", collection="private")
    create(title="第四", body="数据库连接池")
    return world


def pair(memory):
    return {"memory_id": memory.memory_id, "revision": memory.revision}


@dataclass
class Other:
    """Another home with a tenant of its own."""

    tenants: Tenants


@pytest.fixture
def other(tmp_path, clock, new_server):
    home = Home(tmp_path / "other", new_server())
    home.make()
    tenants = Tenants(home, now=clock, random_bytes=Random(8).randbytes)  # noqa: S311 - repeatable on purpose
    tenants.create("local")
    yield Other(tenants)
    tenants.close()


def owner_of(tenants):
    store = tenants.get("local")
    with store.engine.read() as tx:
        first = principals.first_owner(tx)
        return accesses.of_principal(store, tx, first.principal_id, Origin.USER)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def text_of(lines):
    return "".join(canonical_json(line) + "\n" for line in lines).encode()


def exported(world):
    return export(world.store, world.owner, Format.JSONL)


def import_into(other, data):
    store = other.tenants.get("local")
    return exact_import.run(store, owner_of(other.tenants), data)


def everything(tenants):
    """Every row that may change, of a store that nothing else writes to."""
    with tenants.get("local").engine.read() as tx:
        return [
            tx.rows("SELECT memory_id, revision, status, content FROM memories ORDER BY 1"),
            tx.rows("SELECT principal_id, name FROM principals ORDER BY 1"),
            tx.rows("SELECT project_id, slug FROM projects ORDER BY 1"),
            tx.value("SELECT audit_count FROM store"),
        ]


def test_only_the_tenants_owner_imports_exactly(filled):
    ann = filled.person("ann")

    with pytest.raises(ForbiddenError):
        exact_import.run(filled.store, ann, exported(filled).encode())


def changed(lines, record, **fields):
    """The lines with fields of the first line of a kind changed; its number."""
    number = next(i for i, line in enumerate(lines) if line["record"] == record)
    return [*lines[:number], lines[number] | fields, *lines[number + 1 :]], number


@pytest.mark.parametrize(
    ("record", "fields", "pointer"),
    [
        ("export", {"format": 2}, "/format"),
        ("memory", {"content_sha256": "0" * 64}, "/content_sha256"),
        ("memory", {"revision": 0}, "/revision"),
        ("memory", {"revision": True}, "/revision"),
        ("memory", {"status": "odd"}, "/status"),
        ("memory", {"status": "deleted"}, "/content"),
        ("memory", {"status": "superseded"}, "/superseded_by"),
        ("memory", {"team_id": "t"}, "/team_id"),
        ("memory", {"revisions": []}, "/revisions"),
        ("memory", {"owner": "prn_nobody"}, "/owner"),
        ("memory", {"project_id": "prj_none"}, "/project_id"),
        ("memory", {"repository_id": "rep_none"}, "/repository_id"),
        ("memory", {"colour": 1}, "/colour"),
        ("memory", {"created_at": "yesterday"}, "/created_at"),
        ("memory", {"created_at": 5}, "/created_at"),
        ("memory", {"created_at": "2026-01-01T00:00:00Z"}, "/created_at"),
        ("memory", {"trust": 10_001}, "/trust"),
        ("project", {"repository_id": "rep_none"}, "/repository_id"),
        ("repository", {"name": "\0"}, "/name"),
        ("principal", {"kind": "agent", "sponsor_id": "prn_none"}, "/sponsor_id"),
    ],
)
def test_a_line_that_is_not_right_leaves_everything_as_it_was(
    filled, other, record, fields, pointer
):
    lines, number = changed(lines_of(exported(filled)), record, **fields)
    before = everything(other.tenants)

    with pytest.raises(InvalidRequestError) as refused:
        import_into(other, text_of(lines))

    assert f"/{number}{pointer}" in {f.pointer for f in refused.value.faults}
    assert everything(other.tenants) == before


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}\n",
        b"[]",
        b"\xff",
        b'{"record":"export","format":1,"tenant":"a","tenant":"b"}',
        b'{"record":"project"}\n' * 300,
    ],
)
def test_what_is_no_export_is_refused_with_at_most_a_hundred_faults(other, data):
    with pytest.raises(InvalidRequestError) as refused:
        import_into(other, data)

    assert 1 <= len(refused.value.faults) <= 100


def test_an_empty_store_then_holds_the_same(filled, other):
    text = exported(filled)

    result = import_into(other, text.encode())

    count = sum(line["record"] == "memory" for line in lines_of(text))
    assert result == Result(filled=1, unchanged=0, memories=count)
    project = {line["id"] for line in lines_of(text) if line.get("collection") == "project"}
    again = export(other.tenants.get("local"), owner_of(other.tenants), Format.JSONL)
    # Of private entries each store's own owner sees others.
    ours = {line["id"]: line for line in lines_of(text) if line.get("id") in project}
    theirs = {line["id"]: line for line in lines_of(again) if line["record"] == "memory"}
    assert theirs == ours
    with other.tenants.get("local").engine.read() as tx:
        assert audit.first_fault(tx, other.tenants.get("local").keys.audit_hash) is None


def test_derived_rows_are_those_of_the_first_store(filled, other):
    import_into(other, exported(filled).encode())
    terms = """
        SELECT t.memory_id, t.term, t.form, t.title_tf, t.tag_tf, t.body_tf
          FROM memory_terms AS t
          JOIN scopes AS s
            ON s.scope_id = t.scope_id
         WHERE s.audience = 'project'
         ORDER BY 1, 2, 3
        """
    edges = """
        SELECT r.memory_id, r.type, e.kind, e.key, r.target_revision
          FROM relationships AS r
          JOIN entities AS e
            ON e.entity_id = r.target
          JOIN scopes AS s
            ON s.scope_id = r.scope_id
         WHERE s.audience = 'project'
         ORDER BY 1, 2, 3, 4, 5
        """
    counters = """
        SELECT live_entries, accepted_entries, canonical_bytes
          FROM scopes
         WHERE audience = 'project'
        """

    with filled.store.engine.read() as a, other.tenants.get("local").engine.read() as b:
        for sql in (terms, edges, counters):
            assert a.rows(sql) == b.rows(sql)
        assert a.rows(terms)


def test_a_project_that_holds_just_this_is_left_alone(filled, other):
    text = exported(filled)
    import_into(other, text.encode())
    own = export(other.tenants.get("local"), owner_of(other.tenants), Format.JSONL)
    before = everything(other.tenants)[:3]

    assert exact_import.run(filled.store, filled.owner, text.encode()).unchanged == 1
    assert import_into(other, own.encode()) == Result(filled=0, unchanged=1, memories=0)
    assert everything(other.tenants)[:3] == before


def test_a_project_that_holds_something_else_is_a_conflict(filled, other):
    text = exported(filled)
    lines = [line for line in lines_of(text) if line.get("status") != "rejected"]
    import_into(other, text_of(lines))
    before = everything(other.tenants)

    with pytest.raises(ImportConflictError):
        import_into(other, text.encode())

    assert everything(other.tenants) == before


def test_a_name_that_another_has_is_told_apart_and_nobody_gets_a_role(filled, other):
    import_into(other, exported(filled).encode())

    with other.tenants.get("local").engine.read() as tx:
        people = dict(tx.rows("SELECT name, principal_id FROM principals"))
        held = tx.rows("SELECT principal_id FROM grants")
    theirs = filled.owner.principal_id
    assert people[f"owner ({theirs})"] == theirs
    assert "owner" in people
    assert held == [(people["owner"],)]


def test_a_deleted_text_comes_along_nowhere(filled, other):
    text = exported(filled)

    import_into(other, text.encode())

    assert "To be deleted" not in text
    stones = [line for line in lines_of(text) if line.get("status") == Status.DELETED]
    assert [stone["content"] for stone in stones] == [None]
