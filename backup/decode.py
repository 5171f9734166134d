"""Verify a backup without the program that wrote it.

This file is written from ``FORMAT.md`` alone and shares no code with ``codeflow_backup``: Python's
standard library, ``cryptography`` and ``argon2-cffi`` are all that it needs. It reads every byte,
writes nothing, and prints the manifest, or why the file is refused.

    python decode.py FILE --passphrase-file F
    python decode.py FILE --keyfile K

Exit codes: 0 ok, 2 usage, 3 wrong-key, 4 damaged, 5 unknown-version.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

EXIT_CODES = {"wrong-key": 3, "damaged": 4, "unknown-version": 5}
SUITES: dict[int, Any] = {1: AESGCM, 2: ChaCha20Poly1305}
KDFS = {"passphrase": "argon2id-v19", "keyfile": "hkdf-sha256"}

HEX = "[0-9a-f]"
LABEL = "[0-9A-Za-z._-]{1,64}"
PART = "[0-9A-Za-z_-][0-9A-Za-z._-]*"
NUMBER = (0, 2**63 - 1)

# What stands for a member's value: bounds of an integer, or the expression of a string.
CORE = {
    "app_version": "[0-9A-Za-z.+_-]{1,64}",
    "backup_id": HEX + "{32}",
    "chunk_bytes": (65536, 65536),
    "created_at": NUMBER,
    "format": (1, 1),
    "generation": NUMBER,
    "instance_id": LABEL,
    "nonce_prefix": HEX + "{14}",
    "schema_version": NUMBER,
    "suite": NUMBER,
}
KEYFILE_SLOT = {
    "kdf": "[a-z0-9-]{1,32}",
    "kind": "[a-z0-9-]{1,32}",
    "nonce": HEX + "{24}",
    "salt": HEX + "{32}",
    "slot": (1, 16),
    "wrapped": HEX + "{96}",
}
PASSPHRASE_SLOT = {
    **KEYFILE_SLOT,
    "lanes": (1, 8),
    "memory_kib": (65536, 1048576),
    "passes": (1, 10),
}
FILE = {"bytes": NUMBER, "name": f"(?=.{{1,255}}$){PART}(/{PART})*", "sha256": HEX + "{64}"}
DATABASE = {
    "audit_count": NUMBER,
    "audit_head": f"({HEX}{{64}})?",
    "ddl_sha256": HEX + "{64}",
    "fingerprint": HEX + "{64}",
    "generation": NUMBER,
    "instance_id": LABEL,
    "schema_version": NUMBER,
    "tenant": LABEL,
}
TABLE = {"rows": NUMBER, "sha256": HEX + "{64}"}


class RefusedError(Exception):
    """Why a backup is refused: the answer, and a sentence."""

    def __init__(self, answer: str, sentence: str) -> None:
        super().__init__(sentence)
        self.answer = answer


def need(condition: object, sentence: str, answer: str = "damaged") -> None:
    """Refuse unless *condition* holds."""
    if not condition:
        raise RefusedError(answer, sentence)


def canonical(value: Any) -> bytes:
    """Write a value in its one spelling."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def parse(data: bytes) -> Any:
    """Read a value, which must be in its one spelling; its members are checked one by one later."""
    need(re.fullmatch(rb"[ -\[\]-~]*", data), "a byte out of place")
    try:
        value = json.loads(data)
        spelled = canonical(value)
    except (ValueError, RecursionError):
        raise RefusedError("damaged", "not JSON") from None
    need(spelled == data, "not in canonical spelling")
    return value


def check_member(value: Any, form: Any, name: str) -> None:
    """Check the value of one member against its form."""
    if isinstance(form, str):
        fits = type(value) is str and re.fullmatch(form, value)
    else:
        fits = type(value) is int and form[0] <= value <= form[1]
    need(fits, f"{name} is not of its form")


def check_members(value: Any, forms: dict[str, Any]) -> None:
    """Check that *value* has exactly the members that it must have."""
    need(type(value) is dict and value.keys() == forms.keys(), "a missing or unknown member")
    for name, form in forms.items():
        check_member(value[name], form, name)


def derive(key: bytes, salt: bytes, purpose: str) -> bytes:
    """HKDF of a key."""
    info = f"codeflow-backup 1 {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(key)


