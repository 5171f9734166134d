"""Keys and keyed hashes: one home key yields, per tenant instance and purpose, every other key.

Tokens are hashed by HMAC, never by argon2: they carry 256 random bits, so a slow hash would only
hand anonymous callers a lever on the processor.
"""

import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_CHARACTERS = 43
"""43 characters of 62 carry 256 bits."""

_ID_CHARACTERS = 16
_FAIR_BYTES = 256 - 256 % len(_BASE62)
_TOKEN = re.compile(r"cfm_([a-z0-9][a-z0-9-]{0,62})_([0-9A-Za-z]{1,64})_([0-9A-Za-z]{1,128})")


@dataclass(frozen=True)
class TenantKeys:
    """The derived keys of one tenant instance.

    Args:
        home_key: 32 bytes.
        instance_id: The tenant's instance; another instance gets other keys.
    """

    home_key: bytes
    instance_id: str

    def check(self) -> str:
        """Return what tells these keys from those of another home key."""
        return self._mac(self._derive("check"), b"")

    def token_hash(self, secret: str) -> str:
        """Return what is stored of a token's secret: 64 hex digits."""
        return self._mac(self._token, secret.encode())

    def request_hash(self, *parts: str | bytes) -> str:
        """Return the keyed hash of a request's parts; the cut between them counts."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return self._mac(self._request, digest.digest())

    def operation_id(self, name: str) -> str:
        """Return what is stored of an operation's name: a client may have put a text into it."""
        return self._mac(self._request, b"operation\n" + name.encode())

    def bucket(self, name: str) -> str:
        """Return what is stored of a rate limit's bucket: it may be named by a peer's address."""
        return self._mac(self._request, b"bucket\n" + name.encode())

    def text_hash(self, text: str) -> str:
        """Return what a tombstone keeps of a text: equal texts agree, nothing can be guessed."""
        return self._mac(self._tombstone, text.encode())

    def audit_hash(self, epoch: int, previous: str, row: str) -> str:
        """Return the next link of the audit chain."""
        return self._mac(self._audit, f"{epoch}\n{previous}\n{row}".encode())

    def checkpoint_signature(self, unsigned: str) -> str:
        """Return the signature of a checkpoint of the audit."""
        return self._mac(self._checkpoint, unsigned.encode())

    @cached_property
    def cursor_key(self) -> bytes:
        """The key that signs page cursors."""
        return self._derive("cursor")

    @cached_property
    def _token(self) -> bytes:
        return self._derive("token")

    @cached_property
    def _request(self) -> bytes:
        return self._derive("request")

    @cached_property
    def _tombstone(self) -> bytes:
        return self._derive("tombstone")

    @cached_property
    def _audit(self) -> bytes:
        return self._derive("audit")

    @cached_property
    def _checkpoint(self) -> bytes:
        return self._derive("checkpoint")

    def _derive(self, purpose: str) -> bytes:
        info = f"codeflow-memory/1/{self.instance_id}/{purpose}".encode()
        return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=info).derive(
            self.home_key
        )

    @staticmethod
    def _mac(key: bytes, data: bytes) -> str:
        return hmac.digest(key, data, "sha256").hex()


def same(a: str, b: str) -> bool:
    """Compare two hashes in constant time."""
    return hmac.compare_digest(a.encode(), b.encode())


@dataclass(frozen=True, slots=True)
class TokenParts:
    """A bearer token taken apart; the parts have the right form, nothing more is known."""

    tenant: str
    token_id: str
    secret: str


def new_token(tenant: str) -> TokenParts:
    """Make a token's id and secret from the system's random source."""
    return TokenParts(tenant, _random_base62(_ID_CHARACTERS), _random_base62(_SECRET_CHARACTERS))


def format_token(parts: TokenParts) -> str:
    """Write ``cfm_<tenant>_<id>_<secret>``."""
    return f"cfm_{parts.tenant}_{parts.token_id}_{parts.secret}"


def parse_token(text: str) -> TokenParts | None:
    """Take a bearer token apart; ``None`` when it does not have the form."""
    found = _TOKEN.fullmatch(text)
    return None if found is None else TokenParts(found[1], found[2], found[3])


def _random_base62(count: int) -> str:
    out: list[str] = []
    while len(out) < count:
        # The last few byte values are dropped, so that every character is equally likely.
        out += [_BASE62[b % len(_BASE62)] for b in os.urandom(count) if b < _FAIR_BYTES]
    return "".join(out[:count])
