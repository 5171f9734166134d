"""Key slots: each wraps the data key of the backup for one passphrase or key file."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codeflow_backup import canonical
from codeflow_backup.canonical import Fields
from codeflow_backup.ciphers import KEY_BYTES, NONCE_BYTES, TAG_BYTES, Cipher, Suite
from codeflow_backup.derivations import Argon2id, Derivation, Hkdf, Prepared, prepare, wrapping_key
from codeflow_backup.errors import DamagedError, UnknownVersionError
from codeflow_backup.keys import Secret

__all__ = ["MAX_SLOTS", "Prepared", "Slot", "find_data_key", "parse", "prepare", "wrap"]

MAX_SLOTS = 16

_WORD = re.compile(r"[a-z0-9-]{1,32}")
_DERIVATIONS: dict[str, type[Argon2id] | type[Hkdf]] = {
    Argon2id.KIND: Argon2id,
    Hkdf.KIND: Hkdf,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of the header.

    Args:
        number: 1 to 16, the slot's name within its backup.
        derivation: How its wrapping key is made.
        nonce: Of the wrapping, 12 bytes.
        wrapped: The data key under the wrapping key, 48 bytes.
    """

    number: int
    derivation: Derivation
    nonce: bytes
    wrapped: bytes

    @property
    def kind(self) -> str:
        """``passphrase`` or ``keyfile``."""
        return self.derivation.KIND

    def encode(self) -> bytes:
        """Return the slot's line of the header, without its end."""
        return canonical.encode({**self._bound(), "wrapped": self.wrapped.hex()})

    def associated(self, core_digest: bytes) -> bytes:
        """Return what is authenticated with the wrapped key: the core and the slot's own fields."""
        return core_digest + canonical.encode(self._bound())

    def _bound(self) -> dict[str, object]:
        return {"slot": self.number, **self.derivation.members(), "nonce": self.nonce.hex()}


def wrap(prepared: Prepared, data_key: bytes, core_digest: bytes, number: int) -> Slot:
    """Make slot *number*, which opens with what *prepared* was derived from."""
    slot = Slot(number, prepared.derivation, os.urandom(NONCE_BYTES), b"")
    sealed = _cipher(prepared.key).seal(slot.nonce, data_key, slot.associated(core_digest))
    return Slot(number, prepared.derivation, slot.nonce, sealed)


def parse(lines: Sequence[bytes]) -> tuple[Slot, ...]:
    """Read the slots' lines of a header.

    Raises:
        UnknownVersionError: A kind of slot or derivation that this program does not know.
        DamagedError: Too few or many, out of order, malformed, or with a cost out of bounds.
    """
    if not 1 <= len(lines) <= MAX_SLOTS:
        raise DamagedError(f"the header does not have 1 to {MAX_SLOTS} key slots")
    slots = tuple(_parse_one(line) for line in lines)
    numbers = [slot.number for slot in slots]
    if any(left >= right for left, right in pairwise(numbers)):
        raise DamagedError("the key slots are not in the order of their numbers")
    return slots


def find_data_key(
    slots: Iterable[Slot], core_digest: bytes, secrets: Iterable[Secret]
) -> bytes | None:
    """Unwrap the data key with the first secret and slot that fit.

    A passphrase is tried at every passphrase slot, each of which takes its own time and memory.

    Raises:
        UnusableError: This machine does not have the memory that a slot asks for.
    """
    slots = tuple(slots)
    for secret in secrets:
        for slot in slots:
            key = wrapping_key(slot.derivation, secret)
            if key is None:
                continue
            data_key = _cipher(key).open(slot.nonce, slot.wrapped, slot.associated(core_digest))
            if data_key is not None:
                return data_key
    return None


def _parse_one(line: bytes) -> Slot:
    fields = Fields(canonical.parse(line, "a key slot"), "a key slot")
    kind = fields.text("kind", _WORD)
    if kind not in _DERIVATIONS:
        raise UnknownVersionError(f"this program does not know the kind of key slot {kind}")
    kdf = fields.text("kdf", _WORD)
    if kdf != _DERIVATIONS[kind].KDF:
        raise UnknownVersionError(f"this program does not know the key derivation {kdf}")
    slot = Slot(
        fields.integer("slot", 1, MAX_SLOTS),
        _DERIVATIONS[kind].take(fields),
        fields.octets("nonce", NONCE_BYTES),
        fields.octets("wrapped", KEY_BYTES + TAG_BYTES),
    )
    fields.end()
    return slot


def _cipher(wrapping: bytes) -> Cipher:
    # Whatever the payload's suite: the wrapping is part of the format, not of the suite.
    return Cipher(Suite.AES_256_GCM, wrapping)
