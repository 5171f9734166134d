"""Vectors of headers that were edited without the data key, and of backups put together."""

from edits import line, member, order, swap
from encoder import Edit, Slot, container, data_key, seeded
from vector import DAMAGED, KEY, OK, OTHER, WRONG_KEY, Vector, recipe, vector


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
    ]


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
    return [*forgeries(), *spliced()]
