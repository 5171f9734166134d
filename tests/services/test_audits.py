"""The audit as callers read it: what is hidden leaves no trace, pages lose nothing."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError
from codeflow_memory.services import audits


@pytest.fixture
def read(world):
    """Read the audit as a caller does, page by page."""

    def all_of(access, size=100, **wanted):
        filters = {"batch": None, "item": None, "principal": None} | wanted
        found, after = [], None
        while True:
            page = audits.find(world.store, access, **filters, after=after, limit=size)
            assert len(page.items) <= size
            found += page.items
            after = page.after
            if after is None:
                return found

    return all_of


def steps(rows):
    return [(row.action, row.item, row.to_revision) for row in rows]


def test_another_principals_entries_and_the_tenant_itself_are_not_shown(world, cast, project, read):
    hidden = world.write(cast.abe, project, collection="private").memory
    secret = world.propose(cast.abe, project, sensitivity="secret")

    for access in (cast.ann, cast.bob, cast.max, world.owner):
        assert {hidden.memory_id, secret.memory_id}.isdisjoint(row.item for row in read(access))
    assert {hidden.memory_id, secret.memory_id} <= {row.item for row in read(cast.abe)}
    assert all(row.scope_id is not None for row in read(cast.max))
    assert "token.create" in {row.action for row in read(world.owner)}


def test_a_reader_reads_nothing_of_drafts(world, cast, project, read):
    world.accept(cast.ann, cast.bob, project)

    assert read(cast.reader) == []


def test_hidden_rows_change_nothing_that_a_caller_is_told(world, cast, project, read):
    memory = world.propose(cast.ann, project)
    before = read(cast.ann, size=1)
    for _ in range(5):
        world.write(cast.abe, project, collection="private")

    assert read(cast.ann, size=1) == before
    assert steps(before) == [("create", memory.memory_id, 1)]


def test_the_story_of_an_entry_is_told_newest_first(world, cast, project, read):
    memory = world.accept(cast.ann, cast.bob, project)
    world.decide(cast.bob, memory, "outdate")

    told = [s for s in steps(read(cast.ann)) if s[1] == memory.memory_id]

    assert told == [
        ("outdate", memory.memory_id, 3),
        ("approve", memory.memory_id, 2),
        ("approve-given", memory.memory_id, 1),
        ("create", memory.memory_id, 1),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_lose_and_repeat_nothing(world, cast, project, read, size):
    """Many rows of one time, which are on both sides of a page's end, then of others."""
    for number in range(4):
        world.accept(cast.ann, cast.bob, project)
        world.clock.at += number

    rows = read(cast.max, size=size)

    assert rows == read(cast.max, size=100)
    assert len(rows) == 12
    assert [row.at for row in rows] == sorted((row.at for row in rows), reverse=True)


def test_a_list_is_narrowed_to_a_batch_an_item_and_a_principal(world, cast, project, read):
    memory = world.accept(cast.ann, cast.bob, project)
    world.accept(cast.abe, cast.bob, project)
    last = read(cast.bob, item=memory.memory_id)[0]

    assert {row.item for row in read(cast.bob, item=memory.memory_id)} == {memory.memory_id}
    assert steps(read(cast.bob, batch=last.batch_id)) == [
        ("approve", memory.memory_id, 2),
        ("approve-given", memory.memory_id, 1),
    ]
    of_ann = read(cast.bob, principal=cast.ann.principal_id)
    assert steps(of_ann) == [("create", memory.memory_id, 1)]


def test_what_a_deletion_leaves_is_told_to_who_could_read_it(world, cast, project, read):
    memory = world.write(cast.ann, project, collection="private").memory
    world.delete(cast.ann, memory, reason="wrong")

    assert read(cast.ann)[0].action == "delete"
    assert read(cast.abe) == []


def test_who_does_not_maintain_the_tenant_does_not_verify_it(world, cast, project):
    narrow = world.person("mia", Role.MAINTAINER, repo=project.repository_id)

    for access in (cast.reader, cast.ann, cast.bob, narrow):
        with pytest.raises(ForbiddenError):
            audits.verify(world.store, access)
    assert audits.verify(world.store, cast.max).sound