class Header:
    """The header of a backup, checked as far as that goes without a key."""

    def __init__(self, file: BinaryIO) -> None:
        start = file.read(4096)
        need(start[:8] == b"\x89CFMB\r\n\x00", "not the magic of a backup")
        found = re.search(rb'"format":(0|[1-9][0-9]{0,8})[,}]', start)
        number = found[1].decode() if found else ""
        need(number, "no format")
        need(number == "1", f"format {number}", "unknown-version")
        length = int.from_bytes(start[8:12], "big")
        need(64 <= length <= 65536, "length of the header out of bounds")
        file.seek(0)
        self.bytes = 76 + length
        whole = file.read(self.bytes)
        need(len(whole) == self.bytes, "the file ends within its header")
        self.before_mac, self.mac = whole[:-32], whole[-32:]
        need(hashlib.sha256(whole[:-64]).digest() == whole[-64:-32], "digest of the header")
        need(whole[-65:-64] == b"\n", "the last line has no end")
        core_line, *slot_lines = whole[12:-65].split(b"\n")
        self.core = self.read_core(core_line)
        self.core_digest = hashlib.sha256(core_line).digest()
        need(1 <= len(slot_lines) <= 16, "not 1 to 16 slots")
        self.slots = [self.read_slot(line) for line in slot_lines]
        numbers = [slot["slot"] for slot in self.slots]
        need(numbers == sorted(set(numbers)), "slots out of order")

    @staticmethod
    def read_core(line: bytes) -> dict[str, Any]:
        """Read the core's line."""
        core = parse(line)
        need(type(core) is dict and "suite" in core and "format" in core, "no core")
        check_member(core["format"], CORE["format"], "format")
        check_member(core["suite"], CORE["suite"], "suite")
        need(core["suite"] in SUITES, f"suite {core['suite']}", "unknown-version")
        check_members(core, CORE)
        return dict(core)

    @staticmethod
    def read_slot(line: bytes) -> dict[str, Any]:
        """Read the line of a slot."""
        slot = parse(line)
        need(type(slot) is dict and "kind" in slot, "no slot")
        check_member(slot["kind"], KEYFILE_SLOT["kind"], "kind")
        need(slot["kind"] in KDFS, f"kind of slot {slot['kind']}", "unknown-version")
        need("kdf" in slot, "no kdf")
        check_member(slot["kdf"], KEYFILE_SLOT["kdf"], "kdf")
        need(slot["kdf"] == KDFS[slot["kind"]], f"key derivation {slot['kdf']}", "unknown-version")
        check_members(slot, PASSPHRASE_SLOT if slot["kind"] == "passphrase" else KEYFILE_SLOT)
        if slot["kind"] == "passphrase":
            need(slot["memory_kib"] * slot["passes"] <= 4194304, "too much work")
        return dict(slot)

    def data_key(self, kind: str, secret: bytes) -> bytes:
        """Unwrap the data key with the first slot that opens, and check the MAC."""
        for slot in self.slots:
            if slot["kind"] != kind:
                continue
            bound = canonical({name: slot[name] for name in slot if name != "wrapped"})
            try:
                data_key = AESGCM(wrapping_key(slot, secret)).decrypt(
                    bytes.fromhex(slot["nonce"]),
                    bytes.fromhex(slot["wrapped"]),
                    self.core_digest + bound,
                )
            except InvalidTag:
                continue
            header_key = derive(data_key, self.core_digest, "header")
            expected = hmac.digest(header_key, self.before_mac, "sha256")
            need(hmac.compare_digest(expected, self.mac), "MAC of the header")
            return data_key
        raise RefusedError("wrong-key", "no slot opens with what was given")


def wrapping_key(slot: dict[str, Any], secret: bytes) -> bytes:
    """Derive the key that wraps the data key in *slot*."""
    salt = bytes.fromhex(slot["salt"])
    if slot["kind"] == "keyfile":
        return derive(secret, salt, "wrap")
    cost = (slot["passes"], slot["memory_kib"], slot["lanes"])
    return hash_secret_raw(secret, salt, *cost, hash_len=32, type=Type.ID, version=19)


