"""Writes containers as ``FORMAT.md`` says, and, where a vector asks for it, otherwise.

It shares no code with ``codeflow_backup`` or ``decode.py``. Nothing is random: every key, salt and
nonce comes from the vector's name, so that the same files come out each time. Never use it for a
backup.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MAGIC = bytes.fromhex("8943464D420D0A00")
CHUNK = 65536
CIPHERS = {1: AESGCM, 2: ChaCha20Poly1305}

Members = dict[str, Any]
Edit = Callable[[bytes], bytes]
Sealing = tuple[bytes, int, int]
"""What is sealed as one chunk: plaintext, counter and end mark."""


def seeded(label: str, length: int) -> bytes:
    """Return *length* bytes that look random and depend on *label* alone."""
    return hashlib.shake_256(label.encode()).digest(length)


def canonical(value: Any) -> bytes:
    """Write JSON canonically."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def derive(key: bytes, salt: bytes, purpose: str) -> bytes:
    """HKDF of a key."""
    info = b"codeflow-backup 1 " + purpose.encode()
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(key)


@dataclass(frozen=True)
class Key:
    """A passphrase or key file of the vectors.

    Args:
        name: In the index.
        kind: ``passphrase`` or ``keyfile``.
        file: What the passphrase file or key file holds.
        secret: What FORMAT.md makes of it.
    """

    name: str
    kind: str
    file: bytes
    secret: bytes


def key_file(name: str) -> Key:
    """Make a key file of 32 raw bytes."""
    data = seeded(f"key {name}", 32)
    return Key(name, "keyfile", data, data)


def cheap(**cost: int) -> Members:
    """Return the members of a passphrase slot's cost: the least that is allowed, or as given."""
    return {"memory_kib": 65536, "passes": 1, "lanes": 1, **cost}


@dataclass(frozen=True)
class Slot:
    """How one slot is made.

    Args:
        key: It opens with this.
        cost: Of a passphrase.
        number: Its place in the header if not given.
        edit: Changes the members after wrapping: what no honest writer would write.
        associated: Replaces the core's digest in the associated data.
        unwrappable: Nothing is derived: the slot stands for a cost that nobody should pay.
    """

    key: Key
    cost: Members = field(default_factory=cheap)
    number: int | None = None
    edit: Members = field(default_factory=dict)
    associated: bytes | None = None
    unwrappable: bool = False

    def line(self, label: str, number: int, core_digest: bytes, data_key: bytes) -> bytes:
        """Return the slot's line."""
        slot: Members = {
            "kind": self.key.kind,
            "kdf": "argon2id-v19" if self.key.kind == "passphrase" else "hkdf-sha256",
            "salt": seeded(f"{label} salt {number}", 16).hex(),
            "nonce": seeded(f"{label} nonce {number}", 12).hex(),
            "slot": self.number or number,
        }
        if self.key.kind == "passphrase":
            slot |= self.cost
        associated = (self.associated or core_digest) + canonical(slot)
        if self.unwrappable:
            wrapped = seeded(f"{label} wrapped {number}", 48)
        else:
            cipher = AESGCM(self._wrapping(slot))
            wrapped = cipher.encrypt(bytes.fromhex(slot["nonce"]), data_key, associated)
        slot |= {"wrapped": wrapped.hex(), **self.edit}
        return canonical({name: value for name, value in slot.items() if value is not None})

    def _wrapping(self, slot: Members) -> bytes:
        salt = bytes.fromhex(slot["salt"])
        if self.key.kind == "keyfile":
            return derive(self.key.secret, salt, "wrap")
        cost = (slot["passes"], slot["memory_kib"], slot["lanes"])
        return hash_secret_raw(self.key.secret, salt, *cost, hash_len=32, type=Type.ID, version=19)


def same(data: bytes) -> bytes:
    """Change nothing."""
    return data


@dataclass(frozen=True)
class Recipe:
    """How a container is made; what is not given is as it should be.

    Args:
        label: Where its keys and nonces come from.
        plaintext: Of the payload.
        slots: In order.
        core: Members of the core that differ; ``None`` leaves one out.
        core_line: Edits the core's line before anything is bound to it.
        lines: Edits all lines before digest and MAC: a forger who has the data key.
        forged: Edits all lines after the MAC was made, and makes the digest anew: one who has not.
        length: The length that is written, for a forger who has the data key.
        chunks: Cuts and marks the chunks.
        nonce: Makes a chunk's nonce of prefix, counter and end mark.
        associated: Associated data of the chunks.
        cipher: Of the chunks, whatever the suite.
        data_key: Of another backup, to splice with it.
        whole: Edits the finished file.
    """

    label: str
    plaintext: bytes
    slots: tuple[Slot, ...]
    core: Members = field(default_factory=dict)
    core_line: Edit = same
    lines: Edit = same
    forged: Edit = same
    length: int | None = None
    chunks: Callable[[bytes], Iterable[Sealing]] | None = None
    nonce: Callable[[bytes, int, int], bytes] | None = None
    associated: bytes = b""
    cipher: int | None = None
    data_key: bytes | None = None
    whole: Edit = same


