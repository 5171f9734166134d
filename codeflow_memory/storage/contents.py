"""Contents: text as it leaves the store, compared with its hash first.

The database's own checks find about one flipped bit in a hundred; the hash of a row finds each that
lies in a text.
"""

import hashlib
import json
from typing import Any

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.memory import Content, parse_content


def read(memory_id: str, canonical: str | None, sha256: str | None) -> Content | None:
    """Return the content that *canonical* holds; ``None`` of a tombstone.

    Raises:
        StoreUnusableError: It is not the text that was stored.
    """
    if canonical is None:
        return None
    check(memory_id, canonical, sha256)
    return parse_content(canonical)


def fields(memory_id: str, canonical: str, sha256: str | None) -> dict[str, Any]:
    """Return the fields of *canonical* as JSON values: cheaper than `read` for a part of them.

    Raises:
        StoreUnusableError: It is not the text that was stored.
    """
    check(memory_id, canonical, sha256)
    found: dict[str, Any] = json.loads(canonical)
    return found


def check(memory_id: str, canonical: str, sha256: str | None) -> None:
    """Refuse a text that is not the one that was stored.

    Raises:
        StoreUnusableError: Its hash is another.
    """
    if hashlib.sha256(canonical.encode()).hexdigest() != sha256:
        raise StoreUnusableError(
            f"memory {memory_id}", "its text is damaged; run doctor, and restore the newest backup"
        )
