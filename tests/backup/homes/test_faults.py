"""A restore or backup that is killed, or loses its power, leaves old or new and goes on from there.

The home has two tenants, both of which changed since the backup: a mix would have one of each.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from codeflow_backup import marker, verifying
from codeflow_backup.errors import BackupError
from codeflow_backup.marker import State
from codeflow_backup.progress import unwatched

from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.services import rekeying, restoration
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ...faults.power.killing import killed
from ...faults.power.recording import Event, Op, Recording, files_of
from ...faults.power.survey import images_of, lay_out
from .acting import SECRET, Place

pytestmark = pytest.mark.slow

LONG = os.environ.get("CODEFLOW_LONG") == "1"
DRAWS = 60 if LONG else 1
"""Images with drawn parts that every operation point adds, beside four without."""

TENANTS = ("local", "birch")
BY_A_START = {"store", "audit", "tokens"}
"""Tables that the first start after a restore writes to."""


@dataclass(frozen=True)
class Scene:
    """A home as it stood at the backup, ``new``, and as it stands now, ``old``."""

    backup: Path
    files: dict[str, bytes]
    old: dict[str, object]
    new: dict[str, object]


def content(place: Place, *, without: set[str] = frozenset()) -> dict[str, object]:
    """What every tenant holds, or ``None`` for one that is not there."""
    return {
        tenant: {k: v for k, v in place.rows(tenant).items() if k not in without}
        if Home(place.home).database(tenant).exists()
        else None
        for tenant in TENANTS
    }


def shortened(found: dict[str, object]) -> dict[str, object]:
    return {
        tenant: rows and {k: v for k, v in rows.items() if k not in BY_A_START}
        for tenant, rows in found.items()
    }


@pytest.fixture(scope="module")
def scene(filled, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    place = Place(filled, lambda: 1_800_000_000_000_000).copy(folder / "home")
    backup = folder / "b.cfmb"
    place.back_up(backup)
    new = content(place)
    with place.started() as tenants:
        for tenant in TENANTS:
            store = tenants.get(tenant)
            rekeying.run(store)
            with store.engine.write() as tx:
                tx.execute("INSERT INTO teams VALUES ('t', 'later', 'later', 1)")
                tx.execute("DELETE FROM receipts")
    return Scene(backup, files_of(place.home), content(place), new)


def restore(scene: Scene, place: Place) -> None:
    place.restore(scene.backup, SECRET, replace=True)


def first_start(place: Place, vfs: str) -> None:
    home = Home(place.home)
    restoration.settle(home, lambda: Tenants(home, now=place.clock, vfs=vfs, migrating=True))


def started(scene: Scene, place: Place) -> str:
    """Start on a home; tell whether it is the old one or the restored one, whole."""
    waited = place.settle()
    found = content(place)
    if found == scene.old:
        assert not waited
        return "old"
    if all(rows is None for rows in found.values()):
        assert not waited
        return "empty"
    assert shortened(found) == shortened(scene.new), "a mix of old and new"
    epochs = {tenant: found[tenant]["store"][0][4] for tenant in TENANTS}
    assert epochs == dict.fromkeys(TENANTS, 1), epochs
    assert {path.name for path in place.home.glob("restore*")} == set()
    return "new"


def converged(scene: Scene, place: Place) -> None:
    """Restore again, and start: everything is new, and all that was old lies in undo folders."""
    had = files_of(place.home)
    restore(scene, place)
    assert list(place.home.glob(".restore-*")) == []
    kept = {
        path.relative_to(undo).as_posix(): path.read_bytes()
        for undo in place.home.glob("undo-*")
        for path in undo.rglob("*")
        if path.is_file()
    }
    if had.keys() & {"memory.sqlite"} or kept:
        assert kept == {k: v for k, v in scene.files.items() if k.endswith(".sqlite")} or not kept
    assert started(scene, place) == "new"


def swept(scene: Scene, folder: Path, files: dict[str, bytes], act: Callable) -> list[str]:
    """Kill *act* at every step; return in which states it left the home."""
    states, step, alive = [], 1, True
    while alive:
        place = Place(folder / str(step), lambda: 1_800_000_000_000_000)
        lay_out(files, place.home)
        place.home.mkdir(exist_ok=True)
        alive = killed(place.home, step, lambda vfs, place=place: act(place, vfs))
        again = place.copy(folder / f"{step}-again")
        states.append(started(scene, place))
        converged(scene, again)
        for each in (place, again):
            shutil.rmtree(each.home)
        step += 1
    return states


@pytest.mark.parametrize("before", ["old", "empty"])
def test_a_restore_killed_at_any_step_leaves_old_or_new_and_goes_on(scene, memory, before):
    files = scene.files if before == "old" else {}

    states = swept(scene, memory, files, lambda place, _: restore(scene, place))

    print(f"kills of a restore, {before}: {len(states) - 1}")  # noqa: T201 - what it reached
    assert set(states) == {before, "new"}
    assert states == sorted(states, key=[before, "new"].index), "once new, new for ever"
    assert len(states) >= 20


def test_a_restore_that_swaps_without_its_marker_is_found(scene, memory, monkeypatch):
    """Control: it puts the same files into the same places, and does not say what it is about."""
    write = marker.write
    monkeypatch.setattr(
        marker, "write", lambda home, m: write(home, m) if m.state is State.PLACED else None
    )

    with pytest.raises((AssertionError, BackupError, CodeflowError)):
        swept(scene, memory, scene.files, lambda place, _: restore(scene, place))


def test_a_first_start_killed_at_any_step_is_finished_by_the_next(scene, memory):
    place = Place(memory / "placed", lambda: 1_800_000_000_000_000)
    lay_out(scene.files, place.home)
    restore(scene, place)
    files = files_of(place.home)

    step, alive, kills = 1, True, 0
    while alive:
        place = Place(memory / str(step), lambda: 1_800_000_000_000_000)
        lay_out(files, place.home)
        alive = killed(place.home, step, lambda vfs, place=place: first_start(place, vfs))
        kills += alive
        with place.started():
            pass
        assert started(scene, place) == "new", step
        shutil.rmtree(place.home)
        step += 1
    print(f"kills of a first start: {kills}")  # noqa: T201 - what it reached
    assert kills >= 20


def test_a_backup_killed_at_any_step_stands_whole_or_not_at_all(scene, memory):
    step, alive, kills = 1, True, 0
    while alive:
        place = Place(memory / str(step) / "home", lambda: 1_800_000_000_000_000)
        lay_out(scene.files, place.home)
        target = memory / str(step) / "b.cfmb"
        alive = killed(
            memory / str(step), step, lambda _, place=place, target=target: place.back_up(target)
        )
        kills += alive
        if target.exists():
            verifying.verify(target, [SECRET], None, unwatched)
            target.unlink()
        assert content(place) == scene.old
        place.back_up(target)
        assert sorted(path.name for path in target.parent.iterdir()) == ["b.cfmb", "home"]
        shutil.rmtree(memory / str(step))
        step += 1
    print(f"kills of a backup: {kills}")  # noqa: T201 - what it reached
    assert kills >= 5


def recorded(scene: Scene, folder: Path) -> Recording:
    """Restore, acknowledge, and start for the first time."""
    place = Place(folder / "home", lambda: 1_800_000_000_000_000)
    lay_out(scene.files, place.home)
    recording = Recording(place.home)
    with recording.running() as vfs:
        restore(scene, place)
        recording.acknowledge()
        first_start(place, vfs)
    return recording


def failures(scene: Scene, recording: Recording, folder: Path) -> tuple[int, list[str]]:
    """Start on every image, and restore on it again; return how many there are, and what failed."""
    wrong, number = [], 0
    for number, image in enumerate(images_of(recording, seed=20, draws=DRAWS), start=1):
        place = Place(folder / str(number), lambda: 1_800_000_000_000_000)
        lay_out(image.files, place.home)
        again = place.copy(folder / f"{number}-again")
        try:
            state = started(scene, place)
            assert state in ({"new"} if image.acknowledged else {"old", "new"}), state
            if not image.acknowledged:
                converged(scene, again)
        except (AssertionError, BackupError, CodeflowError, OSError) as error:
            wrong.append(f"{image}: {type(error).__name__}: {str(error)[:200]}")
        for left in (place, again):
            shutil.rmtree(left.home)
    return number, wrong


def test_a_power_loss_at_any_point_of_a_restore_leaves_old_or_new(scene, memory):
    recording = recorded(scene, memory)

    images, wrong = failures(scene, recording, memory / "images")

    print(f"power loss of a restore: {images} images")  # noqa: T201 - what it reached
    assert wrong == [], "\n".join(wrong[:20])
    assert images >= (300 if LONG else 50)


@pytest.mark.parametrize("left_out", [Op.SYNC_DIRECTORY, Op.SYNC])
def test_without_syncs_the_harness_finds_a_lost_or_mixed_home(scene, memory, left_out):
    """Control: what a restore would be that did not wait for its disk."""
    recording = recorded(scene, memory)
    restoring = recording.events[: recording.events.index(Event(Op.ACKNOWLEDGE)) + 1]
    worse = replace(recording, events=[e for e in restoring if e.op is not left_out])

    _, wrong = failures(scene, worse, memory / "images")

    assert wrong


def test_a_power_loss_at_any_point_of_a_backup_leaves_all_of_it_or_none(scene, memory):
    assert lost_backups(scene, memory, set()) == []


@pytest.mark.parametrize("left_out", [Op.SYNC_DIRECTORY, Op.SYNC])
def test_without_syncs_the_harness_finds_a_lost_or_torn_backup(scene, memory, left_out):
    """Control: what a backup would be that did not wait for its disk."""
    assert lost_backups(scene, memory, {left_out})


def lost_backups(scene: Scene, folder: Path, left_out: set[Op]) -> list[str]:
    """Back up under record; tell after which power losses a backup is torn, or lost."""
    top = folder / "top"
    place = Place(top / "home", lambda: 1_800_000_000_000_000)
    lay_out(scene.files, place.home)
    recording = Recording(top)
    with recording.running():
        place.back_up(top / "b.cfmb")
        recording.acknowledge()
    kept = replace(recording, events=[e for e in recording.events if e.op not in left_out])
    wrong, images = list[str](), list(images_of(kept, seed=20, draws=20 * DRAWS))
    for image in images:
        content = image.files.get("b.cfmb")
        if content is None:
            wrong += [f"{image}: lost"] * image.acknowledged
            continue
        (folder / "image").write_bytes(content)
        try:
            verifying.verify(folder / "image", [SECRET], None, unwatched)
        except BackupError as error:
            wrong.append(f"{image}: {error}")
    print(f"power loss of a backup: {len(images)} images, {len(wrong)} bad")  # noqa: T201 - what it reached
    assert len(images) >= 10
    return wrong
