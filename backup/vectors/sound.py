"""Vectors that open, and those that would with another key."""

import base64
import unicodedata
from typing import Any

from encoder import (
    CHUNK,
    Key,
    Slot,
    canonical,
    cheap,
    counted,
    file_entry,
    key_file,
    plaintext,
    plaintext_of,
    seeded,
    trailer,
)
from vector import KEY, OK, OTHER, PASSPHRASE, WRONG_KEY, Vector, vector

COMPOSED = unicodedata.normalize("NFC", "Café au lait").encode()
DECOMPOSED = unicodedata.normalize("NFD", "Café au lait").encode()
ACCENT = Key("decomposed", "passphrase", DECOMPOSED + b"\n", COMPOSED)
CRLF = Key("crlf", "passphrase", b" two  spaces \r\n", b" two  spaces ")
RETURN = Key("return", "passphrase", b"correct horse\r", b"correct horse\r")
BARE = Key("bare", "passphrase", b"correct horse", b"correct horse")
LINES = Key("two newlines", "passphrase", b"correct horse\n\n", b"correct horse\n")
LONG = Key("long", "passphrase", b"x" * 4096, b"x" * 4096)
WIDE = Key("compatible", "passphrase", "ﬁn".encode(), "ﬁn".encode())
NARROW = Key("narrow", "passphrase", b"fin", b"fin")
UPPER = Key("upper", "passphrase", b"Correct horse\n", b"Correct horse")
RAW = seeded("key encoded", 32)
ENCODED = Key("encoded", "keyfile", base64.b64encode(RAW), RAW)
ENDED = Key("ended", "keyfile", base64.b64encode(RAW) + b"\r\n", RAW)
SIXTEEN = tuple(key_file(f"key {number}") for number in range(1, 17))

TABLES = {"memories": {"rows": 3, "sha256": "ab" * 32}, "_x9": {"rows": 0, "sha256": "00" * 32}}
DATABASE = {
    "tenant": "local",
    "instance_id": "0123456789abcdef",
    "generation": 7,
    "schema_version": 1,
    "ddl_sha256": "12" * 32,
    "tables": TABLES,
    "fingerprint": "34" * 32,
    "audit_count": 9,
    "audit_head": "56" * 32,
}


def database(**changes: Any) -> bytes:
    """Return a plaintext with one database; *changes* are to what the manifest says of it."""
    content = b"SQLite format 3\0"
    said = {name: value for name, value in {**DATABASE, **changes}.items() if value is not None}
    manifest = canonical({"files": [file_entry("memory.sqlite", content, database=said)]})
    return counted(manifest) + content + counted(trailer(manifest, len(content), 1))


def opening() -> list[Vector]:
    """Return vectors of what opens."""
    mixed = (Slot(OTHER), Slot(PASSPHRASE), Slot(KEY))
    spread = (Slot(OTHER, number=3), Slot(KEY, number=7), Slot(PASSPHRASE, number=16))
    return [
        vector("key-file", "A key file slot, AES-256-GCM.", OK),
        vector("key-file-base64", "A key file in base64.", OK, ENCODED, slots=(Slot(ENCODED),)),
        vector("key-file-base64-crlf", "And a CR LF.", OK, ENDED, slots=(Slot(ENDED),)),
        vector("chacha", "A key file slot, ChaCha20-Poly1305.", OK, core={"suite": 2}),
        vector("passphrase", "A passphrase slot.", OK, PASSPHRASE, slots=(Slot(PASSPHRASE),)),
        vector(
            "passphrase-chacha",
            "The data key is wrapped by AES-256-GCM whatever the suite.",
            OK,
            PASSPHRASE,
            slots=(Slot(PASSPHRASE),),
            core={"suite": 2},
        ),
        vector("bare", "A passphrase file may lack its newline.", OK, BARE, slots=(Slot(BARE),)),
        vector("crlf", "A CR LF ends a passphrase file too.", OK, CRLF, slots=(Slot(CRLF),)),
        vector("two-newlines", "One newline is no part of it.", OK, LINES, slots=(Slot(LINES),)),
        vector("return", "A CR alone is a part.", OK, RETURN, slots=(Slot(RETURN),)),
        vector("composed", "A passphrase is made NFC.", OK, ACCENT, slots=(Slot(ACCENT),)),
        vector("long", "A passphrase of 4,096 bytes.", OK, LONG, slots=(Slot(LONG),)),
        vector("three-slots-key", "The third of three slots.", OK, slots=mixed),
        vector("three-slots-passphrase", "The second of three.", OK, PASSPHRASE, slots=mixed),
        vector("three-slots-first", "The first of three.", OK, OTHER, slots=mixed),
        vector("numbers-with-gaps", "Numbers ascend, with gaps.", OK, slots=spread),
        *(
            vector(
                f"sixteen-{number}",
                f"Slot {number} of sixteen.",
                OK,
                SIXTEEN[number - 1],
                slots=tuple(Slot(key) for key in SIXTEEN),
            )
            for number in (1, 9, 16)
        ),
    ]


