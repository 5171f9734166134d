"""Ciphers and keyed hashes: the one place that calls the cryptographic library.

Keys are 32 bytes, nonces 12, tags 16.
"""

import hashlib
import hmac
from enum import IntEnum
from typing import assert_never

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
DIGEST_BYTES = 32


class Suite(IntEnum):
    """The cipher of the payload, by its number in the header."""

    AES_256_GCM = 1
    CHACHA20_POLY1305 = 2


class Cipher:
    """An authenticated cipher with its key."""

    def __init__(self, suite: Suite, key: bytes) -> None:
        match suite:
            case Suite.AES_256_GCM:
                self._aead: AESGCM | ChaCha20Poly1305 = AESGCM(key)
            case Suite.CHACHA20_POLY1305:
                self._aead = ChaCha20Poly1305(key)
            case _:
                assert_never(suite)

    def seal(self, nonce: bytes, plain: bytes, associated: bytes = b"") -> bytes:
        """Encrypt *plain*; a nonce serves once under one key."""
        return self._aead.encrypt(nonce, plain, associated)

    def open(self, nonce: bytes, sealed: bytes, associated: bytes = b"") -> bytes | None:
        """Decrypt *sealed*, or return ``None`` if it is not what was sealed under this key."""
        try:
            return self._aead.decrypt(nonce, sealed, associated)
        except InvalidTag:
            return None


def derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    """Return the key for *purpose* that comes from *key*.

    Source: RFC 5869, HKDF with SHA-256.
    """
    return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=salt, info=purpose).derive(key)


def mac(key: bytes, data: bytes) -> bytes:
    """Return HMAC-SHA-256 of *data*."""
    return hmac.digest(key, data, "sha256")


def same(one: bytes, other: bytes) -> bool:
    """Compare in a time that does not tell where the two differ."""
    return hmac.compare_digest(one, other)


def digest(data: bytes) -> bytes:
    """Return SHA-256 of *data*."""
    return hashlib.sha256(data).digest()
