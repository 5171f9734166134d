"""A tenant that comes to a home with another key."""

import pytest

from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.errors import StoreUnusableError, UnauthenticatedError
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.services import memories
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import audit

NOTE = Candidate(Content(Kind.FACT, "Port", "The service listens on 8080"), Collection.PRIVATE)


def faults(store):
    with store.engine.read() as tx:
        return audit.first_fault(tx, store.keys.audit_hash)


@pytest.fixture
def moved(world):
    """A world with one note, its token, and the same files under another home key."""
    issued = world.token("ann", "contributor")
    ann, project = world.sign_in(issued.text), world.project()
    made = memories.create(
        world.store, ann, project.project_id, None, NOTE, Operation("first", ("a",))
    )
    before = world.store
    world.tenants.close()
    (world.tenants.home.path / "key").write_bytes(b"k" * 32)
    if world.tenants.shared:
        rekeyed = Tenants(world.tenants.home, now=world.clock, rekeying=True)
        rekeyed.get("local")
        rekeyed.close()
    return issued, project, made, before


def test_old_tokens_are_dead_and_new_ones_work(world, moved):
    issued, *_ = moved

    with pytest.raises(UnauthenticatedError):
        world.sign_in(issued.text)
    assert world.person("ann").person


@pytest.mark.usefixtures("moved")
def test_the_audit_goes_on_in_a_new_epoch_and_verifies(world):
    with world.store.engine.read() as tx:
        epochs = [row[0] for row in tx.rows("SELECT epoch FROM audit ORDER BY sequence")]
        last = tx.value("SELECT action FROM audit ORDER BY sequence DESC LIMIT 1")

        assert audit.count_earlier(tx) == epochs.count(1)

    assert (set(epochs), epochs == sorted(epochs), last) == ({1, 2}, True, "key.change")
    assert faults(world.store) is None


def test_under_the_same_key_nothing_begins_anew(world):
    world.token("ann", "contributor")
    world.tenants.close()

    with world.store.engine.read() as tx:
        assert tx.rows("SELECT DISTINCT epoch FROM audit") == [(1,)]
        assert audit.count_earlier(tx) == 0


@pytest.mark.usefixtures("moved")
def test_a_changed_row_of_the_new_epoch_is_found(world):
    world.person("bob")
    with world.store.engine.write() as tx:
        tx.execute("UPDATE audit SET item = 'x' WHERE sequence = (SELECT MAX(sequence) FROM audit)")

    sequence, what = faults(world.store)
    assert what == "the row was changed"
    assert sequence > 1


def test_an_equal_text_is_still_known(world, moved):
    _, project, made, _ = moved
    ann = world.person("ann")

    again = memories.create(
        world.store, ann, project.project_id, None, NOTE, Operation("first", ("other",))
    )

    assert (again.memory.memory_id, again.duplicate) == (made.memory.memory_id, True)


def test_a_home_that_lost_its_key_makes_no_new_one(world):
    world.token("ann", "contributor")
    world.tenants.close()
    key = world.tenants.home.path / "key"
    kept = key.read_bytes()
    key.unlink()

    told = "copy the file `key`" if world.tenants.shared else "restore it from a backup"
    with pytest.raises(StoreUnusableError, match=told):
        world.tenants.get("local")
    with pytest.raises(StoreUnusableError, match=told):
        world.tenants.create("birch")
    assert not key.exists()

    key.write_bytes(kept)
    assert world.sign_in(world.token("ann", "contributor").text).person
