"""The header of a container: magic, core, key slots, digest and MAC.

The core says what the backup is and never changes; slots come and go. Both are lines of canonical
JSON that anyone can read. The digest tells damage from a wrong key without any key; the MAC proves
that who wrote the header had the data key.
"""

import os
import re
from dataclasses import dataclass
from typing import BinaryIO

from codeflow_backup import canonical, ciphers, slots
from codeflow_backup.canonical import Fields
from codeflow_backup.ciphers import DIGEST_BYTES, Suite
from codeflow_backup.errors import DamagedError, UnknownVersionError
from codeflow_backup.slots import Slot
from codeflow_backup.stream import CHUNK_BYTES, PREFIX_BYTES

MAGIC = b"\x89CFMB\r\n\0"
FORMAT = 1
MIN_BYTES, MAX_BYTES = 64, 65_536
"""Of the lines."""

_LENGTH_BYTES = 4
_SEARCHED_BYTES = 4096
"""In every format, past and to come, the format's number stands within these first bytes."""

_FORMAT = re.compile(rb'"format":(0|[1-9][0-9]{0,8})[,}]')
_BACKUP_ID_BYTES = 16
_INSTANCE = re.compile(r"[0-9A-Za-z._-]{1,64}")
_VERSION = re.compile(r"[0-9A-Za-z.+_-]{1,64}")
_COMMITMENT = b"codeflow-backup 1 header"


@dataclass(frozen=True, slots=True)
class Core:
    """What a backup is, readable without a key and authenticated by it.

    Args:
        suite: The cipher of the payload.
        backup_id: 32 hex digits, random: no two backups share it.
        nonce_prefix: 7 random bytes.
        instance_id: Whose home or tenant it is; letters, digits, ``._-``, at most 64.
        generation: Of that instance, growing with its changes.
        created_at: Unix microseconds; what the clock said, and no proof of order.
        schema_version: Of the databases.
        app_version: Of the program that wrote it; letters, digits, ``.+_-``, at most 64.
    """

    suite: Suite
    backup_id: str
    nonce_prefix: bytes
    instance_id: str
    generation: int
    created_at: int
    schema_version: int
    app_version: str

    def encode(self) -> bytes:
        """Return the core's line of the header, without its end."""
        return canonical.encode(
            {
                "format": FORMAT,
                "suite": int(self.suite),
                "backup_id": self.backup_id,
                "chunk_bytes": CHUNK_BYTES,
                "nonce_prefix": self.nonce_prefix.hex(),
                "instance_id": self.instance_id,
                "generation": self.generation,
                "created_at": self.created_at,
                "schema_version": self.schema_version,
                "app_version": self.app_version,
            }
        )

    def digest(self) -> bytes:
        """Return SHA-256 of the core's line: what every key and slot is bound to."""
        return ciphers.digest(self.encode())


def new_backup_id() -> str:
    """Return a random backup id."""
    return os.urandom(_BACKUP_ID_BYTES).hex()


def new_nonce_prefix() -> bytes:
    """Return a random nonce prefix."""
    return os.urandom(PREFIX_BYTES)


@dataclass(frozen=True, slots=True)
class Header:
    """Core and slots, as a container begins with them."""

    core: Core
    slots: tuple[Slot, ...]

    def encode(self, data_key: bytes) -> bytes:
        """Return the container's bytes before its payload.

        Raises:
            DamagedError: The core or a slot has a value that no reader would take.
        """
        parts = [self.core.encode(), *(slot.encode() for slot in self.slots)]
        lines = b"".join(part + b"\n" for part in parts)
        parse_lines(lines)
        head = MAGIC + len(lines).to_bytes(_LENGTH_BYTES, "big") + lines
        head += ciphers.digest(head)
        return head + commitment(head, data_key, self.core)


def commitment(head: bytes, data_key: bytes, core: Core) -> bytes:
    """Return the MAC of all before it: only one data key fits it."""
    return ciphers.mac(ciphers.derive(data_key, core.digest(), _COMMITMENT), head)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A header as it was read: structure and digest are checked, the MAC waits for a key.

    Args:
        header: What the lines say.
        head: The bytes that the MAC is over.
        mac: The MAC that stands after them.
    """

    header: Header
    head: bytes
    mac: bytes

    @property
    def payload_at(self) -> int:
        """Where the payload begins."""
        return len(self.head) + len(self.mac)

    def check(self, data_key: bytes) -> None:
        """Prove that the header was written with *data_key*.

        Raises:
            DamagedError: It was not.
        """
        if not ciphers.same(self.mac, commitment(self.head, data_key, self.header.core)):
            raise DamagedError("the header is not what was written: its MAC does not fit")


def read(file: BinaryIO) -> Sealed:
    """Read the header that *file* begins with.

    Raises:
        UnknownVersionError: A format, suite or kind of slot that this program does not know.
        DamagedError: It is no header.
    """
    start = file.read(_SEARCHED_BYTES)
    if not start.startswith(MAGIC):
        raise DamagedError("the file does not begin as a backup does")
    _check_format(start)
    lines_at = len(MAGIC) + _LENGTH_BYTES
    length = int.from_bytes(start[len(MAGIC) : lines_at], "big")
    if not MIN_BYTES <= length <= MAX_BYTES:
        raise DamagedError(f"the header's length is not in {MIN_BYTES} to {MAX_BYTES}")
    end = lines_at + length
    whole = end + 2 * DIGEST_BYTES
    start += file.read(max(0, whole - len(start)))
    if len(start) < whole:
        raise DamagedError("the file ends within its header")
    if ciphers.digest(start[:end]) != start[end : end + DIGEST_BYTES]:
        raise DamagedError("the header is not what was written: its digest does not fit")
    header = parse_lines(start[lines_at:end])
    head = end + DIGEST_BYTES
    return Sealed(header, start[:head], start[head:whole])


def parse_lines(lines: bytes) -> Header:
    """Read the lines of a header.

    Raises:
        UnknownVersionError: A suite or kind of slot that this program does not know.
        DamagedError: They are not such lines.
    """
    if not lines.endswith(b"\n"):
        raise DamagedError("the header does not end its last line")
    first, *rest = lines[:-1].split(b"\n")
    return Header(_parse_core(first), slots.parse(rest))


def _check_format(start: bytes) -> None:
    found = _FORMAT.search(start)
    if found is None:
        raise DamagedError("the header names no format")
    if int(found[1]) != FORMAT:
        raise UnknownVersionError(f"this program does not know the format {int(found[1])}")


def _parse_core(line: bytes) -> Core:
    fields = Fields(canonical.parse(line, "the core header"), "the core header")
    fields.integer("format", FORMAT, FORMAT)
    suite = fields.integer("suite")
    if suite not in set(Suite):
        raise UnknownVersionError(f"this program does not know the suite {suite}")
    fields.integer("chunk_bytes", CHUNK_BYTES, CHUNK_BYTES)
    core = Core(
        suite=Suite(suite),
        backup_id=fields.octets("backup_id", _BACKUP_ID_BYTES).hex(),
        nonce_prefix=fields.octets("nonce_prefix", PREFIX_BYTES),
        instance_id=fields.text("instance_id", _INSTANCE),
        generation=fields.integer("generation"),
        created_at=fields.integer("created_at"),
        schema_version=fields.integer("schema_version"),
        app_version=fields.text("app_version", _VERSION),
    )
    fields.end()
    return core
