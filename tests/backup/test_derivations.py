"""What a passphrase costs: enough to write, never more than a bound to read."""

import subprocess
import sys
from io import BytesIO

import argon2.low_level
import pytest
from codeflow_backup.canonical import Fields
from codeflow_backup.container import Reader
from codeflow_backup.derivations import LANES, MAX_WORK_KIB, MEMORY_KIB, PASSES, Argon2id
from codeflow_backup.errors import DamagedError
from codeflow_backup.keys import KeyFile
from codeflow_backup.slots import prepare
from hypothesis import given
from hypothesis import strategies as st

from .containers import BACKUP, KEY, WORDS, opened, sealed

SALT = b"s" * 16
SECONDS = 120

around = st.one_of(
    st.integers(0, 12), st.integers(65_000, 66_000), st.integers(1_048_000, 2**63 - 1)
)


def within(bounds, number):
    return bounds[0] <= number <= bounds[1]


@given(memory=st.one_of(around, st.integers(*MEMORY_KIB)), passes=around, lanes=around)
def test_exactly_the_costs_within_the_bounds_are_taken(memory, passes, lanes):
    members = Argon2id(SALT, memory, passes, lanes).members()
    fields = Fields(members, "a slot")
    allowed = (
        within(MEMORY_KIB, memory)
        and within(PASSES, passes)
        and within(LANES, lanes)
        and memory * passes <= MAX_WORK_KIB
    )

    if allowed:
        assert Argon2id.take(fields) == Argon2id(SALT, memory, passes, lanes)
    else:
        with pytest.raises(DamagedError):
            Argon2id.take(fields)


def test_a_new_passphrase_slot_has_the_documented_cost_and_opens():
    prepared = prepare(WORDS)
    slow = prepared.derivation

    assert (slow.memory_kib, slow.passes, slow.lanes) == (256 * 1024, 3, 4)
    assert len(slow.salt) == 16
    assert prepared.key == argon2.low_level.hash_secret_raw(
        WORDS.data, slow.salt, 3, 256 * 1024, 4, 32, argon2.low_level.Type.ID, 19
    )
    assert prepared.key.hex() not in repr(prepared)
    assert repr(prepared.key) not in repr(prepared)


def test_each_slot_has_a_salt_and_a_wrapping_key_of_its_own():
    one, two = prepare(KEY), prepare(KEY)

    assert one.derivation.salt != two.derivation.salt
    assert one.key != two.key
    assert one.key != KEY.data


def test_a_key_file_is_no_passphrase_of_the_same_bytes():
    data = sealed(b"plain", WORDS, KeyFile(WORDS.data.ljust(32)))

    assert [slot.kind for slot in Reader(BytesIO(data)).slots] == ["passphrase", "keyfile"]
    assert b"".join(opened(data, WORDS).chunks()) == b"plain"


_CRAMPED = """
import resource
from codeflow_backup.derivations import Argon2id
from codeflow_backup.errors import UnusableError
from codeflow_backup.keys import Passphrase

slow = Argon2id(b"s" * 16, memory_kib=1024 * 1024)
resource.setrlimit(resource.RLIMIT_AS, (512 * 2**20, 512 * 2**20))
try:
    slow.key(Passphrase(b"words"))
except UnusableError as error:
    print(error)
"""


def test_a_machine_without_the_memory_says_so():
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", _CRAMPED],
        cwd=BACKUP,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )

    assert done.stdout == "this machine does not give the 1048576 KiB that the passphrase takes\n"
