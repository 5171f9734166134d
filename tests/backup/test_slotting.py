"""Adding and removing keys: the header is new, the payload and everything else stays."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
from io import BytesIO

import pytest
from codeflow_backup import partial, slotting
from codeflow_backup.container import Reader
from codeflow_backup.errors import (
    DamagedError,
    MissingError,
    UnknownVersionError,
    UnusableError,
    WrongKeyError,
)
from codeflow_backup.keys import KeyFile
from codeflow_backup.slots import prepare
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from .containers import KEY, OTHER, WORDS, opened, quickly_prepared, sealed

PLAIN = bytes(range(256)) * 700
KEYS = [KeyFile(bytes([number]) * 32) for number in range(18)]


def numbers(data):
    return [slot.number for slot in Reader(BytesIO(data)).slots]


def payload_of(data):
    return data[Reader(BytesIO(data)).payload_at :]


def plain_of(data, *secrets):
    return b"".join(opened(data, *secrets).chunks())


@pytest.fixture
def backup(tmp_path):
    path = tmp_path / "b.cfmb"
    path.write_bytes(sealed(PLAIN, KEY))
    return path


def changes(path, secrets):
    """Both ways to change the slots of *path*."""
    return (
        lambda: slotting.add_key(path, secrets, prepare(OTHER)),
        lambda: slotting.remove_key(path, secrets, 1),
    )


def refused(path, secrets, error):
    before = path.read_bytes()
    for change in changes(path, secrets):
        with pytest.raises(error):
            change()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_without_a_key_no_slot_is_changed(backup):
    refused(backup, [OTHER, WORDS], WrongKeyError)
    refused(backup, [], WrongKeyError)


def test_the_slots_of_a_damaged_backup_are_not_changed(backup):
    data = backup.read_bytes()
    at = data.index(b'"format":') + 9
    for changed, error in (
        (data[:30] + b"!" + data[31:], DamagedError),
        (data[:at] + b"2" + data[at + 1 :], UnknownVersionError),
        (data[:-100_000] + b"\0" + data[-99_999:], DamagedError),
        (data[:-1], DamagedError),
    ):
        backup.write_bytes(changed)
        with pytest.raises(error):
            slotting.add_key(backup, [KEY], prepare(OTHER))
        assert backup.read_bytes() == changed
        assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_the_last_slot_is_never_removed(backup):
    with pytest.raises(UnusableError, match="last"):
        slotting.remove_key(backup, [KEY], 1)

    assert plain_of(backup.read_bytes(), KEY) == PLAIN


def test_a_slot_that_is_not_there_is_not_removed(backup):
    for number in (0, 2, 17, -1):
        with pytest.raises(MissingError, match="slot"):
            slotting.remove_key(backup, [KEY], number)


def test_a_seventeenth_slot_is_refused(backup):
    backup.write_bytes(sealed(PLAIN, *KEYS[:16]))

    with pytest.raises(UnusableError, match="16"):
        slotting.add_key(backup, [KEYS[3]], prepare(OTHER))


def test_what_is_no_backup_of_its_own_is_refused(tmp_path, backup):
    link = tmp_path / "link"
    link.symlink_to(backup)
    for place, error in (
        (tmp_path / "missing", MissingError),
        (link, UnusableError),
        (tmp_path, UnusableError),
    ):
        for change in changes(place, [KEY]):
            with pytest.raises(error):
                change()
    assert link.is_symlink()


def test_two_processes_do_not_change_one_backup_at_once(backup):
    with backup.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(backup, [KEY], UnusableError)


def test_a_backup_that_was_replaced_before_it_was_locked_is_left_alone(backup, monkeypatch):
    theirs, lock = sealed(PLAIN, KEY, OTHER), fcntl.flock

    def replaced(file, operation):
        other = backup.with_name("theirs")
        other.write_bytes(theirs)
        other.replace(backup)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", replaced)
    with pytest.raises(UnusableError, match="try again"):
        slotting.add_key(backup, [KEY], prepare(KEYS[0]))
    assert backup.read_bytes() == theirs


def test_what_does_not_read_back_from_the_disk_does_not_replace_the_backup(backup, monkeypatch):
    before, sync = backup.read_bytes(), os.fsync

    def rotten(descriptor):
        sync(descriptor)
        if os.fstat(descriptor).st_size > len(before):
            os.pwrite(descriptor, b"rot", os.fstat(descriptor).st_size - 70_000)

    monkeypatch.setattr(os, "fsync", rotten)
    with pytest.raises(DamagedError):
        slotting.add_key(backup, [KEY], prepare(OTHER))
    assert backup.read_bytes() == before
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_a_disk_that_is_full_leaves_the_backup_as_it_was(backup, full_disk):
    before = backup.read_bytes()

    for change in changes(backup, [KEY])[:1]:
        with full_disk, pytest.raises(OSError, match=f"large: .*{backup.name}"):
            change()
    assert backup.read_bytes() == before
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_what_a_killed_change_of_keys_left_is_taken_away_by_the_next(backup):
    left = backup.with_name(f"{partial.PARTIAL}dead")
    left.write_bytes(b"half")

    slotting.add_key(backup, [KEY], quickly_prepared(OTHER))

    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


_KILLED = """
import os, signal, sys
from pathlib import Path
from codeflow_backup import slotting
from codeflow_backup.keys import KeyFile
from codeflow_backup.slots import prepare
slotting._read_back = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
key = KeyFile(bytes.fromhex(sys.argv[2]))
slotting.add_key(Path(sys.argv[1]), [key], prepare(KeyFile(bytes(32))))
"""


def test_a_killed_change_of_keys_leaves_nothing_that_the_next_does_not_take_away(backup):
    before = backup.read_bytes()
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", _KILLED, backup, KEY.data.hex()], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert backup.read_bytes() == before
    assert len(list(backup.parent.iterdir())) == 2, "the process was killed too early"

    slotting.add_key(backup, [KEY], quickly_prepared(OTHER))

    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_an_added_key_opens_and_a_removed_one_no_longer_does(backup):
    before = backup.read_bytes()

    assert slotting.add_key(backup, [KEY], quickly_prepared()) == 2
    both = backup.read_bytes()
    slotting.remove_key(backup, [WORDS], 1)
    after = backup.read_bytes()

    assert [numbers(data) for data in (before, both, after)] == [[1], [1, 2], [2]]
    assert payload_of(before) == payload_of(both) == payload_of(after)
    assert plain_of(both, KEY) == plain_of(both, WORDS) == plain_of(after, WORDS) == PLAIN
    with pytest.raises(WrongKeyError):
        opened(after, KEY)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_the_slot_that_opens_it_may_remove_itself(backup):
    slotting.add_key(backup, [KEY], prepare(OTHER))

    slotting.remove_key(backup, [KEY], 1)

    assert plain_of(backup.read_bytes(), OTHER) == PLAIN


def test_an_earlier_copy_still_opens_with_a_removed_key(backup):
    slotting.add_key(backup, [KEY], prepare(OTHER))
    copy = backup.read_bytes()
    slotting.remove_key(backup, [OTHER], 1)

    assert plain_of(copy, KEY) == PLAIN


class Keyring(RuleBasedStateMachine):
    """Keys come and go; exactly those that are in it open the backup."""

    @initialize(first=st.integers(0, len(KEYS) - 1))
    def make(self, first):
        self.path = self.folder / "b.cfmb"
        self.path.write_bytes(sealed(b"plain", KEYS[first]))
        self.slots = {1: first}

    @rule(which=st.integers(0, len(KEYS) - 1), by=st.integers(0, 15))
    def add(self, which, by):
        if which in self.slots.values():
            return
        opener = KEYS[list(self.slots.values())[by % len(self.slots)]]
        free = [number for number in range(1, 17) if number not in self.slots]
        if free:
            assert slotting.add_key(self.path, [opener], prepare(KEYS[which])) == free[0]
            self.slots[free[0]] = which
        else:
            with pytest.raises(UnusableError):
                slotting.add_key(self.path, [opener], prepare(KEYS[which]))

    @rule(number=st.integers(1, 16), by=st.integers(0, 15))
    def remove(self, number, by):
        opener = KEYS[list(self.slots.values())[by % len(self.slots)]]
        if number in self.slots and len(self.slots) > 1:
            slotting.remove_key(self.path, [opener], number)
            del self.slots[number]
        else:
            with pytest.raises((MissingError, UnusableError)):
                slotting.remove_key(self.path, [opener], number)

    @invariant()
    def exactly_its_keys_open_it(self):
        data = self.path.read_bytes()
        assert numbers(data) == sorted(self.slots)
        for which, key in enumerate(KEYS):
            if which in self.slots.values():
                assert plain_of(data, key) == b"plain"
            else:
                with pytest.raises(WrongKeyError):
                    opened(data, key)


def test_whatever_comes_and_goes_exactly_the_keys_that_are_in_it_open_a_backup(tmp_path):
    Keyring.folder = tmp_path
    run_state_machine_as_test(
        Keyring, settings=settings(max_examples=10, stateful_step_count=25, deadline=None)
    )
