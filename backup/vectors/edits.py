"""Edits of containers, from which the vectors are made."""

import json
from collections.abc import Callable
from typing import Any

from encoder import Edit, canonical


def swap(old: bytes, new: bytes) -> Edit:
    """Return an edit that replaces the one occurrence of *old*."""

    def edit(data: bytes) -> bytes:
        if data.count(old) != 1:
            raise ValueError(f"{old!r} occurs {data.count(old)} times")
        return data.replace(old, new)

    return edit


def line(number: int, change: Callable[[bytes], bytes]) -> Edit:
    """Return an edit of one line among the lines: 0 is the core."""

    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")
        lines[number] = change(lines[number])
        return b"\n".join(lines)

    return edit


def order(*numbers: int) -> Edit:
    """Return an edit that keeps these lines, in this order."""

    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")[:-1]
        return b"".join(lines[number] + b"\n" for number in numbers)

    return edit


def flip(at: int, bit: int = 1) -> Edit:
    """Return an edit that flips a bit of the byte at *at*, which may count from the end."""

    def edit(data: bytes) -> bytes:
        place = at % len(data)
        return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]

    return edit


def cut(at: int) -> Edit:
    """Return an edit that keeps the first *at* bytes."""
    return lambda data: data[:at]


def at_digest(offset: int) -> Edit:
    """Return an edit that flips a bit at *offset* from the digest on."""
    return lambda data: flip(12 + int.from_bytes(data[8:12], "big") + offset)(data)


def member(name: str, value: Any) -> Callable[[bytes], bytes]:
    """Return an edit of one member of a line."""
    return lambda text: canonical({**json.loads(text), name: value})
