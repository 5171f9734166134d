"""The harness has teeth: what must survive does, and a worse store is found out."""

import os
import random
from pathlib import Path

import apsw
import pytest

from .power import standin
from .power.disk import Change, Disk, Inode, Loss
from .power.faulty import Call, Fault, Meter, failing
from .power.killing import ChildFailedError, killed
from .power.recording import Event, Op, Recording
from .power.standin import StandIn
from .power.survey import Commits, Image, Survey, images_of, opened, survey

OPERATIONS = [
    (f"op-{number}", f"m{number % 5}", None if number % 7 == 6 else f"word{number} " * 150)
    for number in range(16)
]


def drawing(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - reproducible noise, not a secret


def recorded(home: Path, synchronous: str) -> Recording:
    StandIn(home).create_schema()
    recording = Recording(home)
    with recording.running() as vfs:
        store = StandIn(home, vfs=vfs, synchronous=synchronous)
        for operation in OPERATIONS:
            store.put(*operation)
            recording.acknowledge()
    return recording


def surveyed(place: Path, synchronous: str, **flags: bool) -> Survey:
    home = place / "home"
    home.mkdir()
    recording = recorded(home, synchronous)
    commits = Commits(recording, place)

    def oracle(connection: apsw.Connection, image: Image) -> None:
        commits.check(connection, image)
        standin.check(connection)

    images = images_of(recording, seed=1, draws=1, flags=flags)
    return survey(images, place / "images", oracle, keep=False)


def test_extra_survives_every_power_loss(place):
    result = surveyed(place, "EXTRA")

    assert result.failures == []
    assert result.images >= 800, result


def test_full_loses_acknowledged_operations(place):
    """Control: the removal of the journal must reach the disk before the acknowledgement."""
    result = surveyed(place, "FULL")

    lost = [failure for failure in result.failures if "acknowledged operation is lost" in failure]
    assert len(lost) >= len(OPERATIONS), result
    assert len(lost) == len(result.failures), result


def test_off_is_found_corrupt(place):
    """Control: without syncs there are torn, half applied and lost operations."""
    result = surveyed(place, "OFF")

    assert len(result.failures) >= 100, result
    assert any("quick_check" in f or "Corrupt" in f or "never" in f for f in result.failures)


def test_a_disk_that_ignores_syncs_is_found_like_off(place):
    """Control of the controls that run on the product, whose pragmas a test cannot change."""
    result = surveyed(place, "EXTRA", honest=False)

    assert len(result.failures) >= 100, result


def test_a_removal_without_directory_sync_is_found_like_full(place):
    result = surveyed(place, "EXTRA", syncs_removals=False)

    assert sum("is lost" in failure for failure in result.failures) >= len(OPERATIONS), result


def test_a_torn_write_is_cut_where_sectors_end():
    inode = Inode(b"a" * 2048, [Change(100, b"b" * 1500)])

    contents = {inode.after(Loss.TORN, drawing(seed)) for seed in range(50)}

    assert len(contents) > 5
    for content in contents:
        assert len(content) == 2048
        for start in range(0, 2048, 512):
            inside = content[max(start, 100) : min(start + 512, 1600)]
            assert len(set(inside)) <= 1


def test_noise_falls_only_where_something_was_being_written():
    inode = Inode(b"a" * 2048, [Change(600, b"b" * 300)])

    contents = [inode.after(Loss.GARBAGE, drawing(seed)) for seed in range(50)]

    assert any(set(content) - set(b"ab") for content in contents)
    assert all(content[:600] == b"a" * 600 and content[900:] == b"a" * 1148 for content in contents)


@pytest.mark.parametrize(
    ("events", "possible"),
    [
        ([], {"old"}),
        ([Event(Op.RENAME, "a", target="b")], {"old", "new"}),
        ([Event(Op.RENAME, "a", target="b"), Event(Op.SYNC_DIRECTORY, ".")], {"new"}),
    ],
)
def test_a_rename_is_certain_only_after_the_sync_of_its_directory(events, possible):
    disk = Disk.of({"a": b"content"})
    for event in events:
        disk.apply(event)

    images = [disk.image(loss, drawing(seed)) for loss in Loss for seed in range(9)]

    states = {"old" if image == {"a": b"content"} else "new" for image in images}
    assert states == possible
    assert all(list(image.values()) in ([b"content"], [b"content"] * 2) for image in images)


def test_renames_and_syncs_of_the_program_are_recorded(place):
    (place / "a").write_bytes(b"content")
    recording = Recording(place)

    with recording.running():
        (place / "a").rename(place / "b")
        with (place / "c").open("wb") as file:
            file.write(b"text")
            file.flush()
            os.fsync(file.fileno())
        (place / "b").unlink()

    assert [(event.op, event.name, event.target) for event in recording.events] == [
        (Op.RENAME, "a", "b"),
        (Op.CREATE, "c", ""),
        (Op.TRUNCATE, "c", ""),
        (Op.WRITE, "c", ""),
        (Op.SYNC, "c", ""),
        (Op.DELETE, "b", ""),
    ]


def test_a_store_without_receipts_is_found_by_a_failing_removal(place):
    """Control: the removal of the journal may fail after its effect, and the commit stands."""
    store = StandIn(place)
    store.create_schema()
    meter = Meter(Fault(Call.DELETE, 1, apsw.SQLITE_IOERR_DELETE, after=True, sticky=False))

    with failing(meter) as vfs, pytest.raises(apsw.IOError):
        StandIn(place, vfs=vfs).put("op", "m", "text")

    assert meter.fired == 1
    assert StandIn(place).put("op", "m", "text") == 1
    assert StandIn(place).put("another op", "m", "text") == 2


def test_a_child_is_killed_at_every_step_and_then_comes_to_its_end(place):
    StandIn(place).create_schema()
    revisions = []
    step = 1
    while killed(place, step, lambda vfs: put_once(place, vfs)):
        with opened(place / standin.DATABASE) as connection:
            standin.check(connection)
            revisions.append(connection.execute("SELECT COUNT(*) FROM memories").get)
        step += 1

    assert step >= 20
    assert set(revisions) <= {0, 1}
    assert revisions == sorted(revisions)


def put_once(home: Path, vfs: str) -> None:
    StandIn(home, vfs=vfs).put("op", "m", "text")


def test_a_child_that_fails_by_itself_is_reported(place):
    with pytest.raises(ChildFailedError, match="ZeroDivisionError"):
        killed(place, 1, lambda _: 1 / 0)
