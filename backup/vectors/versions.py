"""Vectors of numbers that no decoder of format 1 knows, and of what is no number."""

from edits import cut, swap
from encoder import Slot
from vector import DAMAGED, KEY, OTHER, PASSPHRASE, UNKNOWN, Vector, vector

SAID = "It is refused with its number, whatever else it says."


def versions() -> list[Vector]:
    """Return vectors of numbers that no decoder of format 1 knows."""
    numbers = (0, 2, 9, 10, 999_999_999)
    suites = (0, 3, 9, 65536, 2**63 - 1)
    kinds = {"kind": ("recipient", "1", "keyfiles"), "kdf": ("hkdf-sha512", "argon2id-v19", "none")}
    only = (Slot(PASSPHRASE, unwrappable=True, edit={"kdf": "argon2id-v16"}),)
    crossed = (Slot(PASSPHRASE, unwrappable=True, edit={"kdf": "hkdf-sha256"}),)
    second = (Slot(KEY), Slot(OTHER, edit={"kind": "recipient"}))
    fields = {"new": {"more": 1, "chunk_bytes": 5}, "long": {"app_version": "x" * 3000}}
    return [
        *(vector(f"format-{n}", SAID, UNKNOWN, core={"format": n}) for n in numbers),
        *(
            vector(f"format-2-{n}", SAID, UNKNOWN, core={"format": 2, **c})
            for n, c in fields.items()
        ),
        vector("format-digit", "One digit changed in place.", UNKNOWN, whole=other_format),
        vector("format-2-length", SAID, UNKNOWN, core={"format": 2}, length=2**32 - 1),
        vector("format-2-cut", SAID, UNKNOWN, core={"format": 2}, whole=cut(200)),
        vector("format-2-other-key", SAID, UNKNOWN, OTHER, core={"format": 2}),
        *(vector(f"suite-{n}", SAID, UNKNOWN, core={"suite": n}) for n in suites),
        vector("suite-new-members", SAID, UNKNOWN, core={"suite": 3, "more": 1}),
        *(
            vector(f"{member}-{value}", SAID, UNKNOWN, slots=(Slot(KEY, edit={member: value}),))
            for member, values in kinds.items()
            for value in values
        ),
        vector("kind-new-members", SAID, UNKNOWN, slots=(Slot(KEY, edit={"kind": "x", "y": 1}),)),
        vector("kind-second", "The first would open.", UNKNOWN, slots=second),
        vector("kdf-argon2id-v16", SAID, UNKNOWN, PASSPHRASE, slots=only),
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


def vectors() -> list[Vector]:
    """Return all of this file."""
    return versions()
