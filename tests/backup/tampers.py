"""The changes of the tampering tests: each container with the errors that are right for it."""

import os
from collections.abc import Iterator
from io import BytesIO
from itertools import product
from random import Random

from codeflow_backup import header, slots, stream
from codeflow_backup.ciphers import digest
from codeflow_backup.container import Reader, payload_cipher
from codeflow_backup.header import Header
from codeflow_backup.slots import prepare
from codeflow_backup.stream import CHUNK_BYTES, SEALED_BYTES

from .containers import KEY, OTHER, SQLITE, backup_of, new_core, sealed

LONG = os.environ.get("CODEFLOW_LONG") == "1"
BITS = tuple(range(1, 256)) if LONG else tuple(1 << bit for bit in range(8))
"""What a byte is changed by."""

REPLACED = b'019afz"{,\n\x00\xff' if LONG else b'0a"\n'
"""What a byte of a header is replaced by."""

DAMAGED, UNKNOWN, WRONG_KEY = "damaged", "unknown-version", "wrong-key"

PLAIN = backup_of(memory__sqlite=SQLITE, key=b"k" * 16)
LINES_AT = 12


class Tamper:
    """One changed container.

    Args:
        what: How it was changed.
        data: The container.
        right: The errors that are right for it.
    """

    def __init__(self, what: str, data: bytes, *right: str) -> None:
        self.what, self.data, self.right = what, data, frozenset(right or {DAMAGED})


def format_at(data: bytes) -> int:
    return data.index(b'"format":') + 9


def flips(data: bytes) -> Iterator[Tamper]:
    """Change every byte; one that makes the format another digit is an unknown version."""
    number = format_at(data)
    for at, bits in product(range(len(data)), BITS):
        changed = data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]
        other = at == number and changed[at : at + 1].isdigit()
        yield Tamper(f"flip {at} by {bits}", changed, UNKNOWN if other else DAMAGED)


def lengths(data: bytes) -> Iterator[Tamper]:
    """Cut at every length; lengthen by what is likely and unlikely."""
    rng = Random(len(data))  # noqa: S311 - repeatable on purpose
    for length in range(len(data)):
        yield Tamper(f"cut to {length}", data[:length])
    for more in (1, 2, 15, 16, 17, 31, 32, 48, 255, 256, SEALED_BYTES, len(data)):
        for filling in (bytes(more), b"\n" * more, rng.randbytes(more), data[-more:], data[:more]):
            yield Tamper(f"extension by {more}", data + filling)
    for at in range(0, len(data), 1 if LONG else 4):
        yield Tamper(f"insertion at {at}", data[:at] + b"\0" + data[at:])
        yield Tamper(f"removal at {at}", data[:at] + data[at + 1 :])


def redone(lines: bytes, rest: bytes) -> bytes:
    """Put lines before the MAC and payload of a container, and make length and digest anew."""
    start = header.MAGIC + len(lines).to_bytes(4, "big") + lines
    return start + digest(start) + rest


def parts(data: bytes) -> tuple[bytes, bytes]:
    """Return the lines, and what follows the digest."""
    end = LINES_AT + int.from_bytes(data[8:LINES_AT], "big")
    return data[LINES_AT:end], data[end + 32 :]


def value(line: bytes, name: str) -> range:
    """Return where the value of a member stands in a line."""
    start = line.index(b'"%s":' % name.encode()) + len(name) + 3
    ends = (line.find(mark, start) for mark in (b",", b"}"))
    return range(start, min(end for end in ends if end >= 0))


def edits(data: bytes) -> Iterator[Tamper]:
    """Change the lines and make the digest anew, as one can who has no key.

    The first slot opens the container, others do not. A changed core or first slot no longer opens
    (``wrong-key``) if it is well-formed at all; of another slot the MAC tells. Only a number of
    format, suite, kind or derivation can be an unknown version.
    """
    lines, rest = parts(data)
    begin = 0
    for number, line in enumerate(lines.splitlines(keepends=True)):
        names = ("kind", "kdf") if number else ("format", "suite")
        versions = {begin + at for name in names for at in value(line, name)}
        for at, byte in product(range(begin, begin + len(line)), REPLACED):
            if lines[at] == byte:
                continue
            changed = lines[:at] + bytes([byte]) + lines[at + 1 :]
            right = {DAMAGED} if number > 1 else {DAMAGED, WRONG_KEY}
            right |= {UNKNOWN} if at in versions else set()
            yield Tamper(f"edit of line {number} at {at}", redone(changed, rest), *right)
        begin += len(line)


