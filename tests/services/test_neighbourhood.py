"""The edges that a selection may walk: kept while nothing changes, and cut in a fixed order."""

from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.graph import MEMORY, Edge
from codeflow_memory.services import access as accesses
from codeflow_memory.services import neighbourhood
from codeflow_memory.storage import graph


def kept(world, caller, project):
    """What the shelf has, and what the database says of the same accepted entries."""
    with world.store.engine.read() as tx:
        reach = accesses.reach(tx, caller, project)
        seen = world.store.shelf.accepted(tx, reach)
        links = world.store.shelf.links(tx, project.repository_id, seen.generations)
        scopes, ids = list(seen.generations), list(seen.by_id)
        stored = graph.find(tx, project.repository_id, scopes, ids, 1_000)
    flat = [edge for of in links for edges in of.supplied.values() for edge in edges]
    assert sorted(flat) == sorted(e for of in links for es in of.leading.values() for e in es)
    assert len(flat) == sum(of.count for of in links)
    return set(flat), {Edge(e.memory_id, e.type, e.target_kind, e.target_key) for e in stored}


def test_every_change_of_an_entry_is_seen_at_once(world, cast, project):
    def same():
        shelf, stored = kept(world, cast.ann, project)
        assert shelf == stored
        return shelf

    first = world.accept(cast.ann, cast.bob, project, paths=["src/a.py"])
    assert {(e.memory_id, e.key) for e in same()} == {(first.memory_id, "src/a.py")}

    own = world.propose(cast.ann, project, collection="private", sources=["file:src/b.py"])
    proposed = world.propose(cast.ann, project, paths=["src/c.py"])
    assert {e.key for e in same()} == {"src/a.py", "src/b.py"}

    world.decide(cast.bob, proposed, "approve")
    own = world.revise(cast.ann, own, sources=["file:src/d.py"])
    assert {e.key for e in same()} == {"src/a.py", "src/c.py", "src/d.py"}

    world.decide(cast.bob, first, "archive")
    world.delete(cast.ann, own)
    assert {e.key for e in same()} == {"src/c.py"}


def test_nobody_gets_the_edges_of_what_others_own(world, cast, project):
    world.propose(cast.ann, project, collection="private", paths=["src/a.py"])
    world.propose(cast.bob, project, collection="private", paths=["src/b.py"])

    for _ in range(2):
        assert {e.key for e in kept(world, cast.ann, project)[0]} == {"src/a.py"}
        assert {e.key for e in kept(world, cast.bob, project)[0]} == {"src/b.py"}
        assert kept(world, cast.reader, project)[0] == set()


MEMORIES = [f"mem_{n}" for n in range(6)]
edges = st.builds(
    Edge,
    st.sampled_from(MEMORIES),
    st.sampled_from(["applies_to", "cites"]),
    st.sampled_from(["file", "branch"]),
    st.sampled_from("abc"),
) | st.builds(
    Edge, st.sampled_from(MEMORIES), st.just("derived_from"), st.just(MEMORY),
    st.sampled_from(MEMORIES),
)  # fmt: skip


@given(
    st.lists(edges, max_size=24, unique=True),
    st.lists(edges, max_size=24, unique=True),
    st.lists(st.sampled_from(MEMORIES), unique=True),
    st.sets(st.sampled_from(MEMORIES)),
)
def test_the_edges_of_seeds_and_those_that_eligible_entries_have_to_the_same(
    first, second, seeds, eligible
):
    second = [e._replace(memory_id=f"{e.memory_id}x") for e in second]
    eligible = eligible | set(seeds) | {f"{m}x" for m in eligible}
    links = [neighbourhood.arrange(scope) for scope in (first, second)]

    found = neighbourhood.edges(links, seeds, eligible)

    own = {e for e in first if e.memory_id in seeds}
    met = {(e.kind, e.key) for e in own if e.kind != MEMORY} | {(MEMORY, s) for s in seeds}
    far = {e for e in (*first, *second) if (e.kind, e.key) in met and e.memory_id in eligible}
    assert set(found) == own | far
    assert len(found) == len(set(found))


def test_the_best_seeds_edges_come_first_and_all_is_cut_in_order(monkeypatch):
    monkeypatch.setattr(neighbourhood, "MAX_EDGES", 3)
    monkeypatch.setattr(neighbourhood, "_STEP", 1)
    own = [Edge(m, "cites", "file", f"{m}{n}") for m in ("mem_a", "mem_b") for n in range(4)]
    links = [neighbourhood.arrange(own[::-1])]
    assert list(neighbourhood.edges(links, ["mem_b", "mem_a"], {"mem_a", "mem_b"})) == own[4:]

    shared = [Edge(f"mem_{n}", "cites", "file", "a") for n in range(9)]
    hidden = {"mem_1", "mem_2"}
    links = [neighbourhood.arrange(shared[::-1])]
    found = neighbourhood.edges(links, ["mem_8"], {e.memory_id for e in shared} - hidden)
    assert {e.memory_id for e in found} == {"mem_0", "mem_3", "mem_4", "mem_5", "mem_8"}


def test_links_that_were_not_asked_for_longest_go_first(world, cast, project, monkeypatch):
    monkeypatch.setattr("codeflow_memory.services.visible.MAX_LINKS", 1)
    world.propose(cast.ann, project, collection="private", paths=["src/a.py"])
    world.propose(cast.bob, project, collection="private", paths=["src/b.py"])

    for caller in (cast.ann, cast.bob):
        assert len(kept(world, caller, project)[0]) == 1
    assert len(world.store.shelf._links) == 1
