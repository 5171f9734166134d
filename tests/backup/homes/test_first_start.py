"""The first start after a restore: it finishes what was cut off, and begins an epoch."""

import json

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import StoreUnusableError, UnauthenticatedError
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import checkpoints, restoration
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import audit
from codeflow_memory.storage.home import Home
from codeflow_memory.worker import Worker

from ...conftest import World


def marker(place):
    return json.loads((place.home / "restore.json").read_text())


def edit(place, **changes):
    (place.home / "restore.json").write_text(json.dumps(marker(place) | changes))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"format": 2}',
        "null",
        '{"format": 1, "state": "odd"}',
        '{"format": 1, "state": "placed", "undo": "../elsewhere"}',
    ],
)
def test_a_marker_that_no_restore_wrote_is_refused_and_nothing_is_touched(place, text):
    (place.home / "restore.json").write_text(text)
    before = place.files()

    with pytest.raises(StoreUnusableError, match=r"restore\.json"):
        place.settle()

    assert place.files() == before


@pytest.mark.parametrize(
    "name", ["../b", "/etc/passwd", "tenants/../../x", "a/b", "tenants/X/memory.sqlite", "", ".."]
)
@pytest.mark.parametrize("field", ["moves", "places"])
def test_a_marker_cannot_name_a_file_elsewhere(place, backup, name, field):
    place.restore(backup, replace=True)
    edit(place, **{field: [name]})

    with pytest.raises(StoreUnusableError):
        place.settle()


def test_a_marker_that_is_a_link_is_refused(place, tmp_path):
    (tmp_path / "mine").write_text("{}")
    (place.home / "restore.json").symlink_to(tmp_path / "mine")

    with pytest.raises(StoreUnusableError):
        place.settle()


def test_no_tenant_is_opened_before_the_restore_is_finished(place, backup):
    place.restore(backup, replace=True)
    tenants = Tenants(Home(place.home), now=place.clock)

    with pytest.raises(StoreUnusableError, match="restore"):
        tenants.get("local")

    assert place.settle()
    assert tenants.get("local").tenant == "local"
    tenants.close()


def test_a_database_that_is_not_what_the_backup_held_is_refused(place, backup):
    place.restore(backup, replace=True)
    databases = marker(place)["databases"]
    edit(place, databases=[databases[0] | {"fingerprint": "0" * 64}, databases[1]])

    with pytest.raises(StoreUnusableError, match="restore the backup again"):
        place.settle()

    assert marker(place)["state"] == "placed"


def test_a_home_in_use_is_not_settled(place, backup):
    place.restore(backup, replace=True)

    with Home(place.home).shared(), pytest.raises(StoreUnusableError):
        place.settle()


def test_it_begins_an_epoch_on_record_and_takes_the_marker_away(place, backup):
    place.restore(backup, replace=True)

    assert place.settle()
    assert not place.settle()

    assert not (place.home / "restore.json").exists()
    with place.started() as tenants:
        for slug in ("local", "birch"):
            store = tenants.get(slug)
            with store.engine.read() as tx:
                last = tx.row("SELECT action, item FROM audit ORDER BY sequence DESC LIMIT 1")
                assert last == (audit.RESTORE, "1")
                assert audit.first_fault(tx, store.keys.audit_hash) is None
            assert checkpoints.verify(store).sound


def test_the_epoch_is_above_every_one_before_even_if_the_backup_is_of_the_first(place, backup):
    for epoch in (1, 2, 3):
        place.restore(backup, replace=True)
        place.settle()
        assert place.rows()["store"][0][4] == epoch


def test_tokens_of_runs_are_revoked_and_those_of_people_go_on(place, tmp_path):
    with place.started() as tenants:
        world = World(tenants, place.clock)
        of_run = world.run(world.person("ann"), world.project("late")).text
        of_person = world.token("zoe", Role.READER).text
    target = tmp_path / "r.cfmb"
    place.back_up(target)

    place.restore(target, replace=True)

    with place.started() as tenants:
        world = World(tenants, place.clock)
        assert world.sign_in(of_person).principal_id
        with pytest.raises(UnauthenticatedError):
            world.sign_in(of_run)


def test_all_but_the_epoch_the_audit_and_run_tokens_is_as_it_was(place, backup):
    before = place.rows()
    place.restore(backup, replace=True)
    assert place.rows() == before
    place.settle()

    after = place.rows()
    changed = {table for table, rows in before.items() if after[table] != rows}
    assert changed == {"store", "audit", "tokens"}
    assert set(before["audit"]) < set(after["audit"])


@pytest.mark.parametrize("state", ["placed", "verified"])
def test_a_start_that_was_cut_off_is_finished_by_the_next(place, backup, state):
    place.restore(backup, replace=True)
    if state == "verified":
        edit(place, state=state)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(restoration.restoration, "end", lambda _: None)
            place.settle()
        assert (place.home / "restore.json").exists()
    once = place.rows()["store"]

    place.settle()

    epochs = [row[4] for row in place.rows()["store"]]
    assert epochs == [1]
    assert state == "placed" or place.rows()["store"] == once


def test_what_was_replaced_goes_after_seven_days(place, backup, clock):
    done = place.restore(backup, replace=True)
    (place.home / "undo-mine").mkdir()
    undo = place.home / done.undo
    made = restoration._moment(done.undo.removeprefix("undo-"))
    assert made is not None
    with place.started() as tenants:
        worker = Worker(tenants, lambda: 0.0, ())
        clock.at = made + 7 * DAY
        assert "undo:local" in worker.run_due()
        assert undo.is_dir()
        clock.at += 1
        Worker(tenants, lambda: 0.0, ()).run_due()

    assert not undo.exists()
    assert (place.home / "undo-mine").is_dir()
