"""Checkpoints of the audit: nothing of a chain, nor of the lines about it, goes unseen."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import pytest

from codeflow_memory.adapters.secrets import TenantKeys
from codeflow_memory.domain.checkpoint import first_disagreement, parse, parse_lines, sign
from codeflow_memory.domain.errors import BusyError, StoreUnusableError
from codeflow_memory.services import checkpoints
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import audit
from codeflow_memory.storage import checkpoints as files
from codeflow_memory.storage.home import Home

from ..kept import Kept
from ..remains import IN_DATABASE

COLUMNS = ("at", "item", "hash")
"""Of every row; `test_audit` changes the others too."""

_NAMES = ("sequence", "epoch", *audit._FIELDS, "previous_hash", "hash")
AUDIT = ", ".join(_NAMES)
PLACES = ", ".join(f":{name}" for name in _NAMES)


@dataclass
class Scene:
    """A home whose audit has checkpoints, as it was after each of them, and a copy to spoil."""

    kept: Kept
    clock: object
    home: Home

    def put_back(self, name: str) -> None:
        """Let the database be as it was after a checkpoint, the rows after that too."""
        self.kept.put_back(name, self.home)

    @property
    def file(self) -> Path:
        return self.home.path / files.FILE

    @property
    def key(self) -> Path:
        return self.home.path / "key"

    def opened(self) -> Tenants:
        return Tenants(self.home, now=self.clock, rekeying=True)

    def run(self, work):
        tenants = self.opened()
        try:
            return work(tenants.get("local"))
        finally:
            tenants.close()

    def sql(self, *statements: str) -> None:
        def work(store):
            with store.engine.write() as tx:
                for statement in statements:
                    tx.execute(statement)

        self.run(work)

    @contextmanager
    def spoiled(self, store, *statements: str):
        """Change rows of the audit, and the counters, for the time of the block."""
        with store.engine.write() as tx:
            kept = tx.rows(f"SELECT {AUDIT} FROM audit ORDER BY sequence")  # noqa: S608 - our names
            counters = tx.row("SELECT audit_count, audit_head FROM store")
            for statement in statements:
                tx.execute(statement)
        yield
        with store.engine.write() as tx:
            tx.execute("DELETE FROM audit")
            tx.executemany(f"INSERT INTO audit ({AUDIT}) VALUES ({PLACES})", kept)  # noqa: S608 - as above
            tx.execute(
                "UPDATE store SET audit_count = :count, audit_head = :head",
                dict(zip(("count", "head"), counters, strict=True)),
            )

    def verify(self) -> checkpoints.Report:
        return self.run(checkpoints.verify)

    def lines(self) -> list[bytes]:
        return self.file.read_bytes().splitlines(keepends=True)


@pytest.fixture(scope="module")
def kept(shared_world, tmp_path_factory, new_kept):
    """The home after each of three checkpoints; each time two rows came after it."""
    made, world = new_kept(tmp_path_factory.mktemp("kept")), shared_world
    for number in (1, 2, 3):
        world.project(f"project-{number}")
        assert checkpoints.write(world.store)
        world.person(f"person-{number}")
        world.tenants.close()
        made.keep(world.tenants.home, str(number))
    return made


@pytest.fixture
def scene(kept, tmp_path, server, clock):
    clock.at = 4_000_000_000_000_000
    made = Scene(kept, clock, Home(tmp_path / "laid", server))
    kept.lay("3", made.home)
    return made


def test_what_nobody_touched_is_sound_and_says_how_many_rows_are_younger(scene):
    report = scene.verify()

    assert report.sound
    assert (report.checkpoints, report.torn) == (3, False)
    assert 0 < report.rows_since < report.rows


def test_a_line_holds_numbers_and_hashes_and_nothing_else(scene):
    for line in scene.lines():
        values = json.loads(line)
        assert values.keys() == {
            *("number", "at", "count", "head", "audit_epoch", "restore_epoch"),
            *("previous", "signature"),
        }
        texts = [value for value in values.values() if isinstance(value, str) and value]
        assert all(set(text) <= set("0123456789abcdef") for text in texts)
    assert scene.file.stat().st_mode & 0o777 == 0o600


def test_nothing_new_makes_no_checkpoint_however_often_one_is_asked_for(scene):
    assert scene.run(checkpoints.write)
    before = scene.file.read_bytes()

    assert [scene.run(checkpoints.write) for _ in range(3)] == [False] * 3
    assert scene.file.read_bytes() == before
    assert scene.verify().rows_since == 0


# --- The sweep of the database


def test_every_change_of_every_row_is_found(scene):

    def change(store):
        rows = checkpoints.verify(store).rows
        for sequence in range(1, rows + 1):
            for column in COLUMNS:
                changed = f"UPDATE audit SET {column} = '77' WHERE sequence = {sequence}"  # noqa: S608 - ours
                with scene.spoiled(store, changed):
                    assert not checkpoints.verify(store).sound, (sequence, column)

    scene.run(change)
    assert scene.verify().sound


def test_every_row_that_is_dropped_or_swapped_is_found(scene):
    def change(store):
        for sequence in range(1, checkpoints.verify(store).rows):
            with scene.spoiled(store, f"DELETE FROM audit WHERE sequence = {sequence}"):  # noqa: S608 - ours
                assert not checkpoints.verify(store).sound, sequence
            swapped = (
                f"UPDATE audit SET sequence = {new} WHERE sequence = {old}"  # noqa: S608 - ours
                for old, new in ((sequence, 9_999), (sequence + 1, sequence), (9_999, sequence + 1))
            )
            with scene.spoiled(store, *swapped):
                assert not checkpoints.verify(store).sound, sequence

    scene.run(change)
    assert scene.verify().sound


def cut(count):
    """Return what cuts the chain to *count* rows, and makes the counters agree with that."""
    return (
        f"DELETE FROM audit WHERE sequence > {count}",  # noqa: S608 - a number of ours
        (
            f"UPDATE store SET audit_count = {count},"  # noqa: S608 - as above
            f" audit_head = (SELECT hash FROM audit WHERE sequence = {count})"
        ),
    )


def test_every_cut_of_rows_that_a_checkpoint_saw_is_found_and_its_rows_named(scene):
    """The count in the store is cut too: the chain alone looks whole."""
    scene.run(checkpoints.write)
    signed = parse(scene.lines()[-1][:-1]).count

    def change(store):
        for count in range(1, signed):
            with scene.spoiled(store, *cut(count)):
                report = checkpoints.verify(store)
                assert report.broken is None
                assert report.disagreement is not None, count
        return report

    report = scene.run(change)
    assert "missing" in report.disagreement.detail
    assert f"{signed}" in report.disagreement.detail


def test_rows_younger_than_the_last_checkpoint_are_those_whose_cut_stays_unseen(scene):
    """What a checkpoint is for; so `audit verify` says how many there are."""
    whole = scene.verify()

    scene.sql(*cut(whole.rows - whole.rows_since))

    assert scene.verify().rows_since == 0
    assert scene.verify().sound


@pytest.mark.parametrize("number", [1, 2])
def test_a_database_that_was_put_back_is_found_and_stays_found(scene, number):
    scene.put_back(str(number))

    found = scene.verify().disagreement

    assert found is not None
    assert (found.number, "missing from the database" in found.detail) == (number + 1, True)
    assert not scene.run(checkpoints.write)
    grown(scene)
    assert "is not the one that the checkpoint saw" in scene.verify().disagreement.detail


def grown(scene):
    """Let rows come until there are more than every checkpoint saw, and one more checkpoint."""

    def work(store):
        with store.engine.write() as tx:
            for number in range(40):
                entry = audit.Entry(number, "prn_1", "user", "bat_1", "create", "mem_1")
                audit.append(tx, entry, store.keys.audit_hash)
        assert checkpoints.write(store)

    scene.run(work)


# --- The sweep of the file


def test_every_flip_of_every_bit_of_the_file_is_found(scene):
    data = scene.file.read_bytes()

    def compare(store):
        with store.engine.read() as tx:
            chain = files.chain(tx, parse_lines(BytesIO(data)), store.home.place())

        def signed(line):
            return store.keys.checkpoint_signature(line.unsigned()) == line.signature

        def found(spoiled):
            return first_disagreement(parse_lines(BytesIO(spoiled)), chain, signed)

        assert found(data) is None
        flips = [(place, bit) for place in range(len(data)) for bit in range(8)]
        return [flip for flip in flips if found(flipped(data, *flip)) is None]

    assert scene.run(compare) == []


def flipped(data: bytes, place: int, bit: int) -> bytes:
    spoiled = bytearray(data)
    spoiled[place] ^= 1 << bit
    return bytes(spoiled)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_changed_line_is_named_even_when_the_rest_is_chained_anew(scene, number):
    """Whoever has no key can make digests, but no signature and no mark."""
    lines = [parse(line[:-1]) for line in scene.lines()]
    lines[number - 1] = replace(lines[number - 1], at=1)
    previous = ""
    for place, line in enumerate(lines):
        lines[place] = replace(line, previous=previous)
        previous = lines[place].digest()
    scene.file.write_bytes(b"".join(line.line() + b"\n" for line in lines))

    found = scene.verify().disagreement

    assert (found.number, found.detail) == (number, "the checkpoint was changed")


def test_another_home_s_key_signs_nothing_here(scene):
    *lines, last = scene.lines()
    other = TenantKeys(b"o" * 32, "instance")
    forged = parse(last[:-1])
    forged = sign(forged, other.checkpoint_signature(forged.unsigned()))
    scene.file.write_bytes(b"".join([*lines, forged.line() + b"\n"]))

    assert scene.verify().disagreement.number == len(lines) + 1


def test_dropped_swapped_and_doubled_lines_are_named(scene):
    one, two, three = scene.lines()
    for lines, number in (
        ((two, three), 1),
        ((one, three), 2),
        ((one, two), 3),
        ((one,), 2),
        ((), 1),
        ((two, one, three), 1),
        ((one, three, two), 2),
        ((one, one, two, three), 2),
        ((one, two, three, three), 4),
        ((one, b"\n", two, three), 2),
    ):
        scene.file.write_bytes(b"".join(lines))
        assert scene.verify().disagreement.number == number, lines


def test_a_file_that_is_gone_or_older_is_not_passed_off_as_sound(scene):
    scene.file.unlink()
    found = scene.verify().disagreement
    assert (found.number, found.detail) == (1, "the file is missing")

    shutil.copy(scene.kept.file("1", files.FILE), scene.file)
    found = scene.verify().disagreement
    assert (found.number, found.detail) == (2, "the checkpoint is missing")


def test_a_file_that_begins_anew_after_it_was_taken_away_does_not_stand_in(scene):
    scene.file.unlink()

    assert scene.run(checkpoints.write)

    assert scene.verify().disagreement.number == 1


def test_a_database_of_before_checkpoints_has_none_and_is_sound(world):
    report = checkpoints.verify(world.store)

    assert (report.sound, report.checkpoints, report.last_at) == (True, 0, None)
    assert report.rows_since == report.rows


def test_what_has_the_files_name_and_is_no_file_is_refused_without_waiting(scene):
    scene.file.unlink()
    os.mkfifo(scene.file)
    with pytest.raises(StoreUnusableError):
        scene.verify()
    scene.file.unlink()
    scene.file.symlink_to(scene.key)

    with pytest.raises(StoreUnusableError):
        scene.verify()


# --- Power loss


def test_an_append_that_a_power_loss_cut_is_said_and_accuses_nobody(scene):
    data = scene.file.read_bytes()
    scene.run(checkpoints.write)
    whole = scene.file.read_bytes()
    last = whole[len(data) :]
    scene.put_back("3")
    for length in {1, 2, *range(3, len(last), 17), len(last) - 1}:
        scene.file.write_bytes(data + last[:length])

        report = scene.verify()

        assert (report.sound, report.torn, report.checkpoints) == (True, True, 3), length


@pytest.mark.parametrize("torn", [b"x", b'{"at":1', bytes(300), b"[" * 999])
def test_the_next_checkpoint_takes_the_place_of_a_torn_one(scene, torn):
    data = scene.file.read_bytes()
    scene.file.write_bytes(data + torn)

    assert scene.run(checkpoints.write)

    assert scene.file.read_bytes().startswith(data + b'{"at":')
    report = scene.verify()
    assert (report.sound, report.torn, report.checkpoints) == (True, False, 4)


def test_a_torn_first_line_is_replaced_too(world):
    path = files.file_of(world.tenants.home.database("local"))
    path.write_bytes(b'{"at":')
    assert checkpoints.verify(world.store).torn

    assert checkpoints.write(world.store)

    assert checkpoints.verify(world.store).checkpoints == 1
    assert checkpoints.verify(world.store).sound


def test_a_crash_between_line_and_mark_is_no_fault(scene, monkeypatch):
    def crash(*_):
        raise BusyError

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "_append", crash)
        with pytest.raises(BusyError):
            scene.run(checkpoints.write)

    assert scene.verify().sound
    assert scene.verify().checkpoints == 4
    assert not scene.run(checkpoints.write)
    grown(scene)
    assert scene.verify().sound


# --- Restores


def test_a_restored_database_is_not_accused_by_checkpoints_of_before(scene):
    scene.put_back("1")

    assert scene.run(checkpoints.record_restore) == 1

    assert scene.verify().sound
    assert scene.run(checkpoints.write)
    assert scene.verify().sound
    assert scene.verify().checkpoints == 4


def test_the_same_backup_put_back_twice_begins_two_epochs(scene):
    for epoch in (1, 2):
        scene.put_back("1")
        assert scene.run(checkpoints.record_restore) == epoch
        grown(scene)

    assert scene.verify().sound


def test_a_roll_back_after_a_restore_is_found_as_well(scene):
    scene.put_back("1")
    scene.run(checkpoints.record_restore)
    scene.kept.keep(scene.home, "restored")
    grown(scene)

    scene.put_back("restored")
    assert "missing from the database" in scene.verify().disagreement.detail

    scene.put_back("3")
    assert "without a restore" in scene.verify().disagreement.detail


def test_a_roll_back_is_not_passed_off_as_a_restore(scene):
    scene.put_back("1")
    scene.sql("UPDATE store SET restore_epoch = 1")

    found = scene.verify().disagreement

    assert (found.number, found.detail) == (
        None,
        "the restore epoch was changed without a restore",
    )


def test_into_an_empty_home_a_backup_comes_without_its_checkpoints(scene):
    scene.file.unlink()

    scene.run(checkpoints.record_restore)

    assert scene.verify().sound


# --- Keys


@pytest.fixture
def rekeyed(scene):
    """The scene under another home key, with a checkpoint of the new epoch."""
    scene.key.chmod(0o600)
    scene.key.write_bytes(b"k" * 32)
    assert scene.run(checkpoints.write)
    return scene


def test_under_another_key_the_file_goes_on(rekeyed):
    report = rekeyed.verify()

    assert (report.sound, report.checkpoints) == (True, 4)
    assert report.order_only > 0


def test_lines_of_an_earlier_key_are_held_by_the_later_ones(rekeyed):
    one, two, three, four = rekeyed.lines()
    changed = replace(parse(two[:-1]), at=1).line() + b"\n"
    for lines in (
        (one, changed, three, four),
        (one, three, four),
        (one, two, four),
        (one, two, three),
        (one, two, three, replace(parse(four[:-1]), at=1).line() + b"\n"),
    ):
        rekeyed.file.write_bytes(b"".join(lines))
        assert not rekeyed.verify().sound


def test_a_restore_of_before_the_change_of_keys_still_counts(scene):
    scene.put_back("1")
    scene.run(checkpoints.record_restore)
    scene.key.chmod(0o600)
    scene.key.write_bytes(b"k" * 32)

    assert scene.run(checkpoints.write)

    assert scene.verify().sound


def test_a_row_of_an_earlier_key_is_not_turned_into_a_restore(rekeyed):
    """Of those rows the order alone is checked: what they say excuses nobody."""
    rekeyed.sql(
        "UPDATE audit SET action = 'store.restore', item = '1' WHERE sequence = 2",
        "UPDATE store SET restore_epoch = 1",
    )

    assert rekeyed.verify().broken is None
    assert "without a restore" in rekeyed.verify().disagreement.detail


def test_a_line_of_an_earlier_key_still_tells_of_rows_that_are_gone(rekeyed):
    rekeyed.put_back("1")

    assert not rekeyed.verify().sound


def under(scene, key: bytes) -> None:
    """Give the home *key*, and let the audit go on under it."""
    scene.key.chmod(0o600)
    scene.key.write_bytes(key)
    grown(scene)


def test_a_key_that_was_lost_and_found_again_accuses_nobody(scene):
    found = scene.key.read_bytes()

    for key in (b"k" * 32, found, b"l" * 32, found):
        under(scene, key)
        assert scene.verify().disagreement is None

    assert scene.verify().sound


def test_a_backup_of_before_the_change_of_keys_brings_its_key_and_accuses_nobody(scene):
    first = scene.key.read_bytes()
    under(scene, b"k" * 32)

    scene.put_back("1")
    scene.key.write_bytes(first)
    scene.run(checkpoints.record_restore)

    assert scene.verify().sound
    grown(scene)
    assert scene.verify().sound


def test_a_backup_of_another_home_goes_on_in_this_ones_file(scene, tmp_path, new_server):
    other = Tenants(Home(tmp_path / "other", new_server()), now=scene.clock)
    other.home.make()
    other.create("local")
    other.close()

    scene.kept.keep(other.home, "other")
    scene.put_back("other")
    scene.key.unlink()
    shutil.copy(scene.kept.file("other", "key"), scene.key)
    scene.run(checkpoints.record_restore)

    assert scene.verify().sound
    grown(scene)
    assert scene.verify().sound


def test_beside_a_key_that_came_back_every_changed_line_is_still_found(scene):
    first = scene.key.read_bytes()
    for key in (b"k" * 32, first):
        under(scene, key)
    whole = scene.lines()
    assert len(whole) == 5

    for number in range(len(whole)):
        for change in ({"at": 1}, {"audit_epoch": 1}, {"audit_epoch": 2}, {"audit_epoch": 3}):
            line = parse(whole[number][:-1])
            changed = replace(line, **change).line() + b"\n"
            if changed != whole[number]:
                scene.file.write_bytes(b"".join([*whole[:number], changed, *whole[number + 1 :]]))
                assert not scene.verify().sound, (number, change)


def test_a_line_that_goes_back_to_an_earlier_key_is_none(rekeyed):
    last = parse(rekeyed.lines()[-1][:-1])
    older = parse(rekeyed.lines()[0][:-1])
    forged = replace(older, number=last.number + 1, previous=last.digest())

    rekeyed.file.write_bytes(rekeyed.file.read_bytes() + forged.line() + b"\n")

    assert rekeyed.verify().disagreement.number == last.number + 1


# --- What nobody would write

ITEM = "UPDATE audit SET item = '?' "


@pytest.mark.parametrize(
    "item", ["x", "", "0 a", "-9 a", "²  a", "1 ", "9" * 5000, "9" * 5000 + " a"]
)
def test_a_mark_that_is_none_is_named(scene, item):
    scene.sql(ITEM.replace("?", item) + "WHERE action = 'audit.checkpoint'")

    report = scene.verify()

    assert report.broken is not None
    assert report.disagreement.detail == "a mark in the database was changed"


@pytest.mark.parametrize("item", ["x", "9" * 5000, "²"])
def test_a_restore_that_is_none_is_found(scene, item):
    scene.sql(ITEM.replace("?", item) + ", action = 'store.restore' WHERE sequence = 2")

    assert "without a restore" in scene.verify().disagreement.detail


@pytest.mark.files
def test_a_text_that_is_none_is_a_damaged_file(scene):
    scene.sql("UPDATE audit SET reason = CAST(x'ff' AS TEXT) WHERE sequence = 2")

    with pytest.raises(StoreUnusableError, match="damaged"):
        scene.verify()


@pytest.mark.parametrize("behind", [b"", b"\n"])
def test_a_file_without_end_is_not_read_to_its_end(scene, behind):
    """A sparse one can claim more bytes than there is memory."""
    with scene.file.open("ab") as file:
        file.write(behind)
    os.truncate(scene.file, 1 << 36)

    found = scene.verify().disagreement

    assert (found.number, found.detail) == (4, "the checkpoint was changed")


# --- When


def test_every_so_many_rows_a_checkpoint_is_made_by_the_change_itself(world, cast, monkeypatch):
    assert checkpoints.EVERY_ROWS == 1_000
    monkeypatch.setattr(checkpoints, "EVERY_ROWS", 5)
    project = world.project()
    for _ in range(12):
        world.propose(cast.ann, project)

    report = checkpoints.verify(world.store)

    assert report.sound
    assert report.checkpoints >= 2
    assert report.rows_since < 5


def test_a_checkpoint_that_cannot_be_written_does_not_undo_the_change(
    world, cast, monkeypatch, caplog
):
    monkeypatch.setattr(checkpoints, "EVERY_ROWS", 1)
    project = world.project()
    path = files.file_of(world.tenants.home.database("local"))
    path.write_bytes(path.read_bytes() + b"no checkpoint\n")

    memory = world.propose(cast.ann, project)

    assert world.get(cast.ann, memory).memory == memory
    assert "memory.audit: its last line is no checkpoint" in caplog.text
    assert not checkpoints.verify(world.store).sound


def test_many_threads_append_one_after_the_other(world, cast, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_ROWS", 3)
    project = world.project()
    ann = cast.ann
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: world.propose(ann, project), range(24)))

    report = checkpoints.verify(world.store)

    assert report.sound
    assert report.checkpoints >= 4


def test_a_deleted_text_is_in_no_file_beside_the_database(world, cast, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_ROWS", 1)
    project = world.project()
    memory = world.propose(cast.ann, project, title="Needle zyxwvut", body="In a haystack")

    assert world.holding("zyxwvut") == [IN_DATABASE]
    world.delete(cast.ann, memory, reason="zyxwvut")

    assert files.FILE not in world.holding("zyxwvut")