def costs() -> list[Vector]:
    """Return vectors of the bounds of argon2id, inside."""
    paid = {"passes-2": {"passes": 2}, "lanes-8": {"lanes": 8}, "odd-memory": {"memory_kib": 65537}}
    listed = {
        "most-memory": {"memory_kib": 1048576},
        "most-passes": {"passes": 10, "memory_kib": 419430},
        "most-work": {"memory_kib": 1048576, "passes": 4, "lanes": 8},
        "new": {"memory_kib": 262144, "passes": 3, "lanes": 4},
    }
    return [
        *(
            vector(
                f"cost-{name}",
                "A cost within the bounds, paid.",
                OK,
                PASSPHRASE,
                slots=(Slot(PASSPHRASE, cheap(**cost)),),
            )
            for name, cost in paid.items()
        ),
        *(
            vector(
                f"cost-{name}-listed",
                "A cost at the bounds stands beside a key file that opens.",
                OK,
                slots=(Slot(PASSPHRASE, cheap(**cost), unwrappable=True), Slot(KEY)),
            )
            for name, cost in listed.items()
        ),
    ]


def cores() -> list[Vector]:
    """Return vectors of the bounds of the core, inside."""
    most = 2**63 - 1
    changes: dict[str, dict[str, Any]] = {
        "zeros": {"generation": 0, "created_at": 0, "schema_version": 0},
        "largest": {"generation": most, "created_at": most, "schema_version": most},
        "short-names": {"instance_id": "a", "app_version": "1"},
        "long-names": {"instance_id": "a.B_-" * 12 + "0123", "app_version": "1.2+a_b-" * 8},
        "zero-ids": {"backup_id": "00" * 16},
    }
    return [
        vector(f"core-{name}", "Values at the bounds of the core.", OK, core=core)
        for name, core in changes.items()
    ]


def contents() -> list[Vector]:
    """Return vectors of plaintexts, inside their bounds."""
    plain = {
        "one-file": plaintext(("memory.sqlite", b"x")),
        "empty-file": plaintext(("memory.sqlite", b""), ("a", b"1"), ("b", b"")),
        "only-an-empty-file": plaintext(("memory.json", b"")),
        "many-files": plaintext(*((f"tenants/t{n}/memory.sqlite", b"%d" % n) for n in range(40))),
        "long-name": plaintext(("/".join(["x" * 15] * 16), b"")),
        "odd-names": plaintext(("-", b""), ("_", b"1"), ("a..b", b"2"), ("A/b.c/9", b"3")),
        "name-and-longer": plaintext(("a", b"1"), ("ab/c", b"2"), ("a.b", b"3")),
        "database": database(),
        "database-without-audit": database(audit_count=0, audit_head=""),
        "database-without-tables": database(tables={}),
    }
    lengths = {
        "chunk-less-one": (CHUNK - 1, 1),
        "chunk": (CHUNK, 1),
        "chunk-chacha": (CHUNK, 2),
        "chunk-and-one": (CHUNK + 1, 1),
        "two-chunks": (2 * CHUNK, 2),
    }
    return [
        *(
            vector(f"plain-{n}", "A plaintext as it may be.", OK, plaintext=p)
            for n, p in plain.items()
        ),
        *(
            vector(
                f"length-{name}",
                "A plaintext at a border of chunks.",
                OK,
                plaintext=plaintext_of(length),
                core={"suite": suite},
            )
            for name, (length, suite) in lengths.items()
        ),
    ]


def locked() -> list[Vector]:
    """Return vectors that are sound, and do not open with what is given."""
    many = tuple(Slot(key) for key in SIXTEEN)
    by_passphrase = (Slot(PASSPHRASE),)
    return [
        vector("wrong-key-file", "Another key file.", WRONG_KEY, OTHER),
        vector("wrong-key-file-chacha", "Another key.", WRONG_KEY, OTHER, core={"suite": 2}),
        vector("wrong-of-sixteen", "None of sixteen.", WRONG_KEY, slots=many),
        vector("wrong-passphrase", "Another passphrase.", WRONG_KEY, UPPER, slots=by_passphrase),
        vector("wrong-return", "A CR alone is a part.", WRONG_KEY, RETURN, slots=by_passphrase),
        vector("wrong-newline", "Only one newline goes.", WRONG_KEY, LINES, slots=by_passphrase),
        vector("wrong-compatible", "NFC, not NFKC.", WRONG_KEY, NARROW, slots=(Slot(WIDE),)),
        vector("wrong-kind-key", "Only passphrases open it.", WRONG_KEY, slots=by_passphrase),
        vector("wrong-kind-passphrase", "Only key files open it.", WRONG_KEY, PASSPHRASE),
        vector(
            "wrong-core",
            "The slot is bound to another core.",
            WRONG_KEY,
            slots=(Slot(KEY, associated=seeded("another core", 32)),),
        ),
    ]


def vectors() -> list[Vector]:
    """Return all of this file."""
    return [*opening(), *costs(), *cores(), *contents(), *locked()]
