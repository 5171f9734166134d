"""The graph: where memories come from and what they apply to, as one caller sees it."""

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import graph
from codeflow_memory.services.graph import MAX_EDGES, Filter

COMMIT = "c" * 40


def draw(world, caller, project, **wanted):
    return graph.draw(world.store, caller, project.project_id, None, Filter(**wanted))


def edges(picture):
    return [(e.memory_id, e.type, e.target_kind, e.target_key) for e in picture.edges]


def pair(memory):
    return {"memory_id": memory.memory_id, "revision": memory.revision}


def test_a_project_out_of_reach_is_like_one_that_is_not_there(world, project):
    elsewhere = world.repository().repository.repository_id
    for caller in (world.person("eve", repo=elsewhere), world.person("ops", Role.OPERATOR)):
        with pytest.raises(NotFoundError):
            draw(world, caller, project)


def test_every_relation_is_recorded_with_its_exact_revision(world, cast, project):
    source = world.accept(cast.ann, cast.bob, project)
    run = world.run(cast.ann, project)
    memory = world.propose(
        world.sign_in(run.text),
        project,
        body=f"import src/guess.py and see {source.memory_id} on main at {'e' * 40}",
        paths=["src/**"],
        branches=["main", f"commit:{COMMIT}"],
        sources=["run:run_7", f"commit:{COMMIT}", "file:a.py#L1-L2", "session:s", "message:m"],
        derived_from=[pair(source)],
    )

    picture = draw(world, cast.ann, project)

    assert edges(picture) == [
        (memory.memory_id, kind, *target)
        for kind, target in [
            ("applies_to", ("branch", "main")),
            ("applies_to", ("commit", COMMIT)),
            ("applies_to", ("file", "src/**")),
            ("cites", ("file", "a.py")),
            ("derived_from", ("memory", source.memory_id)),
            ("learned_from", ("commit", COMMIT)),
            ("learned_from", ("run", run.run.run_id)),
            ("learned_from", ("run", "run_7")),
        ]
    ]
    assert {(e.memory_revision, e.scope_id) for e in picture.edges} == {(1, memory.scope_id)}
    assert {e.target_key for e in picture.resolved} == {source.memory_id}
    assert picture.memories[memory.memory_id].status is Status.PROPOSED


def test_a_change_rewrites_the_edges(world, cast, project):
    memory = world.propose(cast.ann, project, paths=["src/old.py", "src/same.py"])
    memory = world.decide(
        cast.bob, world.revise(cast.ann, memory, paths=["src/same.py"]), "approve"
    )

    picture = draw(world, cast.reader, project)

    assert [(e.target_key, e.memory_revision) for e in picture.edges] == [("src/same.py", 3)]
    assert draw(world, cast.ann, project, around=("file", "src/old.py")).edges == ()


@pytest.mark.parametrize("change", ["edit", "outdate", "delete", "return"])
def test_a_stale_target_is_an_id_without_a_title(world, cast, project, change):
    source = world.accept(cast.ann, cast.bob, project, title="Needle of the past")
    child = world.accept(cast.ann, cast.bob, project, derived_from=[pair(source)])
    if change == "edit":
        world.decide(cast.bob, world.revise(cast.ann, source, title="Needle of today"), "approve")
    elif change == "delete":
        world.delete(cast.max, source)
    else:
        world.decide(cast.bob, source, change)

    picture = draw(world, cast.reader, project)

    assert [(e.target_key, e.target_revision) for e in picture.edges] == [(source.memory_id, 2)]
    assert picture.resolved == frozenset()
    assert set(picture.titles) == {child.memory_id}


def test_a_hidden_target_looks_like_a_stale_one(world, cast, project):
    private = world.propose(cast.ann, project, collection="private", title="Needle")
    public = world.publish(cast.ann, private)

    picture = draw(world, cast.bob, project)

    assert [e.target_key for e in picture.edges] == [private.memory_id]
    assert (picture.resolved, set(picture.titles)) == (frozenset(), {public.memory_id})
    assert len(draw(world, cast.ann, project).resolved) == 1


