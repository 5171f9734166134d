"""Vectors of headers: begun wrongly, of unknown versions, spelled otherwise, out of bounds."""

import json
from collections.abc import Callable
from typing import Any

from encoder import (
    MAGIC,
    Edit,
    Members,
    Recipe,
    Slot,
    canonical,
    cheap,
    container,
    data_key,
    key_file,
    seeded,
)
from vector import (
    DAMAGED,
    KEY,
    OK,
    OTHER,
    PASSPHRASE,
    SMALL,
    UNKNOWN,
    WRONG_KEY,
    Vector,
    recipe,
    vector,
)

FORGED = "Digest and MAC fit: only the rule itself refuses it."
ODD_VALUES: dict[str, str] = {
    "negative": "-1",
    "minus-zero": "-0",
    "leading-zero": "01",
    "fraction": "1.0",
    "exponent": "1e0",
    "large-exponent": "1e999",
    "nan": "NaN",
    "infinity": "Infinity",
    "true": "true",
    "null": "null",
    "text": '"1"',
    "list": "[1]",
    "64-bits": "9223372036854775808",
    "twenty-digits": "10000000000000000000",
    "5000-digits": "1" * 5000,
}
"""What may stand in place of an integer in JSON or almost JSON."""


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


def beginnings() -> list[Vector]:
    """Return vectors that do not begin as a backup does."""
    good = container(Recipe("beginnings", SMALL, (Slot(KEY),)))
    said = "The file does not begin as a backup does."
    files = {
        "empty": b"",
        "one-byte": good[:1],
        "seven-bytes": good[:7],
        "magic-only": good[:8],
        "no-lines": good[:12],
        "cut-before-format": good[:100],
        "text-unix": good.replace(b"\r\n", b"\n"),
        "text-mac": good.replace(b"\r\n", b"\r"),
        "text-windows": good.replace(b"\n", b"\r\n"),
        "text-no-zero": good.replace(b"\0", b"", 1),
        "text-zero-to-space": good.replace(b"\0", b" ", 1),
        "text-seven-bits": bytes(byte & 0x7F for byte in good),
        "text-utf8": good.decode("latin-1").encode("utf-8"),
        "text-replaced": good.decode("utf-8", "replace").encode("utf-8"),
        "sqlite": b"SQLite format 3\0" + bytes(4080),
        "zeros": bytes(4096),
        "byte-before": b"\0" + good,
        "base64": b"iUNGTUINCgA=",
    }
    flipped = [
        vector(
            f"magic-{at}", f"Byte {at} of the magic is not its own.", DAMAGED, whole=flip(at, 16)
        )
        for at in range(len(MAGIC))
    ]
    return [
        Vector(f"begin-{name}", said, DAMAGED, data=data) for name, data in files.items()
    ] + flipped


def lengths() -> list[Vector]:
    """Return vectors of the header's length."""
    said = "The header's length is not that of its lines."
    numbers = {"0": 0, "63": 63, "64": 64, "65536": 65536, "65537": 65537, "most": 2**32 - 1}
    padded = line(0, lambda core: core + b" " * (65536 - 700))
    return [
        *(vector(f"head-length-{n}", said, DAMAGED, length=v) for n, v in numbers.items()),
        vector("head-length-less", said, DAMAGED, whole=flip(11, 1)),
        vector("head-padded", "Spaces fill the lines.", DAMAGED, lines=padded),
        *(
            vector(f"head-cut-{at}", "The file ends within its header.", DAMAGED, whole=cut(at))
            for at in (200, 400, 500, 540, 580)
        ),
        vector("digest-flipped", "The digest does not fit.", DAMAGED, whole=at_digest(0)),
        vector("digest-last", "The digest does not fit.", DAMAGED, whole=at_digest(31)),
        vector("mac-flipped", "The MAC does not fit.", DAMAGED, whole=at_digest(32)),
        vector("mac-last", "The MAC does not fit.", DAMAGED, whole=at_digest(63)),
        vector("mac-before-key", "No key, no MAC.", WRONG_KEY, OTHER, whole=at_digest(32)),
        vector("digest-before-key", "Damage shows first.", DAMAGED, OTHER, whole=at_digest(0)),
        vector("core-flipped", "The digest does not fit.", DAMAGED, whole=flip(40)),
        vector("slot-flipped", "The digest does not fit.", DAMAGED, whole=flip(420)),
    ]


def cut(at: int) -> Edit:
    """Return an edit that keeps the first *at* bytes."""
    return lambda data: data[:at]


