"""Tampering: no changed container opens, each is refused with the right error, nothing comes out.

Small containers are changed in every byte, cut and lengthened at every length, their chunks dealt
out in every order, their headers edited by one who makes the digest anew, and pairs of them put
together at every byte. A container opens here if its chunks are read to the end: what the manifest
says is not asked, so that each guard of the container itself has to hold.

Broken variants are put through the same sweep and must be found.
"""

from collections import Counter
from collections.abc import Iterator
from io import BytesIO

import pytest
from codeflow_backup import container, header, stream
from codeflow_backup.ciphers import Cipher, Suite
from codeflow_backup.container import Reader
from codeflow_backup.errors import BackupError
from codeflow_backup.stream import CHUNK_BYTES

from .containers import KEY, OTHER, answer, decoder, new_core, sealed
from .tampers import (
    LONG,
    PLAIN,
    Tamper,
    deals,
    edits,
    flips,
    lengths,
    mixtures,
    rearranged,
    reheaded,
    sampled,
    splices,
    under,
)

pytestmark = pytest.mark.slow

LEAST = 250_000 if LONG else 25_000
FLOORS = Counter(
    {
        "all": LEAST,
        "flip": 16_000,
        "cut": 2_000,
        "extension": 100,
        "insertion": 500,
        "removal": 500,
        "edit": 4_000,
        "slots": 100,
        "splice": 800,
        "parts": 6,
        "chunks": 1_700,
        "large": 2_000,
        "mixture": 14,
    }
)
"""The least number of each kind of change."""


def read(data: bytes) -> tuple[str, bytes]:
    """Return the error, or ``opens``, and all that came out before it."""
    out = []
    try:
        for chunk in Reader(BytesIO(data)).unlock([KEY]).chunks():
            out.append(chunk)
    except BackupError as error:
        return error.code, b"".join(out)
    return "opens", b"".join(out)


def faults(tampers: Iterator[Tamper], plain: bytes, counts: Counter) -> list[str]:
    """List those that open, are refused with a wrong error, or give out what is not authentic."""
    found = []
    for tamper in tampers:
        error, out = read(tamper.data)
        counts[tamper.what.split()[0]] += 1
        counts["all"] += 1
        # Whole chunks from the beginning are authentic, and must be the very plaintext.
        authentic = plain.startswith(out) and len(out) % CHUNK_BYTES == 0 and len(out) < len(plain)
        if error not in tamper.right or not authentic:
            found.append(f"{tamper.what}: {error}, {len(out)} bytes came out")
    return found


