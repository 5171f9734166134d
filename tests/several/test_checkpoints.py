"""Of homes that share a database each keeps checkpoints of its own, and accuses no other's."""

import shutil

import pytest

from codeflow_memory.services import checkpoints
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import checkpoints as files
from codeflow_memory.storage.audit import CHECKPOINT


@pytest.fixture
def other(world, new_home):
    """The same tenant as a second home has it."""
    assert world.store
    made = Tenants(new_home(), now=world.clock)
    yield made.get("local")
    made.close()


@pytest.fixture
def both(world, other):
    """Two homes that wrote checkpoints in turn while rows came."""
    for number in range(3):
        world.project(f"project-{number}")
        assert checkpoints.write(world.store)
        assert checkpoints.write(other)
    return world.store, other


def file_of(store):
    return files.file_of(store.home.database(store.tenant))


def cut(store, count):
    """Put the database back to what it was after *count* rows, as far as the audit tells."""
    with store.engine.write() as tx:
        tx.execute("DELETE FROM audit WHERE sequence > :count", {"count": count})
        tx.execute(
            "UPDATE store SET audit_count = :count,"
            " audit_head = (SELECT hash FROM audit WHERE sequence = :count)",
            {"count": count},
        )


def marks(store):
    with store.engine.read() as tx:
        sql = "SELECT item FROM audit WHERE action = :action ORDER BY sequence"
        return [item for (item,) in tx.rows(sql, {"action": CHECKPOINT})]


def test_each_home_finds_the_audit_sound(both):
    for store in both:
        report = checkpoints.verify(store)
        assert (report.sound, report.checkpoints) == (True, 3), report


def test_the_marks_of_one_another_are_no_news(both):
    """Else each home would sign what the other signed, for ever."""
    before = marks(both[0])

    assert [checkpoints.write(store) for store in (*both, *both)] == [False] * 4

    assert marks(both[0]) == before


def test_a_database_that_was_put_back_is_found_by_each_home(both):
    with both[0].engine.read() as tx:
        count = files.head(tx).count
    cut(both[0], count - 5)

    for store in both:
        found = checkpoints.verify(store).disagreement
        assert found is not None
        assert "missing from the database" in found.detail


@pytest.mark.parametrize("number", [0, 1])
def test_a_home_whose_file_is_gone_says_so_and_the_other_does_not(both, number):
    file_of(both[number]).unlink()

    found = checkpoints.verify(both[number]).disagreement

    assert (found.number, found.detail) == (1, "the file is missing")
    assert checkpoints.verify(both[1 - number]).sound


def test_a_file_without_its_last_line_is_found(both):
    lines = file_of(both[1]).read_bytes().splitlines(keepends=True)
    file_of(both[1]).write_bytes(b"".join(lines[:-1]))

    found = checkpoints.verify(both[1]).disagreement

    assert (found.number, found.detail) == (3, "the checkpoint is missing")


def test_the_file_of_another_home_does_not_stand_in_for_one_s_own(both):
    shutil.copy(file_of(both[0]), file_of(both[1]))

    assert not checkpoints.verify(both[1]).sound


def test_a_new_home_finds_what_others_signed_sound_and_begins_with_the_first(both, new_home, world):
    tenants = Tenants(new_home(), now=world.clock)
    store = tenants.get("local")

    assert checkpoints.verify(store).sound
    world.project("one-more")
    assert checkpoints.write(store)
    assert checkpoints.verify(store).checkpoints == 1
    assert all(checkpoints.verify(one).sound for one in both)
    tenants.close()


def test_a_tenant_without_a_folder_gets_one_for_its_checkpoints(world):
    birch = world.tenants.create("birch")

    assert checkpoints.write(birch)

    assert checkpoints.verify(birch).sound