def at_digest(offset: int) -> Edit:
    """Return an edit that flips a bit at *offset* from the digest on."""
    return lambda data: flip(12 + int.from_bytes(data[8:12], "big") + offset)(data)


def versions() -> list[Vector]:
    """Return vectors of numbers that no decoder of format 1 knows."""
    numbers = (0, 2, 9, 10, 999_999_999)
    suites = (0, 3, 9, 65536, 2**63 - 1)
    kinds = {"kind": ("recipient", "1", "keyfiles"), "kdf": ("hkdf-sha512", "argon2id-v19", "none")}
    only = (Slot(PASSPHRASE, unwrappable=True, edit={"kdf": "argon2id-v16"}),)
    crossed = (Slot(PASSPHRASE, unwrappable=True, edit={"kdf": "hkdf-sha256"}),)
    second = (Slot(KEY), Slot(OTHER, edit={"kind": "recipient"}))
    fields = {"new": {"more": 1, "chunk_bytes": 5}, "long": {"app_version": "x" * 3000}}
    said = "It is refused with its number, whatever else it says."
    return [
        *(vector(f"format-{n}", said, UNKNOWN, core={"format": n}) for n in numbers),
        *(
            vector(f"format-2-{n}", said, UNKNOWN, core={"format": 2, **c})
            for n, c in fields.items()
        ),
        vector("format-digit", "One digit changed in place.", UNKNOWN, whole=other_format),
        vector("format-2-length", said, UNKNOWN, core={"format": 2}, length=2**32 - 1),
        vector("format-2-cut", said, UNKNOWN, core={"format": 2}, whole=cut(200)),
        vector("format-2-other-key", said, UNKNOWN, OTHER, core={"format": 2}),
        *(vector(f"suite-{n}", said, UNKNOWN, core={"suite": n}) for n in suites),
        vector("suite-new-members", said, UNKNOWN, core={"suite": 3, "more": 1}),
        *(
            vector(f"{member}-{value}", said, UNKNOWN, slots=(Slot(KEY, edit={member: value}),))
            for member, values in kinds.items()
            for value in values
        ),
        vector("kind-new-members", said, UNKNOWN, slots=(Slot(KEY, edit={"kind": "x", "y": 1}),)),
        vector("kind-second", "The first would open.", UNKNOWN, slots=second),
        vector("kdf-argon2id-v16", said, UNKNOWN, PASSPHRASE, slots=only),
        vector(
            "kdf-crossed", "A derivation of the other kind.", UNKNOWN, PASSPHRASE, slots=crossed
        ),
        vector(
            "format-leading-zero", "No number.", DAMAGED, lines=swap(b'format":1', b'format":01')
        ),
        vector("format-ten-digits", "No number.", DAMAGED, core={"format": 10**9}),
        vector("format-missing", "No format.", DAMAGED, core={"format": None}),
        vector("format-late", "Beyond the first bytes.", DAMAGED, core={"app_version": "x" * 4096}),
        vector("format-text", "No number.", DAMAGED, core={"format": "1"}),
        vector("kind-spelled", "No word.", DAMAGED, slots=(Slot(KEY, edit={"kind": "Key file"}),)),
        vector("kind-number", "No word.", DAMAGED, slots=(Slot(KEY, edit={"kind": 1}),)),
        vector("kind-missing", "No kind.", DAMAGED, slots=(Slot(KEY, edit={"kind": None}),)),
        vector("suite-missing", "No suite.", DAMAGED, core={"suite": None}),
        vector("suite-text", "No number.", DAMAGED, core={"suite": "1"}),
    ]


def other_format(data: bytes) -> bytes:
    """Change the digit of the format, and nothing else."""
    return swap(b'"format":1,', b'"format":7,')(data)


