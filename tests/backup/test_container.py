"""The container: what goes in comes out, nothing before it authenticated, in little memory."""

import json
import os
from io import BytesIO

import pytest
from codeflow_backup.ciphers import TAG_BYTES, Cipher, Suite
from codeflow_backup.container import Reader, Writer
from codeflow_backup.errors import DamagedError, UnknownVersionError, UnusableError, WrongKeyError
from codeflow_backup.keys import KeyFile, Passphrase
from codeflow_backup.slots import prepare
from codeflow_backup.stream import CHUNK_BYTES, SEALED_BYTES, layout
from hypothesis import given, settings
from hypothesis import strategies as st

from .containers import (
    KEY,
    OTHER,
    SQLITE,
    WORDS,
    backup_of,
    decoder,
    new_core,
    opened,
    sealed,
)

sizes = st.one_of(
    st.integers(0, 300),
    st.tuples(st.sampled_from((1, 2, 3)), st.integers(-2, 2)).map(
        lambda t: t[0] * CHUNK_BYTES + t[1]
    ),
)
suites = st.sampled_from(Suite)


def content(size):
    """Bytes whose period is no divisor of a chunk: no two chunks are alike."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


@settings(max_examples=60, deadline=None)
@given(size=sizes, suite=suites, pieces=st.lists(st.integers(0, 2 * CHUNK_BYTES), max_size=4))
def test_what_is_written_in_any_pieces_is_read_as_it_was(size, suite, pieces):
    plain, file = content(size), BytesIO()
    writer = Writer(file, new_core(suite), [prepare(KEY)])
    at = 0
    for length in [*pieces, size]:
        writer.write(plain[at : at + length])
        at += length
    writer.finish()
    file.seek(0)

    payload = Reader(file).unlock([KEY])
    chunks = list(payload.chunks())

    assert b"".join(chunks) == plain
    assert payload.bytes == size
    assert {len(chunk) for chunk in chunks[:-1]} <= {CHUNK_BYTES}


@settings(max_examples=40, deadline=None)
@given(size=sizes, suite=suites, data=st.data())
def test_a_read_at_any_offset_is_that_slice_of_the_plaintext(size, suite, data):
    plain = content(size)
    payload = opened(sealed(plain, core=new_core(suite)))

    for _ in range(20):
        offset = data.draw(st.integers(0, size + 10))
        length = data.draw(st.integers(0, 2 * CHUNK_BYTES))
        assert payload.read(length, offset) == plain[offset : offset + length]


def test_neighbouring_reads_decrypt_a_chunk_once_and_keep_only_a_few(monkeypatch):
    plain, opens, decrypt = content(20 * CHUNK_BYTES), [], Cipher.open
    payload = opened(sealed(plain))

    def counted(*of):
        opens.append(of[1])
        return decrypt(*of)

    monkeypatch.setattr(Cipher, "open", counted)
    pages = [payload.read(4096, at) for at in range(0, 3 * CHUNK_BYTES, 4096)]
    once = len(opens)
    backwards = [payload.read(10, place * CHUNK_BYTES) for place in reversed(range(20))]

    assert (b"".join(pages), once) == (plain[: 3 * CHUNK_BYTES], 3)
    assert backwards == [plain[n * CHUNK_BYTES :][:10] for n in reversed(range(20))]
    assert len(opens) == 3 + 20


@settings(max_examples=30, deadline=None)
@given(keys=st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=16, unique=True))
def test_each_slot_opens_alone_and_no_other_key_does(keys):
    secrets = [KeyFile(key) for key in keys]
    data = sealed(b"plain", *secrets)

    assert [slot.number for slot in Reader(BytesIO(data)).slots] == list(range(1, len(keys) + 1))
    assert {b"".join(opened(data, secret).chunks()) for secret in secrets} == {b"plain"}
    with pytest.raises(WrongKeyError):
        opened(data, KeyFile(b"\0" * 31 + b"\x01"), Passphrase(keys[0]))


def test_the_first_secret_that_fits_opens_it():
    data = sealed(b"plain", WORDS, KEY)

    for secrets in ([KEY], [WORDS], [OTHER, KEY], [OTHER, WORDS], [Passphrase(b"no"), KEY]):
        assert b"".join(opened(data, *secrets).chunks()) == b"plain"
    with pytest.raises(WrongKeyError):
        Reader(BytesIO(data)).unlock([])


def test_the_decoder_that_stands_alone_reads_what_the_package_writes():
    decode = decoder()
    files = {"memory__sqlite": SQLITE + content(3 * CHUNK_BYTES), "key": b"k" * 32}
    for suite in Suite:
        data = sealed(backup_of(**files), WORDS, KEY, core=new_core(suite))

        for kind, secret in (("keyfile", KEY), ("passphrase", WORDS)):
            manifest, _ = decode.decode(BytesIO(data), kind, secret.data)
            assert [f["name"] for f in json.loads(manifest)["files"]] == ["memory.sqlite", "key"]


@pytest.mark.parametrize(("keys", "said"), [(0, "1 to 16 key slots"), (17, "1 to 16 key slots")])
def test_a_container_has_one_to_sixteen_slots(keys, said):
    file = BytesIO()

    with pytest.raises(DamagedError, match=said):
        Writer(file, new_core(), [prepare(KEY)] * keys)
    assert file.getvalue() == b""


@pytest.mark.parametrize(
    "changes",
    [
        {"instance_id": "a/b"},
        {"instance_id": ""},
        {"app_version": "1 2"},
        {"generation": -1},
        {"schema_version": -1},
        {"nonce_prefix": b"short"},
        {"backup_id": "AB" * 16},
    ],
)
def test_a_header_that_no_reader_would_take_is_not_written(changes):
    file = BytesIO()

    with pytest.raises(DamagedError, match=next(iter(changes))):
        Writer(file, new_core(**changes), [prepare(KEY)])
    assert file.getvalue() == b""


def test_the_header_is_readable_and_names_its_format_early():
    data = sealed(SQLITE, *([WORDS] * 2), *(KeyFile(bytes([n]) * 32) for n in range(14)))

    length = int.from_bytes(data[8:12], "big")
    core, *slots = [json.loads(line) for line in data[12 : 12 + length].splitlines()]
    assert 0 < data.index(b'"format":1') < 4096
    assert (core["suite"], core["chunk_bytes"], len(slots)) == (1, CHUNK_BYTES, 16)
    assert SQLITE not in data


def test_another_format_is_told_before_anything_else():
    data = sealed(b"plain")
    at = data.index(b'"format":') + 9

    with pytest.raises(UnknownVersionError, match="format 7"):
        Reader(BytesIO(data[:at] + b"7" + data[at + 1 :]))


def test_no_two_containers_of_one_plaintext_share_a_chunk_or_a_slot():
    one, two = (sealed(SQLITE * 3) for _ in range(2))

    assert one[-64:] != two[-64:]
    pairs = [Reader(BytesIO(data)).slots[0] for data in (one, two)]
    assert pairs[0].wrapped != pairs[1].wrapped
    assert pairs[0].derivation != pairs[1].derivation


def test_structure_is_checked_without_a_key():
    data = sealed(content(CHUNK_BYTES + 5))
    reader = Reader(BytesIO(data))
    start = reader.payload_at

    reader.check_structure()
    for length in (start, start + TAG_BYTES - 1, start + SEALED_BYTES + TAG_BYTES):
        with pytest.raises(DamagedError, match="length"):
            Reader(BytesIO(data[:length])).check_structure()


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 10**9])
def test_the_layout_of_a_payload_follows_from_its_length(size):
    chunks = max(1, -(-size // CHUNK_BYTES))

    found = layout(size + chunks * TAG_BYTES)

    assert (found.chunks, found.bytes) == (chunks, size)
    assert found.sealed(chunks - 1) == size - (chunks - 1) * CHUNK_BYTES + TAG_BYTES


def test_no_chunk_comes_out_before_it_authenticated():
    plain = content(3 * CHUNK_BYTES + 9)
    data = sealed(plain)
    start = Reader(BytesIO(data)).payload_at
    for place in range(3):
        changed = bytearray(data)
        changed[start + place * SEALED_BYTES + 1000] ^= 1
        payload, seen = opened(bytes(changed)), []

        with pytest.raises(DamagedError, match=f"chunk {place + 1}"):
            seen.extend(payload.chunks())
        assert b"".join(seen) == plain[: place * CHUNK_BYTES]
        with pytest.raises(DamagedError):
            payload.read(1, place * CHUNK_BYTES)


def test_a_file_that_was_cut_or_lengthened_gives_out_nothing():
    data = sealed(content(3 * CHUNK_BYTES + 9))

    for changed in (data[:-1], data[: -9 - TAG_BYTES], data + b"\0", data + data[-SEALED_BYTES:]):
        with pytest.raises(DamagedError):
            opened(changed)


def test_a_file_that_grows_while_it_is_read_is_refused_at_its_end():
    file = BytesIO(sealed(content(CHUNK_BYTES + 9)))
    chunks = Reader(file).unlock([KEY]).chunks()
    next(chunks)
    file.seek(0, os.SEEK_END)
    file.write(b"more")

    next(chunks)
    with pytest.raises(DamagedError, match="follows"):
        next(chunks)


def test_a_finished_container_takes_no_more():
    writer = Writer(BytesIO(), new_core(), [prepare(KEY)])
    writer.finish()

    with pytest.raises(ValueError, match="finished"):
        writer.write(b"x")
    with pytest.raises(ValueError, match="finished"):
        writer.finish()


def test_an_unfinished_container_does_not_open():
    file = BytesIO()
    writer = Writer(file, new_core(), [prepare(KEY)])
    writer.write(content(2 * CHUNK_BYTES + 1))

    for cut in (0, 1, SEALED_BYTES):
        with pytest.raises(DamagedError):
            opened(file.getvalue()[: len(file.getvalue()) - cut])


def test_a_plaintext_of_more_chunks_than_a_nonce_counts_is_refused(monkeypatch):
    monkeypatch.setattr("codeflow_backup.stream.MAX_CHUNKS", 2)
    file = BytesIO()
    writer = Writer(file, new_core(), [prepare(KEY)])
    writer.write(content(2 * CHUNK_BYTES))

    writer.write(b"x")

    with pytest.raises(UnusableError, match="more chunks"):
        writer.finish()
