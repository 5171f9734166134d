"""Vectors of payloads: chunks left out, moved, marked otherwise; plaintexts that are no backup."""

import hashlib
from typing import Any

from encoder import (
    CHUNK,
    Edit,
    Members,
    Sealing,
    canonical,
    container,
    counted,
    data_key,
    file_entry,
    honest,
    plaintext_of,
    trailer,
)
from sound import TABLES, database
from vector import DAMAGED, Vector, recipe, vector

CONTENT = b"SQLite format 3\0"


def endings() -> list[Vector]:
    """Return vectors of payloads of one chunk."""
    edits: dict[str, Edit] = {
        "trailing-byte": lambda data: data + b"\0",
        "trailing-chunk": lambda data: data + bytes(65552),
        "cut-byte": lambda data: data[:-1],
        "cut-tag": lambda data: data[:-16],
        "cut-to-tag": lambda data: data[: payload_at(data) + 16],
        "cut-to-15": lambda data: data[: payload_at(data) + 15],
        "cut-all": lambda data: data[: payload_at(data)],
        "flipped-first": lambda data: flipped(data, payload_at(data)),
        "flipped-last": lambda data: flipped(data, len(data) - 1),
        "flipped-tag": lambda data: flipped(data, len(data) - 16),
        "zeros": lambda data: data[: payload_at(data)] + bytes(200),
        "newline": lambda data: data + b"\n",
    }
    ways: dict[str, dict[str, Any]] = {
        "no-final": {"chunks": lambda plain: [(plain, 0, 0)]},
        "mark-2": {"chunks": lambda plain: [(plain, 0, 2)]},
        "mark-255": {"chunks": lambda plain: [(plain, 0, 255)]},
        "counter-1": {"chunks": lambda plain: [(plain, 1, 1)]},
        "empty": {"chunks": lambda _: [(b"", 0, 1)]},
        "short-first": {"chunks": lambda plain: [(plain[:9], 0, 0), (plain[9:], 1, 1)]},
        "two-finals": {"chunks": lambda plain: [(plain, 0, 1), (plain, 1, 1)]},
        "empty-last": {"chunks": lambda plain: [(plain, 0, 0), (b"", 1, 1)]},
        "prefix": {
            "nonce": lambda front, n, mark: front[::-1] + n.to_bytes(4, "big") + bytes([mark])
        },
        "mark-first": {
            "nonce": lambda front, n, mark: front + bytes([mark]) + n.to_bytes(4, "big")
        },
        "associated": {"associated": b"core"},
        "cipher": {"cipher": 2},
        "cipher-chacha": {"cipher": 1, "core": {"suite": 2}},
    }
    said = "The only chunk is not what it should be."
    return [
        *(vector(f"end-{n}", said, DAMAGED, whole=edit) for n, edit in edits.items()),
        *(vector(f"chunk-{n}", said, DAMAGED, **way) for n, way in ways.items()),
    ]


def payload_at(data: bytes) -> int:
    """Return where the payload begins."""
    return 76 + int.from_bytes(data[8:12], "big")