def test_a_proposed_target_is_an_id_to_a_reader(world, cast, project):
    source = world.propose(cast.ann, project, title="Needle")
    child = world.accept(cast.ann, cast.bob, project, derived_from=[pair(source)])

    picture = draw(world, cast.reader, project)

    assert (picture.resolved, set(picture.titles)) == (frozenset(), {child.memory_id})
    assert world.get(cast.reader, child).resolved == (False,)
    assert len(draw(world, cast.abe, project).resolved) == 1
    assert world.get(cast.abe, child).resolved == (True,)


@pytest.mark.parametrize("status", ["proposed", "rejected"])
def test_a_reader_sees_no_edge_of_what_is_held(world, cast, project, status):
    memory = world.propose(cast.ann, project, paths=["src/held.py"])
    if status == "rejected":
        world.decide(cast.bob, memory, "reject")

    assert draw(world, cast.reader, project).edges == ()
    assert draw(world, cast.reader, project, around=("file", "src/held.py")).edges == ()
    assert len(draw(world, cast.abe, project).edges) == 1


def test_what_is_hidden_changes_no_picture(world, cast, project):
    shown = world.accept(cast.ann, cast.bob, project, paths=["src/seen.py"])
    run = world.sign_in(world.run(world.person("robo", kind="agent"), project).text)
    asks = [
        {},
        {"around": ("file", "src/seen.py"), "depth": 2},
        {"around": ("memory", shown.memory_id), "depth": 2},
        {"around": ("file", "src/hidden.py")},
    ]
    callers = (cast.reader, cast.bob, world.owner)
    before = [draw(world, caller, project, **ask) for caller in callers for ask in asks]

    paths = ["src/seen.py", "src/hidden.py", *(f"h/{number}.py" for number in range(60))]
    for author in (cast.abe, run):
        for number in range(9):
            world.propose(
                author,
                project,
                collection="private",
                paths=paths,
                branches=[f"b{number}"],
                derived_from=[pair(shown)],
            )

    after = [draw(world, caller, project, **ask) for caller in callers for ask in asks]
    assert after == before


def test_a_graph_shows_a_thousand_edges_and_says_when_there_are_more(world, cast, project):
    for number in range(15):
        paths = [f"d{number}/f{place}.py" for place in range(64)]
        world.propose(cast.ann, project, paths=paths)
    world.propose(cast.ann, project, paths=[f"e/f{place}.py" for place in range(40)])
    exactly = draw(world, cast.ann, project)

    world.propose(cast.ann, project, paths=["one/more.py"])
    over = draw(world, cast.ann, project)

    assert (len(exactly.edges), exactly.truncated) == (MAX_EDGES, False)
    assert (len(over.edges), over.truncated) == (MAX_EDGES, True)


def test_filters_narrow_the_graph(world, cast, project):
    one = world.accept(cast.ann, cast.bob, project, paths=["a.py"], branches=["main"])
    two = world.propose(cast.ann, project, paths=["a.py"], sources=["file:a.py"])

    def found(**wanted):
        return {
            (e.memory_id, e.type, e.target_kind)
            for e in draw(world, cast.ann, project, **wanted).edges
        }

    assert found(types=frozenset({"cites"})) == {(two.memory_id, "cites", "file")}
    assert found(kinds=frozenset({"branch"})) == {(one.memory_id, "applies_to", "branch")}
    assert found(statuses=frozenset({"accepted"})) == {
        (one.memory_id, "applies_to", "file"),
        (one.memory_id, "applies_to", "branch"),
    }
    around = ("memory", one.memory_id)
    assert {m for m, _, _ in found(around=around)} == {one.memory_id}
    assert {m for m, _, _ in found(around=around, depth=2)} == {one.memory_id, two.memory_id}


def test_equal_files_of_two_projects_are_two_entities(world, cast, project):
    other = world.project("docs", project.repository_id)
    here = world.accept(cast.ann, cast.bob, project, paths=["same.py"])
    world.accept(cast.ann, cast.bob, other, paths=["same.py"])

    picture = draw(world, cast.reader, project, around=("file", "same.py"), depth=2)

    assert [e.memory_id for e in picture.edges] == [here.memory_id]
