"""Listing: pages, filters and counts, of what the caller may see alone."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.services import listing
from codeflow_memory.services.listing import Filter


def find(world, caller, project, after=None, limit=100, **wanted):
    return listing.find(
        world.store, caller, project.project_id, None, Filter(**wanted), after, limit
    )


def ids(page):
    return [view.memory.memory_id for view in page.items]


def test_a_project_out_of_reach_is_like_one_that_is_not_there(world, project):
    elsewhere = world.repository().repository.repository_id
    for caller in (world.person("eve", repo=elsewhere), world.person("ops", Role.OPERATOR)):
        with pytest.raises(NotFoundError):
            find(world, caller, project)


@pytest.mark.parametrize("status", [Status.PROPOSED, Status.REJECTED])
def test_a_reader_lists_and_counts_no_proposed_or_rejected_entry(world, cast, project, status):
    memory = world.propose(cast.ann, project, tags=["held"])
    if status is Status.REJECTED:
        world.decide(cast.bob, memory, "reject")

    page = find(world, cast.reader, project, status=status)

    assert page.items == ()
    assert page.facets == {"status": {}, "kind": {}, "collection": {}, "tag": {}}
    assert ids(find(world, cast.abe, project, status=status)) == [memory.memory_id]


@pytest.mark.parametrize("kind", ["private", "secret", "team"])
def test_what_is_hidden_is_neither_listed_nor_counted(world, cast, project, kind):
    fields = {"collection": "private"} if kind == "private" else {"sensitivity": "secret"}
    author = cast.abe
    if kind == "team":
        fields = {"collection": "team", "team_id": world.team("red", cast.abe)}
        author = world.again(cast.abe)
    memory = world.propose(author, project, tags=["hidden"], **fields)

    for caller in (cast.ann, cast.bob, cast.max, cast.reader):
        for status in Status:
            page = find(world, caller, project, status=status)
            assert (page.items, page.facets["tag"]) == ((), {})
    assert ids(find(world, author, project, status=memory.status)) == [memory.memory_id]


def test_tombstones_are_listed_to_those_who_could_read_the_memory(world, cast, project):
    proposed = world.delete(cast.ann, world.propose(cast.ann, project))
    secret = world.delete(cast.ann, world.propose(cast.ann, project, sensitivity="secret"))
    accepted = world.delete(cast.max, world.accept(cast.ann, cast.bob, project))

    seen = {
        name: ids(find(world, getattr(cast, name), project, status=Status.DELETED))
        for name in ("reader", "abe", "ann")
    }

    assert seen == {
        "reader": [accepted.memory_id],
        "abe": sorted([proposed.memory_id, accepted.memory_id]),
        "ann": sorted([proposed.memory_id, secret.memory_id, accepted.memory_id]),
    }
    page = find(world, cast.ann, project, status=Status.DELETED)
    assert page.facets["kind"] == {}
    assert {view.memory.content for view in page.items} == {None}


def test_a_sponsor_lists_what_its_agent_has_held_and_nothing_else(world, project):
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)
    private = {"collection": "private"}
    held = world.propose(run, project, sensitivity="sensitive", **private)
    world.propose(run, project, **private)
    world.propose(run, project, sensitivity="secret", **private)
    world.decide(run, world.propose(run, project, **private), "outdate")

    found = {str(s): ids(find(world, world.owner, project, status=s)) for s in Status}

    assert {k: v for k, v in found.items() if v} == {"proposed": [held.memory_id]}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"kind": Kind.DECISION}, {"a"}),
        ({"collection": Collection.PRIVATE}, {"c"}),
        ({"tag": "ÜBER"}, {"a"}),
        ({"path": "src/auth/x.py"}, {"a"}),
        ({"path": "src/auth"}, {"a"}),
        ({"text": "walrus"}, {"a", "b"}),
        ({"text": "walrus sleeps"}, {"a"}),
        ({"text": "WALR"}, {"a", "b"}),
        ({}, {"a", "b", "c"}),
    ],
)
def test_filters_narrow_the_list_and_its_counts(world, cast, project, wanted, expected):
    made = {
        "a": world.accept(
            cast.ann,
            cast.bob,
            project,
            kind="decision",
            tags=["über"],
            paths=["src/auth/**"],
            body="the walrus sleeps",
        ),
        "b": world.accept(cast.ann, cast.bob, project, paths=["docs"], body="walruses swim"),
        "c": world.propose(cast.ann, project, collection="private"),
    }

    page = find(world, cast.ann, project, **wanted)

    assert set(ids(page)) == {made[name].memory_id for name in expected}
    assert sum(page.facets["kind"].values()) == len(expected)


def test_pages_cover_everything_once_newest_change_first(world, cast, project, clock):
    made = []
    for number in range(7):
        clock.at += number // 3
        made.append(world.accept(cast.ann, cast.bob, project, tags=["Seen"]).memory_id)

    seen, after = [], None
    for _ in range(4):
        page = find(world, cast.reader, project, after=after, limit=2)
        seen += ids(page)
        after = page.next_after
        assert page.facets["tag"] == {"seen": 7}

    assert after is None
    assert sorted(seen) == sorted(made)
    times = {
        m: world.get(cast.reader, view.memory).memory.updated_at
        for m, view in zip(seen, find(world, cast.reader, project).items, strict=True)
    }
    assert seen == sorted(seen, key=lambda m: (-times[m], m))


def test_a_list_says_of_provenance_what_the_entry_itself_says(world, cast, project):
    source = world.accept(cast.ann, cast.bob, project)
    pair = {"memory_id": source.memory_id, "revision": source.revision}
    child = world.accept(cast.ann, cast.bob, project, derived_from=[pair])

    listed = {v.memory.memory_id: v for v in find(world, cast.reader, project).items}

    assert listed[child.memory_id] == world.get(cast.reader, child)
    assert listed[child.memory_id].resolved == (True,)
