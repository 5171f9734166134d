"""What opens a backup: a passphrase or a key file, as it is read from a file of its own.

Neither shows in a ``repr``, and neither is ever an argument of a command.
"""

import base64
import binascii
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from codeflow_backup.ciphers import KEY_BYTES
from codeflow_backup.errors import InvalidKeyError, MissingError, StandsError
from codeflow_backup.files import create_private

MAX_PASSPHRASE_BYTES = 4096
"""A bound against reading a device or a wrong file; nobody types as much."""

_ENCODED_BYTES = 44
"""32 bytes in base64."""


@dataclass(frozen=True, slots=True, repr=False)
class Passphrase:
    """A passphrase: text in UTF-8, composed (NFC), without the newline that ends its file."""

    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class KeyFile:
    """The 32 random bytes of a key file."""

    data: bytes


Secret = Passphrase | KeyFile


def passphrase(data: bytes) -> Passphrase:
    """Turn what a passphrase file holds into a passphrase.

    One newline at the end is no part of it. The text is composed, so that it opens the same backup
    on systems that write an accent as a letter of its own.

    Raises:
        InvalidKeyError: It is empty, longer than `MAX_PASSPHRASE_BYTES` or not UTF-8.
    """
    if len(data) > MAX_PASSPHRASE_BYTES:
        raise InvalidKeyError(f"the passphrase is longer than {MAX_PASSPHRASE_BYTES} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidKeyError("the passphrase is not UTF-8") from None
    text = text.removesuffix("\r\n" if text.endswith("\r\n") else "\n")
    if not text:
        raise InvalidKeyError("the passphrase is empty")
    return Passphrase(unicodedata.normalize("NFC", text).encode("utf-8"))


def key_file(data: bytes) -> KeyFile:
    """Turn what a key file holds into its key: 32 bytes, raw or in base64.

    Raises:
        InvalidKeyError: It holds something else.
    """
    if len(data) == KEY_BYTES:
        return KeyFile(data)
    encoded = data.removesuffix(b"\r\n" if data.endswith(b"\r\n") else b"\n")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        key = b""
    # Written again and compared: base64 has several spellings of the last bits.
    if len(key) != KEY_BYTES or base64.b64encode(key) != encoded:
        raise InvalidKeyError("the key file does not hold 32 bytes, raw or in base64")
    return KeyFile(key)


def read_passphrase(path: Path) -> Passphrase:
    """Read a passphrase from the file *path*, which may be a pipe.

    Raises:
        InvalidKeyError: The file cannot be read or holds none.
    """
    return passphrase(_read(path, "passphrase file", MAX_PASSPHRASE_BYTES + 1))


def read_key_file(path: Path) -> KeyFile:
    """Read the key of the file *path*, which may be a pipe.

    Raises:
        InvalidKeyError: The file cannot be read or holds none.
    """
    return key_file(_read(path, "key file", _ENCODED_BYTES + 3))


def new_key_file(path: Path) -> None:
    """Write a new random key in base64 to *path*, mode 0600, and sync it.

    Raises:
        StandsError: Something stands there; it is left as it is.
        MissingError: The folder is not there.
        OSError: The file cannot be written; nothing is left of it.
    """
    encoded = base64.b64encode(os.urandom(KEY_BYTES)) + b"\n"
    try:
        create_private(path, encoded)
    except FileExistsError:
        raise StandsError("something stands under the name of the key file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError("the folder of the key file is not there") from None


def _read(path: Path, what: str, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InvalidKeyError(f"the {what} cannot be read: {error.strerror}") from None
