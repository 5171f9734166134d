"""Search: what the caller sees alone is found, counted and scored."""

import pytest

from codeflow_memory.domain import adjacency, ranking
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.memory import Collection, Kind
from codeflow_memory.domain.times import HOUR, to_rfc3339
from codeflow_memory.services.search import SNIPPET, snippet

TERMS = " ".join(f"w{number}" for number in range(33))


def found(answer):
    return [result.memory_id for result in answer.results]


def test_a_project_out_of_reach_is_like_one_that_is_not_there(world, project):
    elsewhere = world.repository().repository.repository_id
    for caller in (world.person("eve", repo=elsewhere), world.person("ops", Role.OPERATOR)):
        with pytest.raises(NotFoundError):
            world.search(caller, project, "walrus")


@pytest.mark.parametrize("status", ["proposed", "rejected", "outdated", "archived", "deleted"])
def test_only_accepted_entries_are_found(world, cast, project, status):
    memory = world.propose(cast.ann, project, body="a walrus")
    if status == "rejected":
        world.decide(cast.bob, memory, "reject")
    elif status != "proposed":
        memory = world.decide(cast.bob, memory, "approve")
        assert found(world.search(cast.reader, project, "walrus")) == [memory.memory_id]
        if status == "deleted":
            world.delete(cast.max, memory)
        else:
            action = {"outdated": "outdate", "archived": "archive"}[status]
            world.decide(cast.bob, memory, action)

    assert found(world.search(cast.ann, project, "walrus")) == []


def test_what_is_hidden_changes_no_answer(world, cast, project):
    shown = world.accept(cast.ann, cast.bob, project, body="one walrus")
    world.accept(cast.ann, cast.bob, project, body="one zebra")
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)
    callers = (cast.reader, cast.bob, world.owner)
    before = [world.search(caller, project, "walrus zebra") for caller in callers]

    for number in range(4):
        world.propose(cast.abe, project, collection="private", body=f"walrus {number}")
        world.propose(run, project, collection="private", body=f"walrus {number}")
        world.propose(cast.abe, project, body=f"walrus {number} proposed")

    assert [world.search(caller, project, "walrus zebra") for caller in callers] == before
    assert shown.memory_id in found(before[0])
    assert len(found(world.search(cast.abe, project, "walrus"))) == 5


def test_an_entry_past_its_time_is_not_found_from_that_moment(world, cast, project, clock):
    until = to_rfc3339(clock.at + HOUR)
    memory = world.accept(cast.ann, cast.bob, project, body="a walrus", valid_to=until)
    clock.at += HOUR - 1
    assert found(world.search(cast.reader, project, "walrus")) == [memory.memory_id]

    clock.at += 1

    assert found(world.search(cast.reader, project, "walrus")) == []
    assert world.select(cast.reader, project, query="walrus").places == ()


@pytest.mark.parametrize(
    ("narrowed", "expected"),
    [
        ({"kind": Kind.DECISION}, "a"),
        ({"collections": frozenset({Collection.PRIVATE})}, "c"),
        ({"path": "docs/a.md"}, "bc"),
        ({"branch": "release/2"}, "bc"),
        ({"branch": "main"}, "ac"),
        ({"limit": 1}, "c"),
        ({}, "abc"),
    ],
)
def test_filters_narrow_the_search(world, cast, project, clock, narrowed, expected):
    places = {"a": (["src/**"], ["main"]), "b": (["docs"], ["release/*"])}
    made = {}
    for name, kind in (("a", "decision"), ("b", "fact")):
        paths, branches = places[name]
        fields = {"kind": kind, "paths": paths, "branches": branches}
        made[name] = world.accept(
            cast.ann, cast.bob, project, title=name, body="one walrus", **fields
        )
    clock.at += 1
    made["c"] = world.propose(cast.ann, project, collection="private", title="c", body="one walrus")

    hits = found(world.search(cast.ann, project, "walrus", **narrowed))

    assert sorted(hits) == sorted(made[name].memory_id for name in expected)


def test_a_hit_names_its_revision_its_terms_and_where_they_are(world, cast, project):
    memory = world.accept(
        cast.ann, cast.bob, project, title="Walruses", tags=["sea"], body="getUserById sleeps"
    )

    answer = world.search(cast.reader, project, "walrus sea user the")

    (hit,) = answer.results
    assert (hit.memory_id, hit.revision, hit.title) == (memory.memory_id, 2, "Walruses")
    assert hit.matched == {"walrus": ["title"], "sea": ["tags"], "user": ["body"]}
    assert answer.terms == ("walrus", "sea", "user")
    assert hit.snippet == "getUserById sleeps"


def test_literal_search_finds_exact_words_only(world, cast, project):
    world.accept(cast.ann, cast.bob, project, body="walruses sleep")

    assert found(world.search(cast.reader, project, "walrus", literal=True)) == []
    assert len(found(world.search(cast.reader, project, "walruses", literal=True))) == 1


@pytest.mark.parametrize("query", ["", "  ", "***", '""'])
def test_a_query_without_words_finds_nothing(world, cast, project, query):
    world.accept(cast.ann, cast.bob, project)

    answer = world.search(cast.reader, project, query)

    assert (answer.results, answer.terms) == ((), ())


def test_terms_beyond_the_limit_are_named_as_dropped(world, cast, project):
    answer = world.search(cast.reader, project, TERMS)

    assert len(answer.terms) == 32
    assert answer.terms_dropped == ("w32",)


def test_a_snippet_is_a_part_of_the_text_around_the_first_match():
    body = "start " * 100 + "walrus " + "end " * 100

    text = snippet(body, {"walrus": []})

    assert "walrus" in text
    assert text.startswith("… ")
    assert text.endswith(" …")
    assert len(text) <= SNIPPET + 4
    assert snippet("short", {"walrus": []}) == "short"


def test_a_short_answer_is_the_beginning_of_a_long_one(world, cast, project):
    """Fewer than fifty are ordered without a look at the others."""
    for number in range(70):
        words = "walrus herd" if number % 3 else "herd of a walrus"
        world.accept(cast.ann, cast.bob, project, body=f"{words} {number % 7} {'calm ' * number}")

    whole = world.search(cast.reader, project, "walrus herd", limit=100)

    assert len(whole.results) == 70
    for limit in (1, 20, 50, 51):
        short = world.search(cast.reader, project, "walrus herd", limit=limit)
        assert short.results == whole.results[:limit]


@pytest.mark.parametrize(("scoring", "truncated"), [(2, False), (3, True)])
def test_more_than_the_most_seeds_are_reported(
    world, cast, project, monkeypatch, scoring, truncated
):
    monkeypatch.setattr(ranking, "MAX_SEEDS", 2)
    for _ in range(scoring):
        world.propose(cast.ann, project, collection="private", title="Walrus")
    world.propose(cast.ann, project, collection="private", title="Zebra")

    assert world.search(cast.ann, project, "walrus").seeds_truncated is truncated


def test_adjacency_is_looked_up_among_the_best_alone(world, cast, project, monkeypatch):
    for _ in range(2):
        world.propose(cast.ann, project, collection="private", title="Walrus of one herd")
    last = world.propose(cast.ann, project, collection="private", body="see the walrus herd")

    def scored(depth):
        monkeypatch.setattr(adjacency, "DEPTH", depth)
        results = world.search(cast.ann, project, "walrus herd").results
        return {result.memory_id: result.score for result in results}

    plain, looked_up = scored(2), scored(3)

    assert min(plain, key=plain.__getitem__) == last.memory_id
    assert {m for m in plain if looked_up[m] > plain[m]} == {last.memory_id}
