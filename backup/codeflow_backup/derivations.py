"""How a passphrase or key file becomes the key that wraps the data key of a backup."""

import os
from dataclasses import dataclass, field
from typing import ClassVar

import argon2.low_level
from argon2.exceptions import HashingError

from codeflow_backup.canonical import Fields
from codeflow_backup.ciphers import KEY_BYTES, derive
from codeflow_backup.errors import DamagedError, UnusableError
from codeflow_backup.keys import KeyFile, Passphrase, Secret

SALT_BYTES = 16

MEMORY_KIB = (64 * 1024, 1024 * 1024)
PASSES = (1, 10)
LANES = (1, 8)
MAX_WORK_KIB = 4 * 1024 * 1024
"""Memory times passes: what a header may cost at most, before it is known to be ours."""

_WRAP = b"codeflow-backup 1 wrap"


@dataclass(frozen=True, slots=True)
class Argon2id:
    """Of a passphrase, by argon2id (version 19, RFC 9106); the defaults are what a new slot has."""

    KIND: ClassVar[str] = "passphrase"
    KDF: ClassVar[str] = "argon2id-v19"

    salt: bytes
    memory_kib: int = 256 * 1024
    passes: int = 3
    lanes: int = 4

    def members(self) -> dict[str, object]:
        """Return what a slot says of it."""
        return {
            "kind": self.KIND,
            "kdf": self.KDF,
            "salt": self.salt.hex(),
            "memory_kib": self.memory_kib,
            "passes": self.passes,
            "lanes": self.lanes,
        }

    @classmethod
    def take(cls, fields: Fields) -> "Argon2id":
        """Read it from a slot and refuse a cost out of bounds, before any memory is spent.

        Raises:
            DamagedError: A member is missing, malformed or out of its bounds.
        """
        found = cls(
            fields.octets("salt", SALT_BYTES),
            fields.integer("memory_kib", *MEMORY_KIB),
            fields.integer("passes", *PASSES),
            fields.integer("lanes", *LANES),
        )
        if found.memory_kib * found.passes > MAX_WORK_KIB:
            raise DamagedError(f"a key slot asks for more than {MAX_WORK_KIB} KiB times passes")
        return found

    def key(self, secret: Passphrase) -> bytes:
        """Derive the wrapping key, which takes the memory and time that the fields say.

        Raises:
            UnusableError: This machine does not have the memory.
        """
        try:
            return argon2.low_level.hash_secret_raw(
                secret=secret.data,
                salt=self.salt,
                time_cost=self.passes,
                memory_cost=self.memory_kib,
                parallelism=self.lanes,
                hash_len=KEY_BYTES,
                type=argon2.low_level.Type.ID,
                version=19,
            )
        except HashingError:
            raise UnusableError(
                f"this machine does not give the {self.memory_kib} KiB that the passphrase takes"
            ) from None


@dataclass(frozen=True, slots=True)
class Hkdf:
    """Of a key file, by HKDF-SHA-256: its 32 bytes are random, so nothing slow is needed."""

    KIND: ClassVar[str] = "keyfile"
    KDF: ClassVar[str] = "hkdf-sha256"

    salt: bytes

    def members(self) -> dict[str, object]:
        """Return what a slot says of it."""
        return {"kind": self.KIND, "kdf": self.KDF, "salt": self.salt.hex()}

    @classmethod
    def take(cls, fields: Fields) -> "Hkdf":
        """Read it from a slot.

        Raises:
            DamagedError: The salt is missing or malformed.
        """
        return cls(fields.octets("salt", SALT_BYTES))

    def key(self, secret: KeyFile) -> bytes:
        """Derive the wrapping key."""
        return derive(secret.data, self.salt, _WRAP)


Derivation = Argon2id | Hkdf


@dataclass(frozen=True, slots=True)
class Prepared:
    """A derivation and the wrapping key that came of it: all that a new slot needs."""

    derivation: Derivation
    key: bytes = field(repr=False)


def prepare(secret: Secret) -> Prepared:
    """Derive the wrapping key of a new slot, with a salt of its own.

    Of a passphrase it takes about a second and 256 MiB: call it before any lock is taken.

    Raises:
        UnusableError: This machine does not have the memory.
    """
    salt = os.urandom(SALT_BYTES)
    match secret:
        case Passphrase():
            slow = Argon2id(salt)
            return Prepared(slow, slow.key(secret))
        case KeyFile():
            quick = Hkdf(salt)
            return Prepared(quick, quick.key(secret))


def wrapping_key(derivation: Derivation, secret: Secret) -> bytes | None:
    """Derive the wrapping key of a slot, or return ``None`` if *secret* is of the other kind.

    Raises:
        UnusableError: This machine does not have the memory.
    """
    match derivation, secret:
        case Argon2id(), Passphrase():
            return derivation.key(secret)
        case Hkdf(), KeyFile():
            return derivation.key(secret)
        case _:
            return None
