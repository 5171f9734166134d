"""Conditional requests: revisions as entity tags (RFC 9110) and idempotency keys."""

import re
from typing import Final

from codeflow_memory.domain.errors import InvalidRequestError, RevisionRequiredError

IDEMPOTENCY_KEY_CHARACTERS: Final = 200

# 18 digits fit the 64-bit integers of every store.
_ENTITY_TAG = re.compile(r'"(0|[1-9][0-9]{0,17})"', re.ASCII)
_VISIBLE = re.compile(r"[\x21-\x7e]+")


def etag(revision: int) -> str:
    """Return the strong entity tag of *revision*."""
    return f'"{revision}"'


def parse_if_match(header: str | None) -> int:
    """Read the revision that a client based its write on; 0 is one that nothing has.

    Raises:
        RevisionRequiredError: The header is missing.
        InvalidRequestError: It is not exactly one strong entity tag of ours: ``*``, a weak tag and
            a list name no single revision.
    """
    if header is None:
        raise RevisionRequiredError
    found = _ENTITY_TAG.fullmatch(header)
    if found is None:
        raise InvalidRequestError.at("header If-Match", 'must be one ETag as sent, such as "3"')
    return int(found[1])


def parse_idempotency_key(header: str | None) -> str | None:
    """Read the name that a client gave its operation; ``None`` where it gave none.

    Raises:
        InvalidRequestError: Not 1 to 200 visible ASCII characters.
    """
    if header is None:
        return None
    if len(header) > IDEMPOTENCY_KEY_CHARACTERS or _VISIBLE.fullmatch(header) is None:
        raise InvalidRequestError.at(
            "header Idempotency-Key",
            f"must be 1 to {IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters",
        )
    return header
