"""Where a backup comes from, for those who hold no key of it: an Ed25519 signature beside the file.

The signature is over the whole file. It says who made a backup; the MAC and the chunks say that it
was made with the data key. Adding or removing a key slot makes a new file, to be signed again.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from codeflow_backup import canonical
from codeflow_backup.canonical import Fields
from codeflow_backup.container import Reader
from codeflow_backup.errors import DamagedError, InvalidKeyError, UnknownVersionError, WrongKeyError
from codeflow_backup.header import MAGIC
from codeflow_backup.keys import read_key_file

FORMAT = 1
SUFFIX = ".sig"
"""Of the file that stands beside the backup."""

MAX_SIDECAR_BYTES = 1024

_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
_PIECE_BYTES = 1024 * 1024
_MAX_FORMAT = 999_999_999


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What a signature is checked with; it is no secret, but must come from the signer."""

    data: bytes

    def text(self) -> str:
        """Return it as a public key file holds it."""
        return base64.b64encode(self.data).decode("ascii") + "\n"


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A seed of Ed25519: 32 random bytes (RFC 8032)."""

    data: bytes

    def public(self) -> PublicKey:
        """Return the public key that belongs to it."""
        return PublicKey(self._key().public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Return the signature of *message*, 64 bytes."""
        return self._key().sign(message)

    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.data)


def read_signing_key(path: Path) -> SigningKey:
    """Read a signing key, which is a key file as `keys.new_key_file` makes it.

    Raises:
        InvalidKeyError: The file cannot be read or holds none.
    """
    return SigningKey(read_key_file(path).data)


def read_public_key(path: Path) -> PublicKey:
    """Read a public key as `PublicKey.text` gives it.

    Raises:
        InvalidKeyError: The file cannot be read or holds none.
    """
    try:
        with path.open("rb") as file:
            encoded = file.read(MAX_SIDECAR_BYTES).removesuffix(b"\n")
        key = base64.b64decode(encoded, validate=True)
    except OSError as error:
        raise InvalidKeyError(f"the public key cannot be read: {error.strerror}") from None
    except binascii.Error:
        key = b""
    if len(key) != _KEY_BYTES:
        raise InvalidKeyError("the public key file does not hold 32 bytes in base64")
    return PublicKey(key)


def sign(file: BinaryIO, key: SigningKey) -> bytes:
    """Return the content of the file to put beside the backup *file*.

    Raises:
        UnknownVersionError, DamagedError: *file* does not begin with a header.
    """
    members = {
        "format": FORMAT,
        "public_key": key.public().data.hex(),
        "signature": key.sign(_message(file)).hex(),
    }
    return canonical.encode(members) + b"\n"


def check(file: BinaryIO, sidecar: bytes, key: PublicKey) -> None:
    """Prove that the owner of *key* signed the backup *file* as it is.

    Args:
        file: The backup, able to seek.
        sidecar: The content of the file beside it, at most `MAX_SIDECAR_BYTES`.
        key: From the signer; the one that the sidecar names proves nothing by itself.

    Raises:
        WrongKeyError: Another key signed it.
        UnknownVersionError: A format of backup or signature that this program does not know.
        DamagedError: The backup or the signature is not what was written.
    """
    named, signature = _parse(sidecar)
    if named != key.data:
        raise WrongKeyError("the backup is signed with another key than the one given")
    try:
        Ed25519PublicKey.from_public_bytes(key.data).verify(signature, _message(file))
    except InvalidSignature:
        raise DamagedError("the backup is not what was signed") from None


def _message(file: BinaryIO) -> bytes:
    file.seek(0)
    core = Reader(file).core
    file.seek(0)
    whole = hashlib.sha256()
    while piece := file.read(_PIECE_BYTES):
        whole.update(piece)
    return (
        MAGIC + whole.digest() + bytes.fromhex(core.backup_id) + core.generation.to_bytes(8, "big")
    )


def _parse(sidecar: bytes) -> tuple[bytes, bytes]:
    what = "the signature file"
    if len(sidecar) > MAX_SIDECAR_BYTES or not sidecar.endswith(b"\n"):
        raise DamagedError(f"{what} is too long or does not end its line")
    fields = Fields(canonical.parse(sidecar[:-1], what), what)
    number = fields.integer("format", 0, _MAX_FORMAT)
    if number != FORMAT:
        raise UnknownVersionError(f"this program does not know the format {number} of signatures")
    found = fields.octets("public_key", _KEY_BYTES), fields.octets("signature", _SIGNATURE_BYTES)
    fields.end()
    return found