def spellings() -> list[Vector]:
    """Return vectors of a core that is not in canonical JSON, or not of its form."""
    core: dict[str, Edit] = {
        "space": swap(b":42,", b": 42,"),
        "tab": swap(b":42,", b":\t42,"),
        "carriage-return": lambda data: data + b"\r",
        "space-before": lambda data: b" " + data,
        "byte-order-mark": lambda data: b"\xef\xbb\xbf" + data,
        "escaped": swap(b'"0.1.0"', b'"0\\u002e1.0"'),
        "quote": swap(b'"0.1.0"', b'"0\\"1"'),
        "utf8": swap(b'"0.1.0"', '"0.1.é"'.encode()),
        "control": swap(b'"0.1.0"', b'"0.1\x1f"'),
        "delete": swap(b'"0.1.0"', b'"0.1\x7f"'),
        "unsorted": lambda data: b'{"suite":1,' + data[1:].replace(b',"suite":1}', b"}"),
        "twice": lambda data: data.replace(b',"suite":1}', b',"suite":1,"suite":1}'),
        "twice-other": lambda data: data.replace(b'"format":1,', b'"format":1,"format":2,'),
        "trailing-comma": lambda data: data[:-1] + b",}",
        "second-value": lambda data: data + b"{}",
        "comment": lambda data: data + b"//",
        "single-quotes": lambda data: data.replace(b'"suite"', b"'suite'"),
        "list": lambda data: b"[" + data + b"]",
        "nested": lambda data: data.replace(b":42,", b":" + b"[" * 500 + b"]" * 500 + b","),
        "deep": lambda data: data.replace(b":42,", b":" + b"[" * 20000 + b"]" * 20000 + b","),
        "open": lambda data: data.replace(b":42,", b":" + b"[" * 20000 + b","),
    }
    values: dict[str, Members] = {
        "unknown": {"more": 1},
        "chunk-smaller": {"chunk_bytes": 65535},
        "chunk-larger": {"chunk_bytes": 131072},
        "prefix-short": {"nonce_prefix": "00" * 6},
        "prefix-long": {"nonce_prefix": "00" * 8},
        "id-short": {"backup_id": "00" * 15},
        "id-upper": {"backup_id": "AB" * 16},
        "instance-empty": {"instance_id": ""},
        "instance-long": {"instance_id": "a" * 65},
        "instance-slash": {"instance_id": "a/b"},
        "instance-number": {"instance_id": 5},
        "version-empty": {"app_version": ""},
        "version-long": {"app_version": "1" * 65},
        "version-space": {"app_version": "1 2"},
    }
    names = ("app_version", "backup_id", "chunk_bytes", "created_at", "generation", "instance_id")
    return [
        *(vector(f"spelled-{n}", FORGED, DAMAGED, core_line=edit) for n, edit in core.items()),
        *(
            vector(f"number-{n}", FORGED, DAMAGED, core_line=swap(b":42,", b":%s," % v.encode()))
            for n, v in ODD_VALUES.items()
        ),
        *(vector(f"core-bad-{n}", FORGED, DAMAGED, core=c) for n, c in values.items()),
        *(
            vector(f"core-without-{name}", FORGED, DAMAGED, core={name: None})
            for name in (*names, "nonce_prefix", "schema_version")
        ),
    ]


def slots() -> list[Vector]:
    """Return vectors of slots that are not of their form."""
    edits: dict[str, Members] = {
        "unknown": {"more": 1},
        "salt-short": {"salt": "00" * 15},
        "salt-missing": {"salt": None},
        "nonce-long": {"nonce": "00" * 13},
        "nonce-missing": {"nonce": None},
        "wrapped-short": {"wrapped": "00" * 47},
        "wrapped-upper": {"wrapped": "AB" * 48},
        "wrapped-missing": {"wrapped": None},
        "kdf-missing": {"kdf": None},
        "number-0": {"slot": 0},
        "number-17": {"slot": 17},
        "number-text": {"slot": "1"},
        "number-missing": {"slot": None},
        "cost": {"passes": 1},
    }
    lines: dict[str, Edit] = {
        "none": order(0),
        "descending": order(0, 2, 1),
        "twice": order(0, 1, 1, 2),
        "core-last": order(1, 0, 2),
        "core-twice": order(0, 0, 1),
        "empty-line": lambda data: data + b"\n",
        "empty-first": lambda data: b"\n" + data,
        "no-end": lambda data: data[:-1],
        "cr-ends": lambda data: data.replace(b"\n", b"\r\n"),
        "space": line(1, lambda slot: slot.replace(b":", b": ", 1)),
        "double-member": line(1, lambda slot: slot.replace(b'"slot":1', b'"slot":1,"slot":1')),
        "list": line(2, lambda _: b"[]"),
        "text": line(2, lambda _: b'""'),
    }
    many = tuple(Slot(key_file(f"key {n}"), number=min(n, 16)) for n in range(1, 17))
    return [
        *(
            vector(f"slot-{n}", FORGED, DAMAGED, slots=(Slot(KEY, edit=e),))
            for n, e in edits.items()
        ),
        *(
            vector(f"slots-{n}", FORGED, DAMAGED, lines=edit, slots=(Slot(KEY), Slot(OTHER)))
            for n, edit in lines.items()
        ),
        vector("slots-seventeen", FORGED, DAMAGED, slots=(*many, Slot(KEY, number=16))),
    ]


