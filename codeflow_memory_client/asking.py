"""A request as a value, made once a call and sent as often as it takes."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import quote, urlencode


class Versioned(TypedDict):
    """What a change is based on: the thing as it was read. Its revision becomes ``If-Match``."""

    id: str
    revision: int


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked.

    Args:
        method: ``GET``, ``POST``, ``PUT``, ``PATCH`` or ``DELETE``.
        path: Escaped; see `place`.
        query: Parameters; those that are ``None`` are left out.
        body: JSON values; ``None`` sends no body.
        revision: That the change is based on.
        operation_id: Names the operation, 1 to 200 visible ASCII characters: the server does it
            once, however often it is told.
    """

    method: str
    path: str
    query: Mapping[str, object] | None = None
    body: Any = None
    revision: int | None = None
    operation_id: str | None = None

    @property
    def repeatable(self) -> bool:
        """Whether asking twice does nothing twice."""
        return self.method == "GET" or self.operation_id is not None

    @property
    def target(self) -> str:
        """Path and query string."""
        given = {k: _word(v) for k, v in (self.query or {}).items() if v is not None}
        return self.path + (f"?{urlencode(given)}" if given else "")

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it, without the credential."""
        found = {}
        if self.body is not None:
            found["Content-Type"] = "application/json"
        if self.revision is not None:
            found["If-Match"] = f'"{self.revision}"'
        if self.operation_id is not None:
            found["Idempotency-Key"] = self.operation_id
        return found

    @property
    def payload(self) -> bytes | None:
        """The body as it is sent.

        Raises:
            ValueError: It has a number or a text that JSON cannot have.
        """
        if self.body is None:
            return None
        return json.dumps(self.body, ensure_ascii=False, allow_nan=False).encode("utf-8")


def place(*segments: object) -> str:
    """Return the path of *segments*, each escaped as a segment of its own.

    Raises:
        ValueError: A segment is empty, ``.``, ``..`` or has a slash: no id does, and the path could
            be another route's, for servers read an escaped slash as one.
    """
    words = [str(segment) for segment in segments]
    if {"", ".", ".."}.intersection(words) or any("/" in word for word in words):
        raise ValueError("an id must not be empty, . or .., and has no slash")
    return "".join(f"/{quote(word, safe='')}" for word in words)


def named(operation_id: str | None) -> str:
    """Return the name of an operation: the one that was given, or a new one."""
    return str(uuid.uuid4()) if operation_id is None else operation_id


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
