"""Vectors of headers: begun wrongly, spelled otherwise, not of their form, out of bounds."""

from edits import at_digest, cut, flip, line, order, swap
from encoder import MAGIC, Edit, Members, Recipe, Slot, cheap, container, key_file
from vector import DAMAGED, KEY, OTHER, PASSPHRASE, SMALL, WRONG_KEY, Vector, vector

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


def vectors() -> list[Vector]:
    """Return all of this file."""
    parts = (beginnings, lengths, spellings, slots, costs)
    return [made for part in parts for made in part()]