def core_members(label: str, changes: Members) -> Members:
    """Return the members of a core."""
    core = {
        "format": 1,
        "suite": 1,
        "backup_id": seeded(f"{label} id", 16).hex(),
        "chunk_bytes": CHUNK,
        "nonce_prefix": seeded(f"{label} prefix", 7).hex(),
        "instance_id": seeded(f"{label} instance", 16).hex(),
        "generation": 42,
        "created_at": 1_800_000_000_000_000,
        "schema_version": 1,
        "app_version": "0.1.0",
    }
    return {name: value for name, value in {**core, **changes}.items() if value is not None}


def data_key(label: str) -> bytes:
    """Return the data key of a container."""
    return seeded(f"{label} data key", 32)


def honest(plaintext: bytes) -> list[Sealing]:
    """Cut the plaintext as it should be."""
    cuts = range(0, max(1, len(plaintext)), CHUNK)
    return [
        (plaintext[at : at + CHUNK], place, int(place == len(cuts) - 1))
        for place, at in enumerate(cuts)
    ]


def head(lines: bytes, length: int | None = None) -> bytes:
    """Return magic, length, lines and digest."""
    whole = MAGIC + (len(lines) if length is None else length).to_bytes(4, "big") + lines
    return whole + hashlib.sha256(whole).digest()


def container(recipe: Recipe) -> bytes:
    """Make the container of a recipe."""
    core = core_members(recipe.label, recipe.core)
    core_line = recipe.core_line(canonical(core))
    digest = hashlib.sha256(core_line).digest()
    key = recipe.data_key or data_key(recipe.label)
    slot_lines = [
        slot.line(recipe.label, number, digest, key) for number, slot in enumerate(recipe.slots, 1)
    ]
    lines = recipe.lines(b"".join(line + b"\n" for line in (core_line, *slot_lines)))
    start = head(lines, recipe.length)
    mac = hmac.digest(derive(key, digest, "header"), start, "sha256")
    start = head(recipe.forged(lines), recipe.length)
    return recipe.whole(start + mac + payload(recipe, core, derive(key, digest, "payload")))


def payload(recipe: Recipe, core: Members, key: bytes) -> bytes:
    """Seal the chunks."""
    suite = recipe.cipher or core.get("suite")
    cipher = CIPHERS.get(suite if isinstance(suite, int) else 1, AESGCM)(key)
    prefix = seeded(f"{recipe.label} prefix", 7)
    make = recipe.nonce or (lambda front, n, mark: front + n.to_bytes(4, "big") + bytes([mark]))
    chunks = (recipe.chunks or honest)(recipe.plaintext)
    return b"".join(
        cipher.encrypt(make(prefix, counter, mark), plain, recipe.associated)
        for plain, counter, mark in chunks
    )


def file_entry(name: str, content: bytes, **more: Any) -> Members:
    """Return what the manifest says of a file."""
    digest = hashlib.sha256(content).hexdigest()
    return {"name": name, "bytes": len(content), "sha256": digest, **more}


def counted(data: bytes) -> bytes:
    """Put the length before a part."""
    return len(data).to_bytes(4, "big") + data


def trailer(manifest: bytes, total: int, count: int, **changes: Any) -> bytes:
    """Return the trailer of a manifest."""
    digest = hashlib.sha256(manifest).hexdigest()
    return canonical({"bytes": total, "files": count, "manifest_sha256": digest, **changes})


def plaintext(*files: tuple[str, bytes]) -> bytes:
    """Return the plaintext of files."""
    manifest = canonical({"files": [file_entry(name, content) for name, content in files]})
    contents = b"".join(content for _, content in files)
    return counted(manifest) + contents + counted(trailer(manifest, len(contents), len(files)))


def plaintext_of(length: int, label: str = "filler") -> bytes:
    """Return a plaintext of exactly *length* bytes: one file, as long as it must be."""
    size = length
    while len(whole := plaintext(("memory.sqlite", seeded(label, size)))) != length:
        size -= len(whole) - length
    return whole
