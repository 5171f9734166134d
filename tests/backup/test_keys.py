"""Passphrases and key files: what may open a backup, and how a key file is made."""

import base64
import os
import stat
import unicodedata
from pathlib import Path

import pytest
from codeflow_backup.errors import InvalidKeyError, MissingError, StandsError
from codeflow_backup.keys import (
    MAX_PASSPHRASE_BYTES,
    KeyFile,
    Passphrase,
    key_file,
    new_key_file,
    passphrase,
    read_key_file,
    read_passphrase,
)
from hypothesis import given
from hypothesis import strategies as st

RAW = bytes(range(32))
ENCODED = base64.b64encode(RAW)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"", "empty"),
        (b"\n", "empty"),
        (b"\r\n", "empty"),
        (b"\xff\xfe", "UTF-8"),
        (b"caf\xe9", "UTF-8"),
        (b"\xed\xa0\x80", "UTF-8"),
        (b"x" * (MAX_PASSPHRASE_BYTES + 1), "longer"),
    ],
)
def test_what_is_no_passphrase_is_refused(held, said):
    with pytest.raises(InvalidKeyError, match=said):
        passphrase(held)


@pytest.mark.parametrize(
    ("held", "secret"),
    [
        (b"words", b"words"),
        (b"words\n", b"words"),
        (b"words\r\n", b"words"),
        (b"words\n\n", b"words\n"),
        (b" words ", b" words "),
        (b"words\r", b"words\r"),
        (b"\n\n", b"\n"),
        (b"x" * MAX_PASSPHRASE_BYTES, b"x" * MAX_PASSPHRASE_BYTES),
    ],
)
def test_one_newline_at_the_end_is_no_part_of_a_passphrase(held, secret):
    assert passphrase(held) == Passphrase(secret)


@given(texts.filter(lambda text: not text.endswith(("\n", "\r"))))
def test_a_passphrase_opens_however_its_accents_are_written(text):
    composed, decomposed = (unicodedata.normalize(form, text).encode() for form in ("NFC", "NFD"))
    if len(decomposed) <= MAX_PASSPHRASE_BYTES:
        assert passphrase(composed) == passphrase(decomposed) == passphrase(decomposed + b"\n")


@pytest.mark.parametrize(
    "held",
    [
        b"",
        RAW[:31],
        RAW + b"\n",
        b"\n",
        ENCODED + b"\n\n",
        ENCODED + b"\r",
        b" " + ENCODED,
        ENCODED[:-1],
        ENCODED[:-1] + b"\n",
        ENCODED[:-2] + b"9=",
        ENCODED.replace(b"A", b"\n", 1),
        base64.b64encode(RAW[:31]),
        base64.b64encode(RAW + b"x"),
        RAW.hex().encode(),
        b"A" * 5000,
    ],
)
def test_what_is_no_key_file_is_refused(held):
    with pytest.raises(InvalidKeyError, match="32 bytes"):
        key_file(held)


@pytest.mark.parametrize("held", [RAW, ENCODED, ENCODED + b"\n", ENCODED + b"\r\n"])
def test_a_key_file_is_raw_or_in_base64(held, tmp_path):
    (tmp_path / "key").write_bytes(held)

    assert read_key_file(tmp_path / "key") == key_file(held) == KeyFile(RAW)


def test_secrets_do_not_show():
    assert "words" not in repr(Passphrase(b"words")) + str(Passphrase(b"words"))
    assert "words" not in repr([KeyFile(b"words" * 6)])


@pytest.mark.parametrize("read", [read_passphrase, read_key_file])
def test_an_unreadable_file_is_refused_without_its_place(read, tmp_path):
    for place in (tmp_path / "missing", tmp_path):
        with pytest.raises(InvalidKeyError, match="cannot be read") as refused:
            read(place)
        assert str(tmp_path) not in str(refused.value)


def test_a_passphrase_may_come_through_a_pipe():
    outer, inner = os.pipe()
    os.write(inner, b"words\n")
    os.close(inner)
    try:
        assert read_passphrase(Path("/dev/fd") / str(outer)) == Passphrase(b"words")
    finally:
        os.close(outer)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o022])
def test_a_new_key_file_is_private_and_holds_a_key_of_its_own(tmp_path, umask):
    before = os.umask(umask)
    try:
        for name in ("one", "two"):
            new_key_file(tmp_path / name)
    finally:
        os.umask(before)

    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert (tmp_path / "one").read_bytes().endswith(b"=\n")
    assert read_key_file(tmp_path / "one") != read_key_file(tmp_path / "two")


def test_a_new_key_file_replaces_nothing_and_follows_no_link(tmp_path):
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()

    for name in ("taken", "link", "folder"):
        with pytest.raises(StandsError):
            new_key_file(tmp_path / name)
    for path in (tmp_path / "no" / "key", tmp_path / "taken" / "key"):
        with pytest.raises(MissingError):
            new_key_file(path)
    assert (tmp_path / "taken").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "taken"]


def test_a_key_file_that_cannot_be_written_leaves_nothing(tmp_path, full_disk):
    with full_disk, pytest.raises(OSError, match="large"):
        new_key_file(tmp_path / "key")

    assert list(tmp_path.iterdir()) == []
