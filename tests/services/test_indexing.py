"""An index that older rules made is made anew, whole in the end, whatever cuts it off."""

import pytest

from codeflow_memory.domain.terms import VERSION
from codeflow_memory.services import indexing
from codeflow_memory.services.recomputation import recompute
from codeflow_memory.storage import tenants


@pytest.fixture
def aged(world, cast, project):
    """Entries whose rows are those of older rules: names with a leading underscore without part."""
    made = [
        world.accept(cast.ann, cast.bob, project, title=f"_walrus{number}", body="sleeps")
        for number in range(3)
    ]
    world.propose(cast.ann, project, title="_zebra", body="waits")
    with world.store.engine.write() as tx:
        tx.execute("DELETE FROM memory_terms WHERE form = 'part'")
        tenants.set_terms_version(tx, VERSION - 1)
    return made


def found(world, cast, project, text):
    return {result.memory_id for result in world.search(cast.reader, project, text).results}


def version(world):
    with world.store.engine.read() as tx:
        return tenants.terms_version(tx)


def test_a_new_tenant_has_an_index_of_the_newest_rules(world):
    assert version(world) == VERSION
    assert indexing.run(world.store) == 0


def test_older_rows_are_made_anew_once(world, cast, project, aged):
    drifted = [drift.where for drift in recompute(world.store, sample=None)[1]]
    assert sorted(drifted) == sorted(memory.memory_id for memory in aged)
    assert found(world, cast, project, "walrus1") == set()

    assert indexing.run(world.store) == 3

    assert recompute(world.store, sample=None)[1] == []
    assert found(world, cast, project, "walrus1") == {aged[1].memory_id}
    assert found(world, cast, project, "zebra") == set()
    assert version(world) == VERSION
    assert indexing.run(world.store) == 0


@pytest.mark.usefixtures("aged")
def test_cut_off_it_begins_again(world, monkeypatch):
    monkeypatch.setattr(indexing, "STEP", 1)
    real, seen = indexing._index, []

    def dying(store, tx, scope_id, memory_id):
        real(store, tx, scope_id, memory_id)
        seen.append(memory_id)
        if len(seen) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(indexing, "_index", dying)
    with pytest.raises(KeyboardInterrupt):
        indexing.run(world.store)

    assert version(world) == VERSION - 1
    assert len(recompute(world.store, sample=None)[1]) == 2
    monkeypatch.setattr(indexing, "_index", real)
    assert indexing.run(world.store) == 3
    assert recompute(world.store, sample=None)[1] == []


@pytest.mark.usefixtures("aged")
def test_what_leaves_the_index_meanwhile_stays_out(world, monkeypatch):
    real = indexing._index

    def outdating(store, tx, scope_id, memory_id):
        tx.execute(
            "UPDATE memories SET status = 'outdated' WHERE memory_id = :id", {"id": memory_id}
        )
        tx.execute("DELETE FROM memory_terms WHERE memory_id = :id", {"id": memory_id})
        tx.execute("DELETE FROM memory_term_lists WHERE memory_id = :id", {"id": memory_id})
        real(store, tx, scope_id, memory_id)

    monkeypatch.setattr(indexing, "_index", outdating)
    indexing.run(world.store)

    with world.store.engine.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM memory_terms") == 0