def rearranged(data: bytes) -> Iterator[Tamper]:
    """Leave out, double and reorder the lines of slots; add one; all with a digest made anew."""
    lines, rest = parts(data)
    core, *listed = lines.splitlines(keepends=True)
    foreign = sealed(PLAIN, OTHER)
    theirs = parts(foreign)[0].splitlines(keepends=True)[1:]
    pool = [*listed, *(line.replace(b'"slot":1', b'"slot":9') for line in theirs)]
    for length in range(len(pool) + 2):
        for order in product(range(len(pool)), repeat=length):
            if order != tuple(range(len(listed))):
                kept = b"".join(pool[at] for at in order)
                right = {DAMAGED} if 0 in order else {DAMAGED, WRONG_KEY}
                yield Tamper(f"slots {order}", redone(core + kept, rest), *right)


def deals(data: bytes, longest: int) -> Iterator[Tamper]:
    """Deal out the chunks in every sequence up to *longest*, but for the right one."""
    start = Reader(BytesIO(data)).payload_at
    chunks = [data[at : at + SEALED_BYTES] for at in range(start, len(data), SEALED_BYTES)]
    right = tuple(range(len(chunks)))
    for length in range(longest + 1):
        for order in product(right, repeat=length):
            if order != right:
                dealt = b"".join(chunks[at] for at in order)
                yield Tamper(f"chunks {order}", data[:start] + dealt)


def splices(one: bytes, two: bytes) -> Iterator[Tamper]:
    """Put the beginning of one container before the end of another, at every byte."""
    for at in range(1, len(one)):
        data = one[:at] + two[at:]
        if data not in (one, two):
            yield Tamper(f"splice at {at}", data)


def reheaded(one: bytes, two: bytes) -> Iterator[Tamper]:
    """Exchange whole parts of two containers that one key opens, with digests made anew."""
    (lines, rest), (others, remains) = parts(one), parts(two)
    core, *listed = lines.splitlines(keepends=True)
    foreign_core, *foreign = others.splitlines(keepends=True)
    mac, payload = rest[:32], rest[32:]
    yield Tamper("parts payload", redone(lines, mac + remains[32:]))
    yield Tamper("parts mac", redone(lines, remains[:32] + payload))
    yield Tamper("parts header", redone(others, remains[:32] + payload))
    yield Tamper("parts core", redone(foreign_core + b"".join(listed), rest), WRONG_KEY)
    yield Tamper("parts slots", redone(core + b"".join(foreign), rest), WRONG_KEY)
    yield Tamper("parts lines", redone(others, rest))


def mixtures(one: bytes, two: bytes) -> Iterator[Tamper]:
    """Take each chunk from either of two containers of equal layout, but all from the first."""
    start = Reader(BytesIO(one)).payload_at
    cuts = range(start, len(one), SEALED_BYTES)
    for choice in product((one, two), repeat=len(cuts)):
        mixed = b"".join(
            data[at : at + SEALED_BYTES] for data, at in zip(choice, cuts, strict=True)
        )
        if mixed != one[start:]:
            yield Tamper("mixture of chunks", one[:start] + mixed)


def sampled(data: bytes, count: int) -> Iterator[Tamper]:
    """Flip bits and cut bytes of a container that is too large to change in every place."""
    rng = Random(count)  # noqa: S311 - repeatable on purpose
    start = Reader(BytesIO(data)).payload_at
    for _ in range(count):
        at = rng.randrange(start, len(data))
        changed = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        yield Tamper(f"large flip at {at}", changed)
        yield Tamper(f"large cut to {at}", data[:at])


def under(data_key: bytes, plain: bytes) -> bytes:
    """A container of *plain* under a data key that another container has too."""
    core = new_core()
    slot = slots.wrap(prepare(KEY), data_key, core.digest(), 1)
    chunks = [plain[at : at + CHUNK_BYTES] for at in range(0, len(plain), CHUNK_BYTES)]
    payload = [
        payload_cipher(core, data_key).seal(
            stream.nonce(core.nonce_prefix, place, last=place == len(chunks) - 1), chunk
        )
        for place, chunk in enumerate(chunks)
    ]
    return Header(core, (slot,)).encode(data_key) + b"".join(payload)
