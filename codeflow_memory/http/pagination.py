"""Paging: how many rows, and cursors that only the caller who got them can use.

A cursor holds the position after the last row that was given. Its tag covers tenant (by the key),
principal and filters, so it works for nobody else and for no other question, and what it holds
need not be checked again.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from codeflow_memory.domain.errors import InvalidRequestError

DEFAULT_LIMIT: Final = 20
MAX_LIMIT: Final = 100

_TAG_BYTES = 16
_CURSOR_CHARACTERS = 1024

Position = tuple[str | int | float | None, ...]
"""The values that the rows are ordered by, of the last row given; the last one is unique."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A question that has pages.

    Args:
        key: Of this tenant and for cursors alone; at least 16 bytes.
        principal_id: Who asks.
        route: Which list, with the ids in its path: ``projects/prj_1/memories``.
        filters: Everything that decides which rows are in the list and their order; JSON values.
            Not the limit: the next page may be larger.
    """

    key: bytes
    principal_id: str
    route: str
    filters: Mapping[str, object]

    def to_cursor(self, position: Position) -> str:
        """Write the cursor that goes on after *position*."""
        payload = _json(list(position))
        return urlsafe_b64encode(self._tag(payload) + payload).rstrip(b"=").decode("ascii")

    def parse_cursor(self, cursor: str | None) -> Position | None:
        """Read the position that *cursor* goes on after; ``None`` at the start of the list.

        Raises:
            InvalidRequestError: At ``cursor``: not one that this question gave this principal.
        """
        if cursor is None:
            return None
        try:
            blob = urlsafe_b64decode(cursor[:_CURSOR_CHARACTERS].encode("ascii") + b"==")
        except ValueError:
            blob = b""
        tag, payload = blob[:_TAG_BYTES], blob[_TAG_BYTES:]
        # The decoder skips foreign characters and ignores spare bits; only our spelling counts.
        canonical = urlsafe_b64encode(blob).rstrip(b"=").decode("ascii") == cursor
        if not (canonical and hmac.compare_digest(tag, self._tag(payload))):
            raise InvalidRequestError.at("cursor", "is not a cursor of this list")
        position: Sequence[str | int | float | None] = json.loads(payload)
        return tuple(position)

    def _tag(self, payload: bytes) -> bytes:
        # Each part is JSON in one list, so that no two different questions share an input.
        bound = _json([self.principal_id, self.route, self.filters])
        digest = sha256(bound).digest() + payload
        return hmac.digest(self.key, digest, "sha256")[:_TAG_BYTES]


def parse_limit(text: str | None) -> int:
    """Read how many rows a client wants: 1 to 100, 20 where it does not say.

    Raises:
        InvalidRequestError: At ``limit``.
    """
    if text is None:
        return DEFAULT_LIMIT
    short = len(text) <= len(str(MAX_LIMIT))
    if not (short and text.isascii() and text.isdecimal() and 1 <= int(text) <= MAX_LIMIT):
        raise InvalidRequestError.at("limit", f"must be a whole number from 1 to {MAX_LIMIT}")
    return int(text)


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
