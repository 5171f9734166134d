"""Restoring: refused cases, what comes back, and what becomes of what stood there."""

import os
import shutil
import stat
import tempfile
from pathlib import Path
from random import Random

import apsw
import pytest
from codeflow_backup import home as homes
from codeflow_backup import restoring, staging
from codeflow_backup.errors import (
    DamagedError,
    HomeInUseError,
    MissingError,
    NoRoomError,
    OlderGenerationError,
    OtherInstanceError,
    StandsError,
    UnusableError,
    WrongKeyError,
)

from codeflow_memory.services import rekeying

from ...faults.power.survey import opened
from .acting import NEEDLE, OTHER_SECRET, SECRET, Place

LEFT = {"lock", "server"}


def marks(place):
    """What a restore leaves, or would leave, in the home."""
    return [path.name for path in place.home.iterdir() if path.name.startswith((".", "restore"))]


def change(place, tenant="local"):
    """Let a tenant see one change more."""
    with place.started() as tenants:
        rekeying.run(tenants.get(tenant))


def test_a_home_that_holds_a_store_is_not_replaced_unasked(place, backup):
    before = place.files()

    with pytest.raises(StandsError, match="--replace"):
        place.restore(backup)

    assert place.files() == before


def test_a_home_that_is_used_or_served_is_refused(place, backup):
    before = place.files()
    with place.started(), pytest.raises(HomeInUseError):
        place.restore(backup, replace=True)
    with homes.Home(place.home)._locked("server", 6, ""), pytest.raises(HomeInUseError):
        place.restore(backup, replace=True)

    assert place.files() == before


@pytest.mark.parametrize("tenant", ["local", "birch"])
def test_a_database_that_a_program_without_our_locks_holds_is_refused(place, backup, tenant):
    with opened(place.home / homes.place_of(tenant).name) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(HomeInUseError):
            place.restore(backup, replace=True)
        connection.execute("ROLLBACK; BEGIN")
        connection.execute("SELECT COUNT(*) FROM audit").fetchall()
        with pytest.raises(HomeInUseError):
            place.restore(backup, replace=True)

    assert marks(place) == []


def test_a_damaged_database_that_somebody_holds_is_refused_too(place, backup):
    path = place.home / "memory.sqlite"
    path.write_bytes(b"no database" * 10_000)
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB, 0])
    file.xLock(apsw.SQLITE_LOCK_SHARED)

    with pytest.raises(HomeInUseError):
        place.restore(backup, replace=True)

    file.xUnlock(apsw.SQLITE_LOCK_NONE)
    file.xClose()
    place.restore(backup, replace=True)
    assert place.rows()["audit"]


def test_another_stores_home_is_refused_unless_it_is_said(place, backup, tmp_path, clock):
    other = Place(tmp_path / "other", clock)
    shutil.copytree(place.home, other.home)
    for name in ("memory.sqlite", "tenants/birch/memory.sqlite"):
        (other.home / name).unlink()
    with other.started() as made:
        made.create("local")
    (other.home / "memory.audit").write_bytes(b"checkpoints of another store")
    before = other.files()

    with pytest.raises(OtherInstanceError, match="--replace"):
        other.restore(backup)

    assert other.files() == before
    done = other.restore(backup, replace=True)
    assert other.rows() == place.rows()
    kept = sorted(p.name for p in (other.home / done.undo).iterdir())
    assert kept == ["memory.audit", "memory.sqlite"]
    assert not (other.home / "memory.audit").exists()


def test_a_tenant_of_another_home_is_refused_unless_it_is_said(place, tmp_path, clock):
    target = tmp_path / "t.cfmb"
    place.back_up(target, "birch")
    other = Place(tmp_path / "other", clock)
    other.home.mkdir()
    with other.started() as made:
        made.create("local")

    with pytest.raises(OtherInstanceError):
        other.restore(target)

    key = (other.home / "key").read_bytes()
    other.restore(target, replace=True)
    assert (other.home / "key").read_bytes() == key
    with other.started() as tenants:
        assert tenants.slugs() == ["local", "birch"]
        assert tenants.get("birch").tenant == "birch"


def test_a_store_that_changed_since_is_refused_unless_it_is_said(place, backup):
    change(place)
    before = place.files()

    with pytest.raises(OlderGenerationError, match=r"1 changes.*--replace"):
        place.restore(backup)

    assert place.files() == before
    place.restore(backup, replace=True)
    assert marks(place) == ["restore.json"]


def test_a_store_that_was_restored_since_is_newer_whatever_it_has_seen(place, backup, tmp_path):
    change(place)
    later = tmp_path / "later.cfmb"
    place.back_up(later)
    place.restore(backup, replace=True)
    place.settle()

    with pytest.raises(OlderGenerationError):
        place.restore(later)


