"""Creating a backup: refused cases, what it holds, and what it leaves alone."""

import fcntl
import os
import stat

import apsw
import pytest
from codeflow_backup import creating, home, partial, verifying
from codeflow_backup.errors import (
    DamagedError,
    HomeInUseError,
    MissingError,
    StandsError,
    UnusableError,
)
from codeflow_backup.keys import passphrase
from codeflow_backup.progress import unwatched
from codeflow_backup.verifying import Level

from .acting import NEEDLE, OTHER_SECRET, SECRET, empty_an_index


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def shelf(tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("taken", ["file", "dangling link", "folder"])
def test_what_has_the_name_already_is_never_replaced(place, shelf, taken):
    target = shelf / "b.cfmb"
    match taken:
        case "file":
            target.write_text("mine")
        case "dangling link":
            target.symlink_to(shelf / "nowhere")
        case _:
            target.mkdir()

    with pytest.raises(StandsError):
        place.back_up(target)

    assert left(shelf) == ["b.cfmb"]
    assert taken != "file" or target.read_text() == "mine"


def test_what_comes_under_the_name_meanwhile_is_not_replaced_either(place, shelf):
    target = shelf / "b.cfmb"

    def watch(label, _done, _total):
        if label == "verifying":
            target.write_text("mine")

    with pytest.raises(StandsError):
        creating.create(home.Home(place.home), target, [SECRET], watch)

    assert (left(shelf), target.read_text()) == (["b.cfmb"], "mine")


def test_a_missing_folder_home_or_tenant_is_not_found_and_not_made(place, shelf, empty):
    for act in (
        lambda: place.back_up(shelf / "no" / "b.cfmb"),
        lambda: empty.back_up(shelf / "b.cfmb"),
        lambda: place.back_up(shelf / "b.cfmb", "absent"),
        lambda: place.back_up(shelf / "b.cfmb", "../birch"),
    ):
        with pytest.raises(MissingError):
            act()

    assert left(shelf) == []
    assert not empty.home.exists()


def test_an_empty_home_has_nothing_to_back_up(empty, shelf):
    empty.home.mkdir(parents=True)

    with pytest.raises(MissingError):
        empty.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_home_that_is_held_alone_is_in_use(place, shelf):
    with (place.home / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        with pytest.raises(HomeInUseError):
            place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_a_file_of_another_journal_mode_beside_a_database_is_refused(place, shelf, ending):
    (place.home / f"memory.sqlite{ending}").write_bytes(b"")
    before = place.files()

    with pytest.raises(UnusableError, match=ending):
        place.back_up(shelf / "b.cfmb")

    assert (left(shelf), place.files()) == ([], before)


def test_a_journal_that_stays_is_refused(place, shelf):
    # As another journal mode leaves it: SQLite neither rolls it back nor removes it.
    (place.home / "memory.sqlite-journal").write_bytes(bytes(4096))

    with pytest.raises(UnusableError, match="journal"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_home_whose_tenants_are_in_a_database_server_is_refused(place, shelf):
    """What lies in it may be years old; without the address, or laid out, it is backed up."""
    configuration = place.home / "config.toml"
    configuration.write_text('[database]\nurl = "postgresql://codeflow@/memory"\n')

    with pytest.raises(UnusableError, match="backup create"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []
    configuration.write_text("[database]\n")
    assert place.back_up(shelf / "b.cfmb").bytes > 0


def test_a_database_of_another_program_is_refused_and_not_changed(place, shelf):
    path = place.home / "memory.sqlite"
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    connection.close()
    before = place.files()

    with pytest.raises(UnusableError, match="another application"):
        place.back_up(shelf / "b.cfmb")

    assert place.files() == before


def change(place, sql):
    connection = apsw.Connection(str(place.home / "memory.sqlite"))
    for _ in connection.execute(sql):
        pass
    connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX mine ON audit (at)",
        "CREATE TABLE mine (a)",
        "CREATE VIEW mine AS SELECT 1",
        "CREATE TRIGGER mine AFTER INSERT ON audit BEGIN SELECT 1; END",
        "DROP INDEX jobs_due",
        "PRAGMA user_version = 99",
        "UPDATE store SET tenant = 'birch'",
        "DELETE FROM store",
    ],
)
def test_a_database_that_a_restore_would_refuse_is_not_backed_up(place, shelf, sql):
    change(place, sql)

    with pytest.raises(UnusableError):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_damaged_database_is_not_backed_up(place, shelf):
    path = place.home / "memory.sqlite"
    raw = bytearray(path.read_bytes())
    page = 4096 * 3
    raw[page : page + 64] = bytes(64)
    path.write_bytes(raw)

    with pytest.raises((DamagedError, UnusableError)):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


@pytest.mark.parametrize("name", ["memory.sqlite", "tenants/birch/memory.sqlite"])
def test_from_before_the_first_is_read_no_change_can_begin_in_any_database(place, shelf, name):
    refused = []

    def watch(label, _done, _total):
        connection = apsw.Connection(str(place.home / name))
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            refused.append(label)
        finally:
            connection.close()

    creating.create(home.Home(place.home), shelf / "b.cfmb", [SECRET], watch)

    assert refused[0] == "checking"
    assert set(refused) == {"checking", "writing"}


def test_a_file_that_changes_between_the_passes_is_not_backed_up(place, shelf):
    (place.home / "config.toml").write_text("# mine\n")

    def watch(label, _done, _total):
        if label == "writing":
            (place.home / "config.toml").write_text("# more\n")

    with pytest.raises(HomeInUseError, match=r"config\.toml changed"):
        creating.create(home.Home(place.home), shelf / "b.cfmb", [SECRET], watch)

    assert left(shelf) == []


@pytest.mark.parametrize("gives_back", ["another backup", "damage"])
def test_what_the_disk_does_not_give_back_gets_no_name(
    place, shelf, tmp_path, monkeypatch, gives_back
):
    """Of another backup under the same key each chunk is authentic: what is in it is compared."""
    place.back_up(tmp_path / "other.cfmb", "birch")
    other = (tmp_path / "other.cfmb").read_bytes()
    changed = other if gives_back == "another backup" else other[:-1] + bytes([other[-1] ^ 1])
    sync = os.fsync

    def fsync(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.pwrite(descriptor, changed, 0)
            os.truncate(descriptor, len(changed))
        sync(descriptor)

    monkeypatch.setattr(creating.os, "fsync", fsync)
    with pytest.raises(DamagedError):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_database_whose_index_lost_its_rows_is_not_backed_up(place, shelf):
    """All rows are there and read well: only SQLite's own check of the structure sees it."""
    empty_an_index(place.home / "memory.sqlite")

    with pytest.raises(DamagedError, match="structure"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_home_in_which_a_restore_was_cut_off_is_not_backed_up(place, shelf, backup):
    place.restore(backup, replace=True)
    marker = place.home / "restore.json"
    marker.write_text(marker.read_text().replace('"placed"', '"swapping"'))

    with pytest.raises(HomeInUseError, match="cut off"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_disk_that_is_full_gets_no_backup(place, shelf, full_disk):
    # Else the home's own files, which the lock does not make, could not grow either.
    place.back_up(shelf / "first.cfmb")

    with full_disk, pytest.raises(OSError, match="large"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == ["first.cfmb"]


def test_it_holds_every_tenant_the_key_and_the_configuration_and_nothing_else(place, shelf):
    (place.home / "config.toml").write_text("# mine\n")
    (place.home / "token").write_text("cfm_local_secret")
    (place.home / "ballast").write_bytes(b"ballast")
    (place.home / "memory.audit").write_bytes(b"checkpoints")

    made = place.back_up(shelf / "b.cfmb")

    assert [file.name for file in made.manifest.files] == [
        "memory.sqlite",
        "tenants/birch/memory.sqlite",
        "key",
        "config.toml",
    ]


def test_a_configuration_elsewhere_is_not_followed(place, shelf, tmp_path):
    (tmp_path / "mine.toml").write_text("# mine\n")
    (place.home / "config.toml").symlink_to(tmp_path / "mine.toml")

    made = place.back_up(shelf / "b.cfmb")

    assert "config.toml" not in [file.name for file in made.manifest.files]


def test_of_one_tenant_it_holds_that_tenant_and_the_key(place, shelf):
    made = place.back_up(shelf / "b.cfmb", "birch")

    assert [file.name for file in made.manifest.files] == ["tenants/birch/memory.sqlite", "key"]


def test_a_document_that_was_never_imported_is_backed_up_as_it_is(empty, shelf):
    empty.home.mkdir(parents=True)
    (empty.home / "memory.json").write_text('{"odd": 1}')

    made = empty.back_up(shelf / "b.cfmb")

    assert [file.name for file in made.manifest.files] == ["memory.json"]
    assert left(empty.home) == ["lock", "memory.json", "operations.json"]
    assert (empty.home / "memory.json").read_text() == '{"odd": 1}'


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_whatever_the_umask_only_its_owner_may_read_it(place, shelf, umask):
    before = os.umask(umask)
    try:
        place.back_up(shelf / "b.cfmb")
    finally:
        os.umask(before)

    assert stat.S_IMODE((shelf / "b.cfmb").stat().st_mode) == 0o600
    assert left(shelf) == ["b.cfmb"]


def test_nothing_of_a_memory_stands_in_the_file(place, shelf):
    place.back_up(shelf / "b.cfmb")

    raw = (shelf / "b.cfmb").read_bytes()
    assert NEEDLE.encode() not in raw
    assert b"SQLite format 3" not in raw
    assert (place.home / "key").read_bytes() not in raw


def test_the_home_is_not_changed_by_its_backup(place, shelf):
    before = place.files()

    place.back_up(shelf / "b.cfmb")

    after = place.files()
    assert set(after) - set(before) == {"operations.json"}
    assert all(after[name] == content for name, content in before.items())


def test_the_home_says_when_it_was_backed_up_and_keeps_what_else_it_says(place, shelf):
    (place.home / "operations.json").write_text('{"last_drill": {"at": "x"}, "last_backup": 1}')

    made = place.back_up(shelf / "b.cfmb")

    with place.started():
        found = verifying.verify(shelf / "b.cfmb", [], None, unwatched)
    text = (place.home / "operations.json").read_text()
    assert '"last_drill": {"at": "x"}' in text
    assert f'"file": "b.cfmb", "backup_id": "{made.core.backup_id}"' in text
    assert found.core == made.core


def test_each_of_several_keys_opens_it(place, shelf):
    words = passphrase(b"a few words of mine")
    creating.create(
        home.Home(place.home), shelf / "b.cfmb", [SECRET, words, OTHER_SECRET], unwatched
    )

    for secret in (SECRET, words, OTHER_SECRET):
        found = verifying.verify(shelf / "b.cfmb", [secret], Level.CHUNKS, unwatched)
        assert found.level is Level.CHUNKS


def test_what_a_killed_backup_left_is_taken_away_by_the_next_and_a_live_one_is_not(place, shelf):
    dead, alive = shelf / f"{partial.PARTIAL}dead", shelf / f"{partial.PARTIAL}alive"
    dead.write_bytes(b"half")
    with alive.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == [alive.name, "b.cfmb"]


@pytest.mark.parametrize("name", ["key", "memory.json"])
def test_a_home_whose_key_or_document_is_a_link_is_refused_and_not_backed_up_without(
    place, shelf, name
):
    (place.home / name).unlink(missing_ok=True)
    (place.home / name).symlink_to(shelf / "elsewhere")

    with pytest.raises(UnusableError, match=f"^{name} is no regular file"):
        place.back_up(shelf / "b.cfmb")

    assert left(shelf) == []


def test_a_note_of_the_home_that_nests_too_deep_is_replaced(place, shelf):
    (place.home / "operations.json").write_text("[" * 60_000)

    place.back_up(shelf / "b.cfmb")

    assert "last_backup" in (place.home / "operations.json").read_text()


def test_a_name_that_no_file_can_have_is_refused_before_anything_is_read(place, shelf):
    with pytest.raises(UnusableError, match="cannot have that name: File name too long"):
        place.back_up(shelf / ("x" * 300))
