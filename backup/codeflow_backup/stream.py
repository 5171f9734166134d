"""The payload's chunks: their nonces, and how many a payload of some length has.

A chunk's nonce holds its place and whether it is the last, so that none can be left out, moved,
doubled or added.

Source: Hoang, Reyhanitabar, Rogaway, Vizár, *Online Authenticated-Encryption and its Nonce-Reuse
Misuse-Resistance* (2015): the STREAM construction.
"""

from dataclasses import dataclass

from codeflow_backup.ciphers import TAG_BYTES
from codeflow_backup.errors import DamagedError

CHUNK_BYTES = 65_536
"""Of plaintext; 64 KiB is the knee: smaller ones cost time, larger ones only memory."""

SEALED_BYTES = CHUNK_BYTES + TAG_BYTES
PREFIX_BYTES = 7
MAX_CHUNKS = 2**32
"""The nonce counts in four bytes: 256 TiB."""


def nonce(prefix: bytes, counter: int, *, last: bool) -> bytes:
    """Return the nonce of chunk *counter*, from 0."""
    return prefix + counter.to_bytes(4, "big") + bytes([last])


@dataclass(frozen=True, slots=True)
class Layout:
    """How a payload is cut into chunks.

    Args:
        chunks: At least 1: a last chunk is always present.
        bytes: Of plaintext.
    """

    chunks: int
    bytes: int

    def sealed(self, index: int) -> int:
        """Return the length of chunk *index* with its tag."""
        if index < self.chunks - 1:
            return SEALED_BYTES
        return self.bytes - index * CHUNK_BYTES + TAG_BYTES


def layout(payload_bytes: int) -> Layout:
    """Return how a payload of *payload_bytes* is cut.

    Raises:
        DamagedError: No payload has this length: its last chunk would have no tag, or no content
            although it is not the only one.
    """
    chunks = max(1, -(-payload_bytes // SEALED_BYTES))
    last = payload_bytes - (chunks - 1) * SEALED_BYTES
    if last < TAG_BYTES or (last == TAG_BYTES and chunks > 1) or chunks > MAX_CHUNKS:
        raise DamagedError("the payload does not have the length of a payload")
    return Layout(chunks, payload_bytes - chunks * TAG_BYTES)
