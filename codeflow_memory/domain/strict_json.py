"""Strict JSON: one meaning or a refusal, in bounded time, memory and depth.

Python's own decoder keeps the last of two equal keys, takes ``NaN`` and ``1e999``, lets half a
surrogate pair through, and answers deep nesting and long integers with errors of its own.
"""

import json
import math
import re
from collections.abc import Iterator

from codeflow_memory.domain.errors import Fault, InvalidRequestError

MAX_DEPTH = 32
"""Levels of arrays and objects."""

MAX_ITEMS = 20_000
"""Commas and opening brackets of one document: what bounds the memory that its values take."""

MAX_FAULTS = 100
"""Faults reported of one document."""

_MAX_INTEGER = 2**63 - 1
_MAX_DIGITS = 20
_MAX_KEY_SHOWN = 100

_BOM = b"\xef\xbb\xbf"
_OPENING = ord("[")
_TO_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{},'))
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class _Flaw:
    """Stands in a decoded document where a value was refused, until its pointer is known."""

    __slots__ = ("detail",)

    def __init__(self, detail: str) -> None:
        self.detail = detail


def parse(data: bytes, *, max_depth: int = MAX_DEPTH, max_items: int = MAX_ITEMS) -> object:
    """Decode one JSON document in UTF-8.

    Args:
        data: The whole document; the caller bounds its length.
        max_depth: Levels of arrays and objects that are allowed, below 500.
        max_items: Commas and opening brackets, outside strings, that are allowed.

    Returns:
        ``dict``, ``list``, ``str``, ``int`` (64 bits, signed), finite ``float``, ``bool`` or
        ``None``. Text is as it was written; NUL (escaped) is let through for the text rules.

    Raises:
        InvalidRequestError: The bytes are not such a document. A value that is refused has its
            pointer (at most `MAX_FAULTS`, in document order), all else points to the document.
    """
    text = _decode(data)
    _check_bounds(data, max_depth=max_depth, max_items=max_items)
    reader = _Reader()
    value = reader.read(text)
    if reader.flawed or _SURROGATE_ESCAPE.search(data):
        faults = _first_faults(value)
        if faults:
            raise InvalidRequestError(faults)
    return value


def pointer(parent: str, key: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of *key* below *parent*.

    Keys come from outside and end up in logs and terminals: what does not print is escaped as in
    JSON, and a key of more than 100 characters is cut.
    """
    if isinstance(key, int):
        return f"{parent}/{key}"
    shown = key if len(key) <= _MAX_KEY_SHOWN else key[:_MAX_KEY_SHOWN] + "…"
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
    return f"{parent}/{shown.replace('~', '~0').replace('/', '~1')}"


def _decode(data: bytes) -> str:
    if not data:
        raise InvalidRequestError.at("", "is empty")
    if data.startswith(_BOM):
        raise InvalidRequestError.at("", "starts with a byte order mark")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequestError.at("", f"is not UTF-8 at byte {error.start}") from None


def _check_bounds(data: bytes, *, max_depth: int, max_items: int) -> None:
    """Refuse too many or too deeply nested values before any of them is made."""
    # Counting inside strings too can only count too much, and is enough for an ordinary body.
    opened = data.count(b"[") + data.count(b"{")
    if opened <= max_depth and opened + data.count(b",") <= max_items:
        return
    # Escaped backslashes go first: what is left before a quote then is that quote's escape.
    marks = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NOT_STRUCTURE)
    # An item has at most a key and a value; refused here, before each string becomes a piece.
    if marks.count(b'"') > 4 * (max_items + 1):
        raise InvalidRequestError.at("", f"has more than {max_items} items")
    outside_strings = b"".join(marks.split(b'"')[::2])
    brackets = outside_strings.translate(_TO_SQUARE, _NOT_BRACKETS)
    depth = 0
    for byte in brackets[: 2 * max_items]:
        depth += 1 if byte == _OPENING else -1
        if depth > max_depth:
            raise InvalidRequestError.at("", f"is nested deeper than {max_depth} levels")
    if brackets.count(b"[") + outside_strings.count(b",") > max_items:
        raise InvalidRequestError.at("", f"has more than {max_items} items")


class _Reader:
    """Decodes one document, puts a `_Flaw` where a value is refused, and remembers that it did."""

    def __init__(self) -> None:
        self.flawed = False

    def read(self, text: str) -> object:
        decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=self._constant,
        )
        try:
            value: object = decoder.decode(text)
        except json.JSONDecodeError as error:
            detail = f"is not JSON at line {error.lineno}, column {error.colno}"
            raise InvalidRequestError.at("", detail) from None
        return value

    def _flaw(self, detail: str) -> _Flaw:
        self.flawed = True
        return _Flaw(detail)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen = set()
            for key, _ in pairs:
                if key in seen:
                    found[key] = self._flaw("the key occurs twice")
                seen.add(key)
        return found

    def _integer(self, digits: str) -> int | _Flaw:
        # Compared before `int` is called: it raises an error of its own above 4,300 digits.
        number = int(digits) if len(digits) <= _MAX_DIGITS else _MAX_INTEGER + 1
        if -_MAX_INTEGER - 1 <= number <= _MAX_INTEGER:
            return number
        return self._flaw("is an integer of more than 64 bits")

    def _float(self, digits: str) -> float | _Flaw:
        number = float(digits)
        return number if math.isfinite(number) else self._flaw("is not a finite number")

    def _constant(self, _word: str) -> _Flaw:
        return self._flaw("is not a finite number")


def _first_faults(value: object) -> list[Fault]:
    """List the refused values and halved surrogate pairs in document order."""
    faults: list[Fault] = []
    for place, detail in _walk("", value):
        faults.append(Fault(place, detail))
        if len(faults) == MAX_FAULTS:
            break
    return faults


def _walk(place: str, value: object) -> Iterator[tuple[str, str]]:
    # Recursion is safe: the depth was checked on the bytes.
    if isinstance(value, dict):
        for key, item in value.items():
            below = pointer(place, key)
            if _is_halved(key):
                yield below, "the key has half a surrogate pair"
            yield from _walk(below, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(pointer(place, index), item)
    elif isinstance(value, _Flaw):
        yield place, value.detail
    elif isinstance(value, str) and _is_halved(value):
        yield place, "has half a surrogate pair"


def _is_halved(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
