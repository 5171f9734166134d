"""Signatures: they tell who made a backup to those who hold no key of it."""

import hashlib
import json
from io import BytesIO

import pytest
from codeflow_backup import signature, slotting
from codeflow_backup.errors import (
    DamagedError,
    InvalidKeyError,
    UnknownVersionError,
    WrongKeyError,
)
from codeflow_backup.keys import new_key_file
from codeflow_backup.signature import PublicKey, SigningKey, read_public_key, read_signing_key
from codeflow_backup.slots import prepare
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .containers import KEY, OTHER, new_core, sealed

SIGNER = SigningKey(bytes(range(32)))
FOREIGN = SigningKey(bytes(range(1, 33)))


def signed(data, key=SIGNER):
    return signature.sign(BytesIO(data), key)


def check(data, sidecar, key=None):
    signature.check(BytesIO(data), sidecar, key or SIGNER.public())


def edited(sidecar, **changes):
    members = {k: v for k, v in {**json.loads(sidecar), **changes}.items() if v is not None}
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_any_change_of_the_file_breaks_its_signature():
    data = sealed(b"plain")
    sidecar = signed(data)

    check(data, sidecar)
    for at in range(0, len(data), 7):
        with pytest.raises((DamagedError, UnknownVersionError)):
            check(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], sidecar)
    for changed in (data[:-1], data + b"\0", sealed(b"plain"), b""):
        with pytest.raises(DamagedError):
            check(changed, sidecar)


def test_any_change_of_the_signature_is_refused():
    data = sealed(b"plain")
    sidecar = signed(data)

    for at in range(len(sidecar)):
        with pytest.raises((DamagedError, UnknownVersionError, WrongKeyError)):
            check(data, sidecar[:at] + bytes([sidecar[at] ^ 1]) + sidecar[at + 1 :])


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"format": 2}, UnknownVersionError),
        ({"format": 0}, UnknownVersionError),
        ({"format": "1"}, DamagedError),
        ({"format": None}, DamagedError),
        ({"more": 1}, DamagedError),
        ({"signature": "00" * 63}, DamagedError),
        ({"signature": "00" * 64}, DamagedError),
        ({"signature": None}, DamagedError),
        ({"public_key": "AB" * 32}, DamagedError),
        ({"public_key": FOREIGN.public().data.hex()}, WrongKeyError),
    ],
)
def test_a_signature_file_that_is_none_is_refused(changes, error):
    data = sealed(b"plain")

    with pytest.raises(error):
        check(data, edited(signed(data), **changes))


def test_a_signature_file_is_one_line_of_bounded_length():
    data = sealed(b"plain")
    sidecar = signed(data)

    for changed in (b"", b"\n", sidecar[:-1], sidecar + b"\n", b" " + sidecar, sidecar * 5):
        with pytest.raises(DamagedError):
            check(data, changed)


def test_a_foreign_signer_is_not_believed_whatever_the_file_names():
    data = sealed(b"plain")
    theirs = signed(data, FOREIGN)

    check(data, theirs, FOREIGN.public())
    with pytest.raises(WrongKeyError):
        check(data, theirs)
    with pytest.raises(DamagedError):
        check(data, edited(theirs, public_key=SIGNER.public().data.hex()))


def test_a_key_slot_that_comes_or_goes_asks_for_a_new_signature(tmp_path):
    path = tmp_path / "b.cfmb"
    path.write_bytes(sealed(b"plain"))
    sidecar = signed(path.read_bytes())
    slotting.add_key(path, [KEY], prepare(OTHER))

    with pytest.raises(DamagedError):
        check(path.read_bytes(), sidecar)


def test_the_signature_is_over_what_the_format_says():
    core = new_core(generation=258)
    data = sealed(b"plain", core=core)
    made = json.loads(signed(data))

    message = data[:8] + hashlib.sha256(data).digest() + bytes.fromhex(core.backup_id)
    message += bytes(6) + b"\x01\x02"
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(made["public_key"]))
    public.verify(bytes.fromhex(made["signature"]), message)


def test_keys_of_signers_are_files(tmp_path):
    new_key_file(tmp_path / "signing")
    signer = read_signing_key(tmp_path / "signing")
    (tmp_path / "public").write_text(signer.public().text(), "ascii")
    data = sealed(b"plain")

    check(data, signed(data, signer), read_public_key(tmp_path / "public"))
    assert signer.data.hex() not in repr(signer)


@pytest.mark.parametrize("held", [b"", b"short\n", b"x" * 5000, b"AAAA", b"\xff" * 44])
def test_what_is_no_public_key_is_refused(tmp_path, held):
    (tmp_path / "public").write_bytes(held)

    for place in (tmp_path / "public", tmp_path / "missing"):
        with pytest.raises(InvalidKeyError, match="public key"):
            read_public_key(place)


def test_a_public_key_that_is_no_point_signs_nothing():
    data = sealed(b"plain")
    nothing = PublicKey(b"\xff" * 32)

    with pytest.raises(DamagedError):
        check(data, edited(signed(data), public_key=nothing.data.hex()), nothing)
