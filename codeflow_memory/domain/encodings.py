"""What is written in a text in another form: encoded blocks, and letters written as escapes."""

import base64
import binascii
import html
import re
import sys
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from codeflow_memory.domain.lookalikes import View

SHORTEST = 20
"""Characters of a block in one piece; a text of shorter words has none but in parts."""

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{20,4000}(?:\n[A-Za-z0-9+/_-]{4,200}){0,64}={0,2}"
    r"(?![A-Za-z0-9+/=_-])"
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9=])[A-Z2-7]{24,4000}={0,6}(?![A-Za-z0-9=])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){16,2000}(?![0-9A-Za-z])")
_HEX_PARTS = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-fA-F]{2}[ \n,:]{1,2}){11,2000}(?:0x)?[0-9a-fA-F]{2}"
    r"(?![0-9A-Za-z])"
)
_BITS = re.compile(r"(?<![0-9A-Za-z])[01]{8}(?:[ \n]?[01]{8}){11,2000}(?![0-9A-Za-z])")
_DECIMALS = re.compile(r"(?<![0-9A-Za-z.])\d{2,3}(?:[ \n,]{1,2}\d{2,3}){13,2000}(?![0-9A-Za-z.])")
_NO_HEX = re.compile(r"0x|[^0-9a-fA-F]")
_PARTED = re.compile(
    r"[0-9a-fA-F]{2}[ \n,:]{1,2}(?:0x)?[0-9a-fA-F]{2}[ \n,:]|[01]{8}|\d{2},? ?\d{2,3}"
)

_ESCAPE = re.compile(
    r"&#(?:[xX][0-9a-fA-F]{1,6}|\d{1,7});|&(?:lt|gt|amp|quot|apos|nbsp);|(?:%[0-9a-fA-F]{2}){1,400}"
    r"|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\}|\\[01][0-7]{2}"
)


def blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of each encoded block whose content is prose.

    Prose has spaces, or letters of a script that needs none. A block within a block is opened once.
    """
    whole = max(map(len, text.split()), default=0) >= SHORTEST
    if not whole and not _PARTED.search(text):
        return
    for pattern, decode in _FORMS:
        for block in pattern.finditer(text):
            for content in _opened(block[0], decode):
                yield block.start(), block.end(), content


def unescaped(seen: View) -> View:
    """Return *seen* with escapes of HTML, URLs and source code as the letters they stand for."""
    if not _ESCAPE.search(seen.text):
        return seen
    letters: list[str] = []
    firsts: list[int] = []
    lasts: list[int] = []
    end = 0
    for found in _ESCAPE.finditer(seen.text):
        for at in range(end, found.start()):
            first, after = seen.span(at, at + 1)
            firsts.append(first)
            lasts.append(after - 1)
        first, after = seen.span(*found.span())
        meant = _meant(found[0])
        letters += [seen.text[end : found.start()], meant]
        firsts += [first] * len(meant)
        lasts += [after - 1] * len(meant)
        end = found.end()
    for at in range(end, len(seen.text)):
        first, after = seen.span(at, at + 1)
        firsts.append(first)
        lasts.append(after - 1)
    letters.append(seen.text[end:])
    return View("".join(letters), tuple(firsts), tuple(lasts))


def _meant(escape: str) -> str:
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "%":
        return unquote_to_bytes(escape).decode("utf-8", "replace")
    digits = escape[1:].lstrip("xu").strip("{}")
    point = int(digits, 8 if escape[1].isdigit() else 16)
    return chr(point) if point <= sys.maxunicode else escape


def _opened(block: str, decode: Callable[[str], bytes]) -> Iterator[str]:
    data = _bytes(block, decode)
    inner = None if data is None else _BASE64.fullmatch(data.decode("latin-1").strip())
    if inner is not None:
        data = _bytes(inner[0], _of_base64)
    prose = None if data is None else _prose(data)
    if prose is not None:
        yield prose


def _bytes(block: str, decode: Callable[[str], bytes]) -> bytes | None:
    try:
        return decode(block)
    except (binascii.Error, ValueError):
        return None


def _of_base64(block: str) -> bytes:
    plain = block.replace("\n", "").rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _of_base32(block: str) -> bytes:
    plain = block.rstrip("=")
    return base64.b32decode(plain + "=" * (-len(plain) % 8))


def _of_hex(block: str) -> bytes:
    return bytes.fromhex(_NO_HEX.sub("", block))


def _of_bits(block: str) -> bytes:
    bits = "".join(block.split())
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def _of_decimals(block: str) -> bytes:
    return bytes(int(number) for number in block.replace(",", " ").split())


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (_BASE64, _of_base64),
    (_BASE32, _of_base32),
    (_HEX, _of_hex),
    (_HEX_PARTS, _of_hex),
    (_BITS, _of_bits),
    (_DECIMALS, _of_decimals),
)


def _prose(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    spaced = " " in text or not text.isascii()
    return text if spaced and text.replace("\n", " ").replace("\t", " ").isprintable() else None
