"""What a caller sees of several scopes, kept while nothing changes and no longer."""

from codeflow_memory.services import access as accesses


def ids(world, caller, project):
    with world.store.engine.read() as tx:
        reach = accesses.reach(tx, caller, project)
        return set(world.store.shelf.accepted(tx, reach).by_id)


def test_a_change_in_one_of_several_scopes_is_seen_at_once(world, cast, project):
    shared = world.accept(cast.ann, cast.bob, project)
    first = world.propose(cast.ann, project, collection="private", body="a seal swims")
    assert ids(world, cast.ann, project) == {shared.memory_id, first.memory_id}

    second = world.propose(cast.ann, project, collection="private", body="a gull flies")
    world.delete(cast.ann, first)
    assert ids(world, cast.ann, project) == {shared.memory_id, second.memory_id}

    world.decide(cast.bob, shared, "archive")
    assert ids(world, cast.ann, project) == {second.memory_id}


def test_what_is_kept_of_one_callers_scopes_is_no_others(world, cast, project):
    shared = world.accept(cast.ann, cast.bob, project)
    own = {
        caller.principal_id: world.propose(caller, project, collection="private", body=body)
        for caller, body in ((cast.ann, "a seal swims"), (cast.bob, "a gull flies"))
    }

    for _ in range(2):
        for caller in (cast.ann, cast.bob):
            mine = own[caller.principal_id].memory_id
            assert ids(world, caller, project) == {shared.memory_id, mine}
        assert ids(world, cast.reader, project) == {shared.memory_id}


def test_what_was_joined_of_an_older_state_is_let_go(world, cast, project):
    world.accept(cast.ann, cast.bob, project)
    for body in ("a seal swims", "a gull flies", "an owl waits"):
        world.propose(cast.ann, project, collection="private", body=body)
        ids(world, cast.ann, project)

    assert len(world.store.shelf._together) == 1