def costs() -> list[Vector]:
    """Return vectors of costs out of bounds: refused before any memory is spent."""
    bad: dict[str, Members] = {
        "memory-less": {"memory_kib": 65535},
        "memory-zero": {"memory_kib": 0},
        "memory-more": {"memory_kib": 1048577},
        "memory-32-bits": {"memory_kib": 2**32},
        "memory-63-bits": {"memory_kib": 2**63 - 1},
        "passes-zero": {"passes": 0},
        "passes-eleven": {"passes": 11},
        "passes-32-bits": {"passes": 2**32},
        "lanes-zero": {"lanes": 0},
        "lanes-nine": {"lanes": 9},
        "lanes-24-bits": {"lanes": 2**24},
        "work": {"memory_kib": 1048576, "passes": 5},
        "work-by-one": {"memory_kib": 419431, "passes": 10},
        "memory-fraction": {"memory_kib": 65536.0},
        "memory-text": {"memory_kib": "65536"},
        "memory-negative": {"memory_kib": -65536},
        "passes-true": {"passes": True},
        "memory-missing": {"memory_kib": None},
        "lanes-missing": {"lanes": None},
    }
    return [
        vector(
            f"cost-{name}",
            "A cost out of its bounds, though the key file beside it would open.",
            DAMAGED,
            key,
            slots=(Slot(KEY), Slot(PASSPHRASE, edit=cheap(**edit), unwrappable=True)),
        )
        for index, (name, edit) in enumerate(bad.items())
        for key in ((KEY, PASSPHRASE)[index % 2],)
    ]


def forgeries() -> list[Vector]:
    """Return vectors of edits by one who has no data key, and made the digest anew."""
    two = (Slot(KEY), Slot(OTHER))
    theirs = Slot(OTHER).line("theirs", 2, seeded("theirs", 32), data_key("theirs"))
    value = line(1, member("wrapped", "00" * 48))
    core: dict[str, Edit] = {
        "generation": swap(b":42,", b":43,"),
        "suite": swap(b'"suite":1', b'"suite":2'),
        "instance": swap(b'"instance_id":"', b'"instance_id":"b'),
    }
    other: dict[str, Edit] = {
        "removed": order(0, 1),
        "salt": line(2, member("salt", "00" * 16)),
        "wrapped": line(2, member("wrapped", "00" * 48)),
        "number": line(2, member("slot", 9)),
        "replaced": lambda data: order(0, 1)(data) + theirs + b"\n",
    }
    own: dict[str, Edit] = {
        "salt": line(1, member("salt", "00" * 16)),
        "nonce": line(1, member("nonce", "00" * 12)),
        "wrapped": value,
        "removed": order(0, 2),
    }
    said = "Forged without the data key"
    return [
        *(vector(f"forged-core-{n}", f"{said}.", WRONG_KEY, forged=e) for n, e in core.items()),
        *(
            vector(f"forged-slot-{n}", f"{said}; the MAC tells.", DAMAGED, slots=two, forged=e)
            for n, e in other.items()
        ),
        *(
            vector(f"forged-own-{n}", f"{said}.", WRONG_KEY, slots=two, forged=e)
            for n, e in own.items()
        ),
        vector("unforged", "The same without an edit.", OK, slots=two),
        *spliced(),
    ]


def member(name: str, value: Any) -> Callable[[bytes], bytes]:
    """Return an edit of one member of a line."""
    return lambda text: canonical({**json.loads(text), name: value})


def spliced() -> list[Vector]:
    """Return vectors that are put together of two backups."""
    one, two = (container(recipe(label=f"splice {n}")) for n in (1, 2))
    shared = container(recipe(label="splice 3", data_key=data_key("splice 1")))
    ends = [76 + int.from_bytes(whole[8:12], "big") for whole in (one, two, shared)]
    files = {
        "payload": one[: ends[0]] + two[ends[1] :],
        "payload-same-data-key": one[: ends[0]] + shared[ends[2] :],
        "mac": one[: ends[0] - 32] + two[ends[1] - 32 : ends[1]] + one[ends[0] :],
        "two-files": one + two,
        "doubled": one + one,
    }
    said = "Two backups that one key opens, put together."
    return [Vector(f"spliced-{name}", said, DAMAGED, data=data) for name, data in files.items()]


def vectors() -> list[Vector]:
    """Return all of this file."""
    parts = (beginnings, lengths, versions, spellings, slots, costs, forgeries)
    return [made for part in parts for made in part()]
