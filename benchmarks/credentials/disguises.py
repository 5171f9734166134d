"""Disguises: how a credential is written so that whoever searches for its form misses it.

Each takes a sample and random choices and returns the note's text and the pieces that must not
stay: the disguised credential as it stands there.
"""

import base64
import html
from collections.abc import Callable
from urllib.parse import quote

from benchmarks.credentials.kinds import Draw
from benchmarks.credentials.surroundings import Sample

Disguised = tuple[str, str]
"""The note, and what stands in it of the credential."""


def _put(sample: Sample, hidden: str) -> Disguised:
    return sample.form.replace("{}", hidden), hidden


def _cut(text: str, draw: Draw, parts: int) -> list[str]:
    inner = range(1, len(text))
    cuts = sorted(draw.random.sample(inner, min(parts - 1, len(inner))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _joined(sample: Sample, draw: Draw) -> Disguised:
    glue = draw.random.choice(
        ('" + "', '" +\n    "', '"\n    "', '" . "', '" & "', '", "', '" \\\n "', "' + '")
    )
    return _put(sample, glue.join(_cut(sample.secret, draw, 3)))


def _broken(sample: Sample, draw: Draw) -> Disguised:
    glue = draw.random.choice(("\\\n", "\\\n    ", "\n", "\n  ", "\n    ", "\n> "))
    return _put(sample, glue.join(_cut(sample.secret, draw, 2)))


def _base64(sample: Sample, draw: Draw) -> Disguised:
    if draw.random.random() < 0.5:
        return _put(sample, base64.b64encode(sample.secret.encode()).decode())
    whole = base64.b64encode(sample.text.encode()).decode()
    return f"Decode with `base64 -d`: {whole}", whole


def _percent(sample: Sample, draw: Draw) -> Disguised:
    few = quote(sample.secret, safe="")
    every = "".join(f"%{byte:02X}" for byte in sample.secret.encode())
    some = "".join(
        f"%{ord(c):02x}" if draw.random.random() < 0.3 else quote(c, safe="") for c in sample.secret
    )
    return _put(sample, draw.random.choice((few, every, some)))


def _entities(sample: Sample, draw: Draw) -> Disguised:
    decimal = "".join(f"&#{ord(c)};" for c in sample.secret)
    hexed = "".join(f"&#x{ord(c):x};" for c in sample.secret)
    some = "".join(
        f"&#{ord(c)};" if draw.random.random() < 0.3 else html.escape(c) for c in sample.secret
    )
    return _put(sample, draw.random.choice((decimal, hexed, some)))


def _escapes(sample: Sample, draw: Draw) -> Disguised:
    styles: tuple[Callable[[str], str], ...] = (
        lambda c: f"\\x{ord(c):02x}",
        lambda c: f"\\u{ord(c):04x}",
        lambda c: f"\\u{{{ord(c):x}}}",
    )
    style = draw.random.choice(styles)
    share = draw.random.choice((0.3, 1.0))
    return _put(
        sample, "".join(style(c) if draw.random.random() < share else c for c in sample.secret)
    )


def _widthless(sample: Sample, draw: Draw) -> Disguised:
    glue = draw.random.choice("\u200b\u200c\u2060\ufeff\u00ad")
    return _put(sample, glue.join(_cut(sample.secret, draw, draw.random.randint(2, 9))))


def _look_alike(sample: Sample, draw: Draw) -> Disguised:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in sample.secret)
    greek = sample.secret.translate(str.maketrans("aceopx", "\u0430\u0441\u0435\u043e\u0440\u0445"))
    return _put(sample, draw.random.choice((wide, greek)))


def _spaced(sample: Sample, draw: Draw) -> Disguised:
    glue = draw.random.choice((" ", " ", "\u00a0", "  "))
    return _put(sample, glue.join(sample.secret))


def _hex(sample: Sample, _: Draw) -> Disguised:
    return _put(sample, sample.secret.encode().hex())


DISGUISES: dict[str, Callable[[Sample, Draw], Disguised]] = {
    "joined in code": _joined,
    "broken over lines": _broken,
    "base64": _base64,
    "percent": _percent,
    "entities": _entities,
    "escapes": _escapes,
    "widthless": _widthless,
    "look-alikes": _look_alike,
    "spaced": _spaced,
    "hex": _hex,
}