class Payload:
    """The chunks of a backup."""

    def __init__(self, file: BinaryIO, header: Header) -> None:
        self.file, self.start = file, header.bytes
        length = file.seek(0, 2) - self.start
        self.count = max(1, -(-length // 65552))
        self.last = length - (self.count - 1) * 65552
        need(self.last >= (16 if self.count == 1 else 17), "no length of a payload")
        self.bytes = length - 16 * self.count

    def open(self, header: Header, data_key: bytes) -> None:
        """Take the key, and authenticate the last chunk."""
        key = derive(data_key, header.core_digest, "payload")
        self.cipher = SUITES[header.core["suite"]](key)
        self.prefix = bytes.fromhex(header.core["nonce_prefix"])
        self.chunk(self.count - 1)

    def chunk(self, place: int) -> bytes:
        """Decrypt one chunk."""
        last = place == self.count - 1
        self.file.seek(self.start + place * 65552)
        sealed = self.file.read(self.last if last else 65552)
        nonce = self.prefix + place.to_bytes(4, "big") + (b"\x01" if last else b"\x00")
        try:
            return bytes(self.cipher.decrypt(nonce, sealed, None))
        except InvalidTag:
            raise RefusedError("damaged", f"chunk {place}") from None

    def chunks(self) -> Iterator[bytes]:
        """Decrypt all chunks in order."""
        for place in range(self.count):
            yield self.chunk(place)
        need(self.file.read(1) == b"", "something follows the last chunk")


class Plaintext:
    """Takes the plaintext from the front."""

    def __init__(self, payload: Payload) -> None:
        self.chunks = payload.chunks()
        self.buffer = b""

    def pieces(self, length: int) -> Iterator[bytes]:
        """Take *length* bytes, at most a chunk at a time."""
        while length:
            if not self.buffer:
                self.buffer = next(self.chunks, b"")
                need(self.buffer, "the plaintext ends too early")
            piece, self.buffer = self.buffer[:length], self.buffer[length:]
            length -= len(piece)
            yield piece

    def counted(self, most: int) -> bytes:
        """Take a part that begins with its length."""
        length = int.from_bytes(b"".join(self.pieces(4)), "big")
        need(length <= most, "a part is too long")
        return b"".join(self.pieces(length))


def read_manifest(data: bytes) -> list[dict[str, Any]]:
    """Read the manifest; return its files."""
    manifest = parse(data)
    need(type(manifest) is dict and manifest.keys() == {"files"}, "no manifest")
    files: list[dict[str, Any]] = manifest["files"]
    need(type(files) is list and 1 <= len(files) <= 10000, "not 1 to 10,000 files")
    for file in files:
        need(type(file) is dict, "a file is no object")
        check_members({name: file[name] for name in file if name != "database"}, FILE)
        if "database" in file:
            check_database(file["database"])
    names = {file["name"] for file in files}
    need(len(names) == len(files), "two files of one name")
    above = {str(parent) for name in names for parent in Path(name).parents}
    need(not names & above, "a file stands where a folder must")
    return files


def check_database(database: Any) -> None:
    """Check what the manifest says of a database."""
    need(type(database) is dict and type(database.get("tables")) is dict, "no database")
    check_members({name: database[name] for name in database if name != "tables"}, DATABASE)
    for name, table in database["tables"].items():
        check_member(name, "[A-Za-z_][0-9A-Za-z_]{0,63}", "name of a table")
        check_members(table, TABLE)


def decode(file: BinaryIO, kind: str, secret: bytes) -> tuple[bytes, str]:
    """Verify a whole backup.

    Args:
        file: The backup.
        kind: ``passphrase`` or ``keyfile``.
        secret: The passphrase or key, as section 4 says.

    Returns:
        The manifest, and SHA-256 of the whole plaintext in hex.

    Raises:
        RefusedError: It is not ``ok``.
    """
    header = Header(file)
    payload = Payload(file, header)
    payload.open(header, header.data_key(kind, secret))
    plaintext = Plaintext(payload)
    whole = hashlib.sha256()
    encoded = plaintext.counted(2097152)
    whole.update(len(encoded).to_bytes(4, "big") + encoded)
    files = read_manifest(encoded)
    for listed in files:
        digest = hashlib.sha256()
        for piece in plaintext.pieces(listed["bytes"]):
            digest.update(piece)
            whole.update(piece)
        need(digest.hexdigest() == listed["sha256"], "a file is not what the manifest says")
    trailer = canonical(
        {
            "bytes": sum(listed["bytes"] for listed in files),
            "files": len(files),
            "manifest_sha256": hashlib.sha256(encoded).hexdigest(),
        }
    )
    need(plaintext.counted(len(trailer)) == trailer, "the trailer does not repeat the manifest")
    need(not plaintext.buffer and not next(plaintext.chunks, b""), "more than the manifest says")
    whole.update(len(trailer).to_bytes(4, "big") + trailer)
    return encoded, whole.hexdigest()


def read_passphrase(data: bytes) -> bytes:
    """Return the passphrase that a file holds; empty if it holds none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return b""
    text = re.sub(r"\r?\n\Z", "", text)
    return unicodedata.normalize("NFC", text).encode() if len(data) <= 4096 else b""


def read_key(data: bytes) -> bytes:
    """Return the key that a file holds; empty if it holds none."""
    if len(data) == 32:
        return data
    encoded = re.sub(rb"\r?\n\Z", b"", data)
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return b""
    return key if len(key) == 32 and base64.b64encode(key) == encoded else b""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Verify a backup; exit 0 if it is sound.")
    parser.add_argument("file", type=Path)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--passphrase-file", type=Path)
    given.add_argument("--keyfile", type=Path)
    options = parser.parse_args()
    try:
        if options.keyfile:
            kind, secret = "keyfile", read_key(options.keyfile.read_bytes())
        else:
            kind, secret = "passphrase", read_passphrase(options.passphrase_file.read_bytes())
        if not secret:
            parser.error(f"the {kind} file does not hold what it should")
        with options.file.open("rb") as file:
            manifest, _ = decode(file, kind, secret)
    except OSError as error:
        parser.error(str(error))
    except RefusedError as refused:
        print(f"{refused.answer}: {refused}", file=sys.stderr)
        return EXIT_CODES[refused.answer]
    print(manifest.decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
