"""The plaintext: manifest, files and trailer agree, or the backup is damaged."""

from dataclasses import replace
from hashlib import sha256
from io import BytesIO

import pytest
from codeflow_backup import manifest, plaintext
from codeflow_backup.container import Reader
from codeflow_backup.errors import DamagedError
from codeflow_backup.manifest import Database, File, Manifest, Table
from codeflow_backup.stream import CHUNK_BYTES
from hypothesis import given, settings
from hypothesis import strategies as st

from .containers import KEY, sealed

numbers = st.integers(0, 2**63 - 1)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
labels = st.from_regex(r"[0-9A-Za-z._-]{1,64}", fullmatch=True)
parts = st.from_regex(r"[0-9A-Za-z_-][0-9A-Za-z._-]{0,20}", fullmatch=True)
names = st.lists(parts, min_size=1, max_size=3).map("/".join)
tables = st.dictionaries(
    st.from_regex(r"[A-Za-z_][0-9A-Za-z_]{0,63}", fullmatch=True),
    st.builds(Table, numbers, digests),
)
databases = st.builds(
    Database,
    tenant=labels,
    instance_id=labels,
    generation=numbers,
    schema_version=numbers,
    ddl_sha256=digests,
    tables=tables,
    fingerprint=digests,
    audit_count=numbers,
    audit_head=st.one_of(digests, st.just("")),
)


def apart(listed):
    """Whether no file stands where another needs a folder."""
    names = [file.name for file in listed]
    return not any(a != b and f"{b}/".startswith(f"{a}/") for a in names for b in names)


files = st.lists(
    st.builds(File, names, numbers, digests, st.one_of(st.none(), databases)),
    min_size=1,
    max_size=5,
    unique_by=lambda file: file.name,
).filter(apart)

ENTRY = File("memory.sqlite", 3, sha256(b"abc").hexdigest())
DATABASE = Database("local", "i1", 1, 1, "0" * 64, {"t": Table(1, "1" * 64)}, "2" * 64, 0, "")


@settings(max_examples=60, deadline=None)
@given(files)
def test_a_manifest_is_read_as_it_was_written(listed):
    made = Manifest(tuple(listed))

    found = manifest.parse(made.encoded)

    assert found == made
    assert found.encoded == made.encoded


@pytest.mark.parametrize(
    "bad",
    [
        replace(ENTRY, name="../up"),
        replace(ENTRY, name=""),
        replace(ENTRY, name="a\nb"),
        replace(ENTRY, name="é"),
        replace(ENTRY, bytes=-1),
        replace(ENTRY, bytes=2**63),
        replace(ENTRY, sha256="00"),
        replace(ENTRY, sha256="AB" * 32),
        replace(ENTRY, database=replace(DATABASE, tenant="a/b")),
        replace(ENTRY, database=replace(DATABASE, audit_head="x")),
        replace(ENTRY, database=replace(DATABASE, tables={"a b": Table(0, "0" * 64)})),
        replace(ENTRY, database=replace(DATABASE, tables={"a": Table(-1, "0" * 64)})),
    ],
)
def test_a_manifest_that_no_reader_would_take_is_not_made(bad):
    with pytest.raises(DamagedError):
        Manifest((bad,))


def test_a_manifest_is_bounded():
    with pytest.raises(DamagedError, match="longer"):
        manifest.parse(b"x" * (manifest.MAX_BYTES + 1))
    with pytest.raises(DamagedError, match="10000"):
        Manifest(tuple(replace(ENTRY, name=f"f{n}") for n in range(manifest.MAX_FILES + 1)))
    with pytest.raises(DamagedError, match="10000"):
        Manifest(())


def test_no_file_has_the_place_of_another():
    for pair in (("a", "a"), ("a", "a/b"), ("a/b/c", "a/b")):
        with pytest.raises(DamagedError, match="one name"):
            Manifest(tuple(replace(ENTRY, name=name) for name in pair))


def payload_of(plain):
    return Reader(BytesIO(sealed(plain))).unlock([KEY])


contents = st.lists(
    st.one_of(
        st.integers(0, 40), st.sampled_from((CHUNK_BYTES - 700, CHUNK_BYTES, 2 * CHUNK_BYTES + 1))
    ),
    min_size=1,
    max_size=6,
).map(lambda sizes: [bytes([n + 1]) * size for n, size in enumerate(sizes)])


@settings(max_examples=60, deadline=None)
@given(contents)
def test_files_come_out_in_order_and_whole(held):
    listed = Manifest(
        tuple(File(f"f{n}", len(data), sha256(data).hexdigest()) for n, data in enumerate(held))
    )
    payload = payload_of(listed.prologue() + b"".join(held) + listed.trailer())

    found = plaintext.read_manifest(payload)
    pieces = list(plaintext.read_files(payload, found))

    assert found == listed
    for n, data in enumerate(held):
        assert b"".join(piece for file, piece in pieces if file.name == f"f{n}") == data
        assert payload.read(len(data), found.offsets()[n]) == data
    order = [file.name for file, _ in pieces]
    assert list(dict.fromkeys(order)) == [f"f{n}" for n in range(len(held))]
    assert order == sorted(order)
    assert max(len(piece) for _, piece in pieces) <= CHUNK_BYTES


def test_a_file_that_is_not_what_the_manifest_says_is_refused_after_its_last_piece():
    listed = Manifest((ENTRY, File("key", 1, "00" * 32)))
    payload = payload_of(listed.prologue() + b"abc" + b"k" + listed.trailer())
    pieces, seen = plaintext.read_files(payload, plaintext.read_manifest(payload)), []

    with pytest.raises(DamagedError, match="key"):
        seen.extend(pieces)
    assert [(file.name, piece) for file, piece in seen] == [
        ("memory.sqlite", b"abc"),
        ("key", b"k"),
    ]


def test_a_plaintext_is_as_long_as_its_manifest_says():
    listed = Manifest((ENTRY,))
    whole = listed.prologue() + b"abc" + listed.trailer()
    other = Manifest((replace(ENTRY, bytes=4),))

    for plain in (
        whole[:-1],
        whole + b"\0",
        listed.prologue(),
        b"",
        b"\0\0",
        other.prologue() + whole,
    ):
        with pytest.raises(DamagedError):
            plaintext.read_manifest(payload_of(plain))


def test_the_trailer_repeats_the_manifest():
    listed = Manifest((ENTRY,))
    for trailer in (
        Manifest((replace(ENTRY, name="memory.sqlitf"),)).trailer(),
        listed.trailer().replace(b'"files":1', b'"files":2'),
        bytes(len(listed.trailer())),
    ):
        with pytest.raises(DamagedError, match="trailer"):
            plaintext.read_manifest(payload_of(listed.prologue() + b"abc" + trailer))