def test_a_document_that_a_database_has_taken_the_place_of_is_older(place, tmp_path, clock):
    before = Place(tmp_path / "before", clock)
    before.home.mkdir()
    (before.home / "memory.json").write_text("{}")
    shutil.copy(place.home / "key", before.home / "key")
    target = tmp_path / "d.cfmb"
    before.back_up(target)

    with pytest.raises(OlderGenerationError):
        place.restore(target)

    done = place.restore(target, replace=True)
    assert done.places == ("memory.json",)
    assert not (place.home / "memory.sqlite").exists()


def test_a_wrong_key_leaves_no_home(empty, backup):
    with pytest.raises(WrongKeyError):
        empty.restore(backup, OTHER_SECRET)

    assert not empty.home.exists()


def test_what_is_no_backup_leaves_no_home(empty, tmp_path):
    with pytest.raises(MissingError):
        empty.restore(tmp_path / "absent")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(DamagedError):
        empty.restore(tmp_path / "text")

    assert not empty.home.exists()


def test_a_folder_in_a_files_place_is_refused(place, backup):
    (place.home / "memory.json").mkdir()

    with pytest.raises(UnusableError):
        place.restore(backup, replace=True)


def test_without_room_nothing_is_decrypted(place, backup, monkeypatch):
    class Full:
        f_bavail, f_frsize = 1, 4096

    monkeypatch.setattr(staging.os, "statvfs", lambda _: Full)

    with pytest.raises(NoRoomError):
        place.restore(backup, replace=True)

    assert marks(place) == []


def test_a_home_whose_files_cannot_be_swapped_is_refused_before_anything_is(
    place, backup, monkeypatch
):
    before = place.files()

    def link(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(UnusableError, match="second name"):
        place.restore(backup, replace=True)

    assert place.files() == before
    monkeypatch.undo()
    there = Path("/dev/shm")  # noqa: S108 - only asked which disk it is
    if there.is_dir() and there.stat().st_dev != place.home.stat().st_dev:
        with tempfile.TemporaryDirectory(dir=there) as elsewhere:
            shutil.move(place.home / "tenants", elsewhere)
            (place.home / "tenants").symlink_to(f"{elsewhere}/tenants")
            with pytest.raises(UnusableError, match="another disk"):
                place.restore(backup, replace=True)


def tampered(raw, chance):
    """Yield changes of a container that only show once its chunks are read, and some others."""
    for _ in range(12):
        at = chance.randrange(900, len(raw))
        yield raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :]
    size = 65_536 + 16
    body = len(raw) % size
    yield raw[:-1]
    yield raw + b"\0"
    yield raw[:-size]
    yield raw[: body + size] + raw[body + 2 * size :]
    second, third = raw[body + size : body + 2 * size], raw[body + 2 * size : body + 3 * size]
    yield raw[: body + size] + third + second + raw[body + 3 * size :]


def test_of_a_tampered_backup_no_plaintext_is_left(place, backup, empty, tmp_path):
    raw = backup.read_bytes()
    before = place.files()
    chance = Random(20)  # noqa: S311 - reproducible damage
    found = list(tampered(raw, chance))
    for number, changed in enumerate(found):
        path = tmp_path / f"t{number}"
        path.write_bytes(changed)
        for home in (place, empty):
            with pytest.raises(DamagedError):
                home.restore(path, replace=True)
        assert {p.name for p in empty.home.rglob("*")} <= LEFT

    assert len(found) == 17
    assert place.files() == before


def test_a_backup_comes_back_byte_for_byte_into_a_home_that_was_not_there(place, backup, empty):
    before = place.files()

    done = empty.restore(backup)

    assert done.places == ("memory.sqlite", "tenants/birch/memory.sqlite", "key")
    after = empty.files()
    assert after.pop("restore.json")
    assert after == {k: v for k, v in before.items() if k != "operations.json"}


def test_what_it_makes_is_its_owners_alone(place, backup, empty):
    before = os.umask(0)
    try:
        empty.restore(backup)
        place.restore(backup, replace=True)
    finally:
        os.umask(before)

    for home in (empty.home, place.home):
        for path in (home, *home.rglob("*")):
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


def test_the_whole_set_goes_to_the_undo_folder(place, backup):
    for name in (
        "memory.json",
        "memory.json.pre-sqlite",
        "memory.json.123.tmp",
        ".memory.sqlite.import",
        "memory.schema-1.sqlite",
        "tenants/birch/.memory.sqlite.0011",
    ):
        (place.home / name).write_text(f"content of {name}")
    for name in ("memory.audit", "token", "config.toml", "ballast"):
        (place.home / name).write_text("stays")
    before = place.files()

    done = place.restore(backup, replace=True)

    undo = place.home / done.undo
    moved = {p.relative_to(undo).as_posix(): p.read_bytes() for p in undo.rglob("*") if p.is_file()}
    stays = {"key", "memory.audit", "token", "config.toml", "ballast", "operations.json"}
    assert moved == {name: content for name, content in before.items() if name not in stays}
    after = place.files()
    assert all(after[name] == before[name] for name in stays)
    assert not (place.home / "memory.json").exists()


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_stale_file_beside_the_database_cannot_undo_a_restore(place, backup, ending):
    expected = place.rows()
    with opened(place.home / "memory.sqlite") as connection:
        connection.execute("PRAGMA cache_size = 5; BEGIN; DELETE FROM memory_terms")
        connection.execute("UPDATE audit SET reason = 'x'; UPDATE receipts SET outcome = 'x'")
        connection.cache_flush()
        journal = (place.home / "memory.sqlite-journal").read_bytes()
        half = (place.home / "memory.sqlite").read_bytes()
        connection.execute("ROLLBACK")
    assert len(journal) > 512
    # As of an older state: what it would put back is not what the backup holds.
    (place.home / "memory.sqlite").write_bytes(half)
    (place.home / f"memory.sqlite{ending}").write_bytes(journal)

    place.restore(backup, replace=True)

    assert not (place.home / f"memory.sqlite{ending}").exists()
    assert place.rows() == expected