def flipped(data: bytes, at: int) -> bytes:
    """Flip a bit."""
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def sequences() -> list[Vector]:
    """Return vectors of payloads of more than one chunk; each is 64 KiB at least."""
    three = plaintext_of(2 * CHUNK + 300)
    two = plaintext_of(CHUNK + 300)
    full = plaintext_of(CHUNK)

    def order(*places: int) -> Any:
        return lambda plain: [honest(plain)[place] for place in places]

    def marked(*marks: int) -> Any:
        return lambda plain: [
            (piece, n, mark) for (piece, n, _), mark in zip(honest(plain), marks, strict=True)
        ]

    def empty_after(plain: bytes) -> list[Sealing]:
        return [(plain, 0, 0), (b"", 1, 1)]

    def shifted(plain: bytes) -> list[Sealing]:
        return [(plain[:CHUNK], 0, 0), (plain[CHUNK:], 2, 1)]

    little = {"nonce": lambda front, n, mark: front + n.to_bytes(4, "little") + bytes([mark])}
    ways: dict[str, tuple[bytes, dict[str, Any]]] = {
        "empty-last": (full, {"chunks": empty_after}),
        "full-and-final-mark-missing": (full, {"chunks": marked(0)}),
        "two-finals": (two, {"chunks": marked(1, 1)}),
        "no-final": (two, {"chunks": marked(0, 0)}),
        "marks-swapped": (two, {"chunks": marked(1, 0)}),
        "dropped-first": (two, {"chunks": order(1)}),
        "dropped-last": (two, {"chunks": order(0)}),
        "counter-skips": (two, {"chunks": shifted}),
        "counter-little-endian": (two, little),
        "swapped": (three, {"chunks": order(1, 0, 2)}),
        "doubled": (two, {"chunks": order(0, 0, 1)}),
        "cut-within": (two, {"whole": lambda data: data[:-100]}),
        "last-flipped": (two, {"whole": lambda data: flipped(data, len(data) - 1)}),
        "first-flipped": (two, {"whole": lambda data: flipped(data, 2000)}),
    }
    said = "The chunks are not those that were written, in their order."
    made = [
        vector(f"chunks-{n}", said, DAMAGED, plaintext=p, **way) for n, (p, way) in ways.items()
    ]
    return [*made, mixed(two)]


def mixed(plain: bytes) -> Vector:
    """Return a vector whose last chunk comes from another backup under the same data key."""
    key = data_key("mixed")
    one, two = (
        container(recipe(label=f"mixed {n}", plaintext=plain, data_key=key)) for n in (1, 2)
    )
    cut = payload_at(one) + CHUNK + 16
    said = "The last chunk of another backup, under the same data key."
    return Vector("chunks-of-another", said, DAMAGED, data=one[:cut] + two[cut:])


def listed(*files: Members, content: bytes = CONTENT, tail: bytes | None = None) -> bytes:
    """Return a plaintext whose manifest lists *files*, whatever follows it."""
    return told(canonical({"files": list(files)}), content, tail)


def told(manifest: bytes, content: bytes = CONTENT, tail: bytes | None = None) -> bytes:
    """Return a plaintext of these parts."""
    return counted(manifest) + content + counted(tail or trailer(manifest, len(content), 1))


def lies() -> dict[str, bytes]:
    """Return plaintexts that authenticate and are no backup."""
    entry = file_entry("memory.sqlite", CONTENT)
    manifest = canonical({"files": [entry]})
    twin = {**entry, "name": "b"}
    digest = hashlib.sha256(manifest).hexdigest()
    good = told(manifest)
    size = len(CONTENT)
    return {
        "nothing": b"",
        "three-bytes": b"\0\0\0",
        "length-zero": counted(b""),
        "length-beyond": (5000).to_bytes(4, "big") + manifest,
        "length-most": b"\xff\xff\xff\xff" + manifest,
        "length-2-mib": (2 * 1024 * 1024 + 1).to_bytes(4, "big") + manifest,
        "manifest-only": counted(manifest),
        "no-trailer": counted(manifest) + CONTENT,
        "byte-after": good + b"\0",
        "byte-less": good[:-1],
        "space": told(manifest.replace(b":", b": ", 1)),
        "twice": told(manifest.replace(b'"name"', b'"bytes":16,"name"')),
        "unknown": told(canonical({"files": [entry], "more": 1})),
        "list": told(canonical([entry])),
        "no-files": told(canonical({"files": []}), b"", trailer(canonical({"files": []}), 0, 0)),
        "files-object": told(canonical({"files": {}})),
        "file-unknown": listed({**entry, "mode": 384}),
        "file-text": listed("memory.sqlite"),  # type: ignore[arg-type]  # what a forger may write
        "no-sha": listed({name: entry[name] for name in ("name", "bytes")}),
        "sha-other": listed({**entry, "sha256": "00" * 32}),
        "sha-upper": listed({**entry, "sha256": str(entry["sha256"]).upper()}),
        "bytes-less": listed({**entry, "bytes": size - 1}),
        "bytes-more": listed({**entry, "bytes": size + 1}),
        "bytes-huge": listed({**entry, "bytes": 2**63 - 1}),
        "bytes-negative": listed({**entry, "bytes": -1}),
        "bytes-fraction": listed({**entry, "bytes": 16.0}),
        "two-of-one-name": listed(entry, entry, content=CONTENT * 2),
        "folder-and-file": listed({**twin, "name": "b/c"}, twin, content=CONTENT * 2),
        "files-swapped": swapped(),
        "trailer-bytes": told(manifest, tail=trailer(manifest, size + 1, 1)),
        "trailer-files": told(manifest, tail=trailer(manifest, size, 2)),
        "trailer-manifest": told(manifest, tail=trailer(b"{}", size, 1)),
        "trailer-unknown": told(manifest, tail=trailer(manifest, size, 1, more=1)),
        "trailer-order": told(
            manifest,
            tail=b'{"files":1,"bytes":%d,"manifest_sha256":"%s"}' % (size, digest.encode()),
        ),
        "trailer-empty": counted(manifest) + CONTENT + counted(b""),
    }


