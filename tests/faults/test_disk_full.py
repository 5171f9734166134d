"""On a full disk reads go on, writes are refused as such, and what frees room succeeds."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from codeflow_memory.domain.errors import StorageFullError
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import memories
from codeflow_memory.services.store import Store
from codeflow_memory.storage.home import BALLAST, BALLAST_BYTES, Home

from .power.consistency import check
from .power.drill import laid_out
from .power.product import (
    delete_the_first,
    keep_a_note,
    make_a_token,
    propose,
    revoke_the_token,
)
from .power.recording import files_of
from .power.room import Room, limited, may_mount, small_disk
from .power.stores import call_of, opened_store, prepare, step_of

LONG = os.environ.get("CODEFLOW_LONG") == "1"
SIZES = range(0, 200_000, 2_000 if LONG else 8_000)
"""Bytes that are left: from none to more than a proposal needs."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A home with a note to read and delete, a token to revoke, and the real ballast."""
    home = tmp_path_factory.mktemp("full") / "home"
    home.mkdir()
    prepare(home)
    for number, work in enumerate((keep_a_note, make_a_token), start=1):
        step_of(number, work).run(home, None)
    (home / BALLAST).unlink()
    Home(home).fill_ballast()
    return files_of(home)


def test_reads_go_on_writes_are_refused_and_what_frees_room_succeeds(files, place):
    refused = 0
    for number, free in enumerate(SIZES):
        with laid_out(files, place / str(number)) as home:
            room = Room(home)
            room.leave(free)
            with limited(room) as vfs, opened_store(home, vfs, 10) as store:
                refused += not written(store)
                on_a_full_disk(store, first=number % 2)
                room.limit = None
                assert written(store)
            check(home)

    print(f"disk full: {len(SIZES)} sizes, {refused} refused a write")  # noqa: T201 - a count
    assert 0 < refused < len(SIZES)


@pytest.mark.skipif(not may_mount(), reason="only root mounts; the quota has run")
def test_a_real_file_system_that_is_full_is_answered_alike(files, place):
    refused = 0
    for number, pages in enumerate((0, 1, 2, 5, 20, 60)):
        with full_disk(files, place / f"disk-{number}", pages) as home:
            with opened_store(home, None, 10) as store:
                refused += not written(store)
                on_a_full_disk(store, first=number % 2)
            check(home)

    assert refused >= 3


def test_without_the_ballast_a_deletion_is_refused(files, place):
    """Control: it is the ballast that lets deletions through."""
    without = {name: content for name, content in files.items() if name != BALLAST}
    with laid_out(without, place / "home") as home:
        room = Room(home)
        room.leave(0)
        with limited(room) as vfs, opened_store(home, vfs, 10) as store:
            with pytest.raises(StorageFullError):
                delete_the_first(call_of(store, "delete"))
            room.limit = None


def written(store: Store) -> bool:
    """Propose a memory; tell whether it was written, and not refused."""
    try:
        propose(call_of(store, "propose"))
    except StorageFullError:
        return False
    return True


def on_a_full_disk(store: Store, *, first: int) -> None:
    """Read, and do both things that need no room, beginning with either."""
    call = call_of(store, "read")
    noted = call.made("keep_a_note")
    assert memories.get(store, call.owner, noted).memory.content is not None
    works = (delete_the_first, revoke_the_token)
    for work in (works[first], works[1 - first]):
        work(call_of(store, work.__name__))
    assert memories.get(store, call.owner, noted).memory.status is Status.DELETED


@contextmanager
def full_disk(files: dict[str, bytes], place: Path, pages: int) -> Iterator[Path]:
    """Lay *files* out on a file system of their own that has *pages* of 4 KiB left."""
    size = sum(len(content) for content in files.values()) + BALLAST_BYTES
    with ExitStack() as held:
        try:
            disk = held.enter_context(small_disk(place, size))
        except subprocess.CalledProcessError:
            pytest.skip("this system lets nobody mount; the quota has run")
        home = held.enter_context(laid_out(files, disk / "home"))
        left = os.statvfs(disk)
        filler = bytes((left.f_bavail - pages) * left.f_frsize)
        (disk / "filler").write_bytes(filler)
        yield home
