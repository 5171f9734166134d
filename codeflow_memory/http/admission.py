"""What a request must look like before anything of it is served: pure checks of an ASGI scope.

Hosts, spellings of the path, origins, repeated headers and media types are compared with exact
lists. Nothing is normalised first: two readers that normalise differently are the attack.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from litestar.types import HTTPScope

from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    LimitExceededError,
    MisdirectedRequestError,
    NotFoundError,
    UnsupportedMediaTypeError,
)
from codeflow_memory.http.bodies import BODY_BYTES

TARGET: Final = "codeflow.target"
"""The ASGI extension under which our server hands on the request target as it was sent."""

_API = (b"/api/", b"/mcp")

_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_FETCH_SITES = frozenset({b"same-origin", b"none"})

_ONCE = (
    b"authorization",
    b"content-encoding",
    b"content-length",
    b"content-type",
    b"cookie",
    b"idempotency-key",
    b"if-match",
    b"origin",
    b"sec-fetch-site",
    b"transfer-encoding",
)
"""Of a repeated one, one reader takes the first and another the last."""

_JSON = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?', re.IGNORECASE)

# Segments of RFC 3986's characters, without ";" (parameters); "%" only before two hex digits.
# The quantifiers are possessive: with plain ones a long path that fails would be tried in every
# possible division.
_PATH = re.compile(
    rb"/|(?:/(?!\.{1,2}(?:/|$))(?:[A-Za-z0-9._~!$&'()*+,=:@-]++|%[0-9A-Fa-f]{2})++)++"
)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
# What need not be escaped, and what must not be smuggled in: separators, controls, a second "%".
_UNESCAPED = re.compile(rb"[A-Za-z0-9._~\x00-\x1f\x7f/\\%;-]")

_ABSOLUTE = re.compile(rb"(?:http|https)://([^/?#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EdgePolicy:
    """What the edge admits.

    Args:
        hosts: Every ``Host`` value that is served, exactly: ``127.0.0.1:8787``.
        origins: Every ``Origin`` that may send requests, exactly: ``http://127.0.0.1:8787``.
        body_bytes: The greatest body.
        larger_bodies: Exact paths that take more, with their own maximum.
        body_seconds: From the first read of a body to its last byte.
        request_seconds: The deadline that a request's work sees.
        content_policies: Exact paths whose answers carry another ``Content-Security-Policy``.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    body_bytes: int = BODY_BYTES
    larger_bodies: Mapping[str, int] = field(default_factory=dict)
    body_seconds: float = 15.0
    request_seconds: float = 30.0
    content_policies: Mapping[str, str] = field(default_factory=dict)

    def body_limit(self, path: str) -> int:
        """Return the greatest body, in bytes, that *path* takes."""
        return self.larger_bodies.get(path, self.body_bytes)


def origins_of(hosts: Iterable[str]) -> frozenset[str]:
    """Return the origins of *hosts*, with and without TLS: a proxy before us may add it."""
    return frozenset(f"{scheme}://{host}" for host in hosts for scheme in ("http", "https"))


def announces_body(scope: HTTPScope) -> bool:
    """Tell whether the client said that it sends a body."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0") != b"")
        for name, value in scope["headers"]
    )


def admit(scope: HTTPScope, policy: EdgePolicy) -> None:
    """Check everything that is known before the body.

    Raises:
        MisdirectedRequestError: Not exactly one ``Host`` of ours, or a target on another host.
        NotFoundError: The path is not spelled the one way that a route is.
        ForbiddenError: Another origin's page sent it.
        InvalidRequestError: A header that may come once came more often.
        UnsupportedMediaTypeError: A body that is not plain JSON.
        LimitExceededError: A body announced to be too long.
    """
    headers = _collect(scope)
    _check_host(scope, headers, policy)
    _check_path(scope["raw_path"])
    _check_origin(scope, headers, policy)
    _check_repeated(headers)
    _check_body(scope, headers, policy)


def _collect(scope: HTTPScope) -> dict[bytes, list[bytes]]:
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.lower(), []).append(value)
    return headers


def _check_host(scope: HTTPScope, headers: Mapping[bytes, list[bytes]], policy: EdgePolicy) -> None:
    hosts = headers.get(b"host", [])
    if len(hosts) != 1 or hosts[0].decode("latin-1") not in policy.hosts:
        raise MisdirectedRequestError
    # An absolute target outranks Host (RFC 9112, section 3.2.2), and the server cuts it to a path.
    extension = (scope.get("extensions") or {}).get(TARGET)
    target = b"/" if extension is None else extension["raw"]
    if isinstance(target, bytes) and not target.startswith(b"/"):
        found = _ABSOLUTE.match(target)
        if found is None or found[1] != hosts[0]:
            raise MisdirectedRequestError


def _check_path(raw_path: bytes) -> None:
    plain = b"%" not in raw_path
    if _PATH.fullmatch(raw_path) is None or not (plain or _escapes_well(raw_path)):
        raise NotFoundError("route here")


def _escapes_well(raw_path: bytes) -> bool:
    escaped = bytes(int(found, 16) for found in _ESCAPE.findall(raw_path))
    try:
        _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), raw_path).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return _UNESCAPED.search(escaped) is None


def _check_origin(
    scope: HTTPScope, headers: Mapping[bytes, list[bytes]], policy: EdgePolicy
) -> None:
    for origin in headers.get(b"origin", []):
        if origin.decode("latin-1") not in policy.origins:
            raise ForbiddenError("requests from the pages of another origin are refused")
    if scope["raw_path"].startswith(_API):
        for site in headers.get(b"sec-fetch-site", []):
            if site not in _FETCH_SITES:
                raise ForbiddenError("requests from the pages of another site are refused")


def _check_repeated(headers: Mapping[bytes, list[bytes]]) -> None:
    for name in _ONCE:
        if len(headers.get(name, ())) > 1:
            title = name.decode("ascii").title()
            raise InvalidRequestError.at(f"header {title}", "is given more than once")


def _check_body(scope: HTTPScope, headers: Mapping[bytes, list[bytes]], policy: EdgePolicy) -> None:
    length = _declared_length(headers)
    types = headers.get(b"content-type", [])
    if announces_body(scope) or (types and scope["method"] in _WRITING):
        plain = len(types) == 1 and _JSON.fullmatch(types[0]) is not None
        if not plain or b"content-encoding" in headers:
            raise UnsupportedMediaTypeError
    limit = policy.body_limit(scope["path"])
    if length > limit:
        raise LimitExceededError("body_bytes", value=length, maximum=limit)


def _declared_length(headers: Mapping[bytes, list[bytes]]) -> int:
    text = headers.get(b"content-length", [b"0"])[0]
    if not text.isdigit() or len(text) > 18:  # noqa: PLR2004 - digits of a 64-bit integer
        raise InvalidRequestError.at("header Content-Length", "must be a number of bytes")
    return int(text)