def swapped() -> bytes:
    """Return a plaintext with its two files in the other order."""
    manifest = canonical({"files": [file_entry("a", b"11"), file_entry("b", b"22")]})
    return counted(manifest) + b"2211" + counted(trailer(manifest, 4, 2))


def names() -> list[Vector]:
    """Return vectors of files that would stand elsewhere than in the home."""
    bad = {
        "up": "../memory.sqlite",
        "up-within": "a/../../b",
        "dot": "./a",
        "dots": "..",
        "root": "/etc/passwd",
        "empty": "",
        "empty-part": "a//b",
        "folder": "a/",
        "hidden": ".ssh",
        "hidden-within": "a/.b",
        "space": "a b",
        "tilde": "~",
        "colon": "C:",
        "long": "a" * 256,
    }
    entry = file_entry("x", CONTENT)
    said = "A file's name is none."
    return [
        vector(f"name-{n}", said, DAMAGED, plaintext=listed({**entry, "name": name}))
        for n, name in bad.items()
    ]


def databases() -> list[Vector]:
    """Return vectors of what the manifest says of a database."""
    first = TABLES["memories"]
    bad: dict[str, Members] = {
        "unknown": {"more": 1},
        "no-tenant": {"tenant": None},
        "no-tables": {"tables": None},
        "no-fingerprint": {"fingerprint": None},
        "tables-list": {"tables": []},
        "table-name": {"tables": {"a-b": first}},
        "table-digit": {"tables": {"9": first}},
        "table-long": {"tables": {"a" * 65: first}},
        "table-unknown": {"tables": {"a": {**first, "more": 1}}},
        "table-rows": {"tables": {"a": {**first, "rows": -1}}},
        "table-text": {"tables": {"a": "b"}},
        "audit-short": {"audit_head": "00"},
        "audit-count": {"audit_count": 1.5},
        "tenant-slash": {"tenant": "a/b"},
        "ddl-short": {"ddl_sha256": "00"},
    }
    said = "What is said of a database is not of its form."
    return [
        vector(f"database-{n}", said, DAMAGED, plaintext=database(**change))
        for n, change in bad.items()
    ]


def vectors() -> list[Vector]:
    """Return all of this file."""
    said = "Every chunk authenticates, and the plaintext is no backup."
    untrue = [vector(f"plain-{n}", said, DAMAGED, plaintext=p) for n, p in lies().items()]
    return [*endings(), *sequences(), *untrue, *names(), *databases()]