def test_a_tenants_backup_replaces_that_tenant_alone(place, tmp_path):
    target = tmp_path / "t.cfmb"
    place.back_up(target, "birch")
    change(place)
    before = place.files()

    done = place.restore(target, replace=True)

    assert done.places == ("tenants/birch/memory.sqlite",)
    after = place.files()
    assert after["memory.sqlite"] == before["memory.sqlite"]
    assert after["key"] == before["key"]


def test_tenants_that_the_backup_does_not_have_stay(place, backup):
    with place.started() as tenants:
        tenants.create("larch")

    place.restore(backup, replace=True)

    with place.started() as tenants:
        assert tenants.slugs() == ["local", "birch", "larch"]
        assert tenants.get("larch").tenant == "larch"


def test_the_configuration_comes_back_only_where_there_is_none(place, empty, tmp_path):
    (place.home / "config.toml").write_text("# of the backup\n")
    target = tmp_path / "c.cfmb"
    place.back_up(target)
    (place.home / "config.toml").write_text("# newer\n")

    place.restore(target, replace=True)
    empty.restore(target)

    assert (place.home / "config.toml").read_text() == "# newer\n"
    assert (empty.home / "config.toml").read_text() == "# of the backup\n"


def test_a_damaged_home_is_replaced_when_its_key_says_that_it_is_the_same(place, backup):
    expected = place.rows()
    (place.home / "memory.sqlite").write_bytes(b"no database")

    place.restore(backup, replace=True)

    assert place.rows() == expected


def test_a_damaged_home_with_another_key_is_refused(place, backup):
    (place.home / "memory.sqlite").write_bytes(b"no database")
    (place.home / "tenants" / "birch" / "memory.sqlite").write_bytes(b"no database")
    (place.home / "key").write_bytes(bytes(32))

    with pytest.raises(OtherInstanceError):
        place.restore(backup)

    done = place.restore(backup, replace=True)
    assert (place.home / done.undo / "key").read_bytes() == bytes(32)
    assert (place.home / "key").read_bytes() != bytes(32)


def test_the_same_backup_twice_is_done_once(empty, backup):
    first, second = empty.restore(backup), empty.restore(backup)

    assert (first.resumed, second.resumed) == (False, True)
    assert [p.name for p in empty.home.glob("undo-*")] == []


def test_what_was_damaged_after_a_restore_is_restored_again(empty, backup):
    empty.restore(backup)
    path = empty.home / "memory.sqlite"
    path.write_bytes(path.read_bytes()[:-1] + b"\1")

    done = empty.restore(backup, replace=True)

    assert not done.resumed
    assert NEEDLE in repr(empty.rows()["memories"])


def test_two_restores_before_a_start_begin_the_later_epoch(place, backup, tmp_path):
    place.restore(backup, replace=True)
    again = tmp_path / "again.cfmb"
    place.back_up(again)
    place.restore(again, replace=True)
    place.settle()

    assert place.rows()["store"][0][4] == 2


def test_progress_is_told_in_order(place, backup):
    told = []

    def watch(label, done, total):
        assert 0 <= done <= total
        told.append(label)

    restoring.restore(backup, homes.Home(place.home), [SECRET], watch, replace=True)

    assert list(dict.fromkeys(told)) == ["decrypting", "checking"]


def test_what_was_replaced_is_put_back_by_hand_as_the_guide_says(place, backup):
    with place.started() as tenants:
        rekeying.run(tenants.get("birch"))
    before = {tenant: place.rows(tenant) for tenant in ("local", "birch")}
    done = place.restore(backup, replace=True)
    undo = place.home / done.undo

    for path in (place.home / "memory.sqlite", *place.home.glob("tenants/*/memory.sqlite")):
        path.unlink()
    for path in [path for path in undo.rglob("*") if path.is_file()]:
        path.rename(place.home / path.relative_to(undo))
    (place.home / "restore.json").unlink()

    with place.started() as tenants:
        assert tenants.get("birch").tenant == "birch"
    assert {tenant: place.rows(tenant) for tenant in ("local", "birch")} == before
