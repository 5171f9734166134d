"""Canonical JSON: one meaning has one spelling, and every other spelling is refused.

Sorted keys, no space, integers and plain strings only. A string has neither quotes nor backslashes
nor characters beyond ASCII's printable ones, so there is nothing to escape. A document is accepted
only if writing its values again gives its bytes: double keys, leading zeros, spaces, floats and
unusual orders all fail that one comparison.
"""

import json
import re
from typing import NoReturn

from codeflow_backup.errors import DamagedError

MAX_INTEGER = 2**63 - 1

_PLAIN = re.compile(rb"[ !#-\[\]-~]*")
"""What a string may hold; with the quotes around it, what a document may hold."""

_MAX_DIGITS = 19


def encode(value: object) -> bytes:
    """Write *value*, made of ``dict``, ``list``, ``str`` and ``int``, in its one spelling."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def parse(data: bytes, what: str) -> object:
    """Read one canonical document.

    Args:
        data: The whole document; the caller bounds its length.
        what: The document's name in sentences of refusal.

    Raises:
        DamagedError: It is not JSON, or not in canonical spelling.
    """
    if _PLAIN.fullmatch(data.replace(b'"', b"")) is None:
        raise DamagedError(f"{what} holds a byte that it must not hold")
    try:
        value: object = json.loads(
            data, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse
        )
        spelled = encode(value)
    except (ValueError, RecursionError):
        raise DamagedError(f"{what} is not JSON of objects, lists, strings and integers") from None
    if spelled != data:
        raise DamagedError(f"{what} is not in canonical spelling")
    return value


def _integer(digits: str) -> int:
    # Refused by length first: the value could have as many digits as the document has bytes.
    if len(digits) > _MAX_DIGITS or int(digits) > MAX_INTEGER:
        raise ValueError
    return int(digits)


def _refuse(_text: str) -> NoReturn:
    raise ValueError


class Fields:
    """Takes the members of one object by name; `end` refuses those that nobody took.

    Args:
        value: What was parsed.
        what: The object's name in sentences of refusal.

    Raises:
        DamagedError: *value* is no object.
    """

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, dict):
            raise DamagedError(f"{what} is not an object")
        self._left: dict[str, object] = dict(value)
        self._what = what

    def take(self, name: str) -> object:
        """Return the member *name*, whatever it is.

        Raises:
            DamagedError: There is none, here and below.
        """
        if name not in self._left:
            raise DamagedError(f"{self._what} has no {name}")
        return self._left.pop(name)

    def integer(self, name: str, low: int = 0, high: int = MAX_INTEGER) -> int:
        """Return an integer from *low* to *high*."""
        value = self.take(name)
        if type(value) is not int or not low <= value <= high:
            raise DamagedError(f"the {name} of {self._what} is not an integer in {low} to {high}")
        return value

    def text(self, name: str, pattern: re.Pattern[str]) -> str:
        """Return a string that *pattern* matches as a whole."""
        value = self.take(name)
        if not isinstance(value, str) or pattern.fullmatch(value) is None:
            raise DamagedError(f"the {name} of {self._what} is not of its form")
        return value

    def octets(self, name: str, length: int) -> bytes:
        """Return *length* bytes that are written in lower-case hexadecimal."""
        digits = self.text(name, re.compile(f"[0-9a-f]{{{2 * length}}}"))
        return bytes.fromhex(digits)

    def has(self, name: str) -> bool:
        """Tell whether *name* is still to be taken."""
        return name in self._left

    def end(self) -> None:
        """Refuse a member that was not taken.

        Raises:
            DamagedError: There is one.
        """
        if self._left:
            raise DamagedError(f"{self._what} has an unknown member")