def long_plain(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


FULL, SHORT = long_plain(3 * CHUNK_BYTES), long_plain(3 * CHUNK_BYTES + 100)


def sweep(counts: Counter) -> list[str]:
    """Put every change to containers of both suites; return what went wrong."""
    single = sealed(PLAIN)
    double = sealed(PLAIN, KEY, OTHER, core=new_core(Suite.CHACHA20_POLY1305))
    again = sealed(PLAIN)
    full, short = sealed(FULL), sealed(SHORT, core=new_core(Suite.CHACHA20_POLY1305))
    shared = [under(b"d" * 32, FULL) for _ in range(2)]
    found = []
    for data in (single, double):
        for changes in (flips(data), lengths(data), edits(data)):
            found += faults(changes, PLAIN, counts)
    for changes in (rearranged(double), splices(single, again), reheaded(single, again)):
        found += faults(changes, PLAIN, counts)
    for data, plain in ((full, FULL), (short, SHORT)):
        found += faults(deals(data, 6 if LONG else 5), plain, counts)
        found += faults(sampled(data, 5000 if LONG else 500), plain, counts)
    found += faults(mixtures(full, sealed(FULL)), FULL, counts)
    found += faults(mixtures(*shared), FULL, counts)
    return found


def no_file(*_, **__):
    raise AssertionError("a file was opened")


def test_no_tampered_container_opens_or_gives_out_a_byte_that_is_not_authentic(monkeypatch):
    monkeypatch.setattr("os.open", no_file)
    monkeypatch.setattr("builtins.open", no_file)
    monkeypatch.setattr("io.open", no_file)
    counts = Counter()

    found = sweep(counts)

    assert found == []
    assert counts["all"] >= LEAST
    assert {what: count for what, count in counts.items() if count < FLOORS[what]} == {}
    assert counts.keys() == FLOORS.keys()


def by_decoder(decode, data):
    try:
        decode.decode(BytesIO(data), "keyfile", KEY.data)
    except decode.RefusedError as refused:
        return refused.answer
    return "ok"


def test_two_decoders_give_every_edit_of_a_header_the_same_answer():
    decode = decoder()
    double = sealed(PLAIN, KEY, OTHER)
    tampers = [*edits(double), *rearranged(double), *reheaded(sealed(PLAIN), sealed(PLAIN))]
    answers = [(answer(t.data)[0], by_decoder(decode, t.data)) for t in tampers]

    assert len(answers) > 2_500
    assert {one for one, _ in answers} == {"damaged", "wrong-key", "unknown-version"}
    assert [t.what for t, (one, two) in zip(tampers, answers, strict=True) if one != two] == []


def test_what_was_not_tampered_with_opens():
    for data, plain in (
        (sealed(PLAIN), PLAIN),
        (sealed(FULL), FULL),
        (under(b"d" * 32, PLAIN), PLAIN),
    ):
        assert read(data) == ("opens", plain)


def test_the_sweep_sees_a_nonce_without_its_end_mark(monkeypatch):
    monkeypatch.setattr(stream, "nonce", lambda prefix, n, **_: prefix + n.to_bytes(5, "big"))

    found = faults(deals(sealed(FULL), 3), FULL, Counter())

    assert [fault.split(":")[0] for fault in found] == ["chunks (0,)", "chunks (0, 1)"]


def test_the_sweep_sees_a_nonce_without_its_place(monkeypatch):
    monkeypatch.setattr(
        stream, "nonce", lambda prefix, _, *, last: prefix + bytes(4) + bytes([last])
    )

    found = faults(deals(sealed(FULL), 3), FULL, Counter())

    assert {"chunks (1, 0, 2)", "chunks (0, 2)"} <= {fault.split(":")[0] for fault in found}


def test_the_sweep_sees_a_header_without_its_mac(monkeypatch):
    monkeypatch.setattr(header.Sealed, "check", lambda *_: None)
    data = sealed(PLAIN, KEY, OTHER)

    assert any("opens" in fault for fault in faults(edits(data), PLAIN, Counter()))
    assert any("opens" in fault for fault in faults(rearranged(data), PLAIN, Counter()))


def test_the_sweep_sees_a_payload_that_is_bound_to_no_core(monkeypatch):
    monkeypatch.setattr(
        container, "payload_cipher", lambda core, data_key: Cipher(core.suite, data_key)
    )
    prefix = {"nonce_prefix": b"samesam"}
    monkeypatch.setattr("os.urandom", lambda length: b"u" * length)
    one, two = (sealed(FULL, core=new_core(generation=n, **prefix)) for n in (1, 2))
    other = sealed(bytes(len(FULL)), core=new_core(generation=3, **prefix))

    assert one[:500] != two[:500]
    assert any("opens" in fault for fault in faults(mixtures(one, other), FULL, Counter()))


class Trusting(Cipher):
    """A cipher of the payload that never refuses."""

    def open(self, nonce, sealed, associated=b""):
        opened = super().open(nonce, sealed, associated)
        return sealed[:-16] if opened is None else opened


def test_the_sweep_sees_a_chunk_that_came_out_unauthenticated(monkeypatch):
    data = sealed(PLAIN)
    monkeypatch.setattr(container, "payload_cipher", lambda core, key: Trusting(core.suite, key))

    found = faults(flips(data), PLAIN, Counter())

    assert any(fault.endswith(f"opens, {len(PLAIN)} bytes came out") for fault in found)
