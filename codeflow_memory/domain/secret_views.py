"""Views of a text in which a credential that was taken apart or encoded is whole again.

Each view knows its way back to the offsets of the text it was made of. A view that says the same as
one before is not made: nearly every text has nothing to put together.
"""

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5

from codeflow_memory.domain.secret_values import is_random

_ESCAPE = re.compile(
    r"%(?P<percent>[2-7][0-9A-Fa-f])|&#(?P<decimal>0{0,4}\d{2,3});|&#[xX](?P<hexed>0{0,4}[2-7][0-9a-fA-F]);"
    r"|&(?P<name>[a-zA-Z]{2,8});|\\x(?P<byte>[2-7][0-9a-fA-F])|\\u00(?P<unit>[2-7][0-9a-fA-F])"
    r"|\\u\{0{0,4}(?P<point>[2-7][0-9a-fA-F])\}|\\U000000(?P<long>[2-7][0-9a-fA-F])"
)
_ESCAPED = re.compile(r"%[2-7]|&[#a-zA-Z]|\\[xuU]")

_PIECE = re.compile(r"[\w.~+/=@%:!#$^*?-]", re.A)
# Both begin with characters that are rare, and what stands before them is looked at afterwards:
# a pattern that looks behind is tried at every character.
_GLUE = re.compile(
    r"[\"'](?:\s{0,24}(?:[+&.~]|\|\||\.\.)\s{0,24}|\s{0,3}\\?\n\s{0,24}|\s{1,3})[\"'](?=[\w.~+/=@%:!#$^*?-])"
    r"|\\\r?\n[ \t]{0,24}(?=[\w.~+/=@%:!#$^*?-])",
    re.A,
)
_BREAK = re.compile(r"\n[ \t]{0,24}(?:[>|#*]|//)?[ \t]{0,4}(?=[\w.~+/=-])", re.A)
_LISTED = re.compile(r",\s{1,24}[\"'](?=[\w.~+/=-])", re.A)
_TOKEN = re.compile(r"[\w.~+/=-]{1,80}", re.A)
_SPACED_HINT = re.compile(r"[ \u00a0][!-~][ \u00a0]{1,2}[!-~][ \u00a0]{1,2}[!-~][ \u00a0]")
_SPACED = re.compile(
    r"(?<![^\s\"'`=:(|>\x7f-\U0010FFFF])(?:[!-~][ \u00a0]{1,2}){11,400}[!-~]"
    r"(?=[\s\"'`,;).|<\x7f-\U0010FFFF]|\Z)"
)
_DIGIT = re.compile(r"[0-9]")
_GAP = re.compile(r"[ \u00a0]{1,2}")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")

_MIN_BROKEN = 16
"""Characters that the pieces around a break have together, to be joined."""

_AROUND = 240
"""Characters around a place that was changed, in which a search looks for what it brought."""

_STANDARD = str.maketrans("-_", "+/")

Edit = tuple[int, int, str]
"""Start and end of what goes, and the one character or nothing that takes its place."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A text made of another by replacing some places by one character or nothing.

    Args:
        text: The text.
        at: Where in it each replacement begins, in order.
        old: Where in the other each replaced place begins and ends.
        widths: Of each replacement, 0 or 1.
        source: What the other was made of; ``None`` when it is the original.
    """

    text: str
    at: tuple[int, ...] = ()
    old: tuple[tuple[int, int], ...] = ()
    widths: tuple[int, ...] = ()
    source: "Rebuilt | None" = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the non-empty ``text[start:end]`` stands in the original."""
        first, last = self._place(start)[0], self._place(end - 1)[1]
        return (first, last) if self.source is None else self.source.span(first, last)

    def windows(self) -> list[tuple[int, int]]:
        """Return the parts of ``text`` around what was changed, apart from each other."""
        parts: list[tuple[int, int]] = []
        for at in self.at:
            begin, end = max(0, at - _AROUND), min(len(self.text), at + _AROUND)
            begin = self.text.rfind("\n", begin, at) + 1 or begin
            if parts and begin <= parts[-1][1]:
                parts[-1] = (parts[-1][0], end)
            else:
                parts.append((begin, end))
        return parts

    def cuts(self, start: int, end: int) -> list[int]:
        """Return the places within ``text[start:end]`` where something was left out."""
        first, last = bisect_right(self.at, start), bisect_right(self.at, end - 1)
        return [self.at[i] for i in range(first, last) if not self.widths[i]]

    def _place(self, offset: int) -> tuple[int, int]:
        index = bisect_right(self.at, offset) - 1
        if index < 0:
            return offset, offset + 1
        beyond = offset - self.at[index] - self.widths[index]
        if beyond < 0:
            return self.old[index]
        return self.old[index][1] + beyond, self.old[index][1] + beyond + 1


def decoded(seen: Rebuilt) -> Rebuilt:
    """Resolve percent signs, entities and escapes of visible ASCII, and join what code joins."""
    if _ESCAPED.search(seen.text):
        seen = _edited(seen, _resolved(seen.text))
    text = seen.text
    return _edited(
        seen,
        (
            (found.start(), found.end(), "")
            for found in _GLUE.finditer(text)
            if _PIECE.match(text, found.start() - 1)
        ),
    )


def joined(seen: Rebuilt) -> Rebuilt:
    """Join lines, and pieces in a list, that may belong together: most do not."""
    return _edited(seen, sorted(_breaks(seen.text)))


def unspaced(seen: Rebuilt) -> Rebuilt:
    """Take the gaps out of single characters in a row."""
    if not _SPACED_HINT.search(seen.text):
        return seen
    return _edited(
        seen,
        (
            (gap.start(), gap.end(), "")
            for run in _SPACED.finditer(seen.text)
            for gap in _GAP.finditer(seen.text, run.start(), run.end())
        ),
    )


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and meaning of each run that is text in base64 or in hex digits."""
    for run in _RUN.finditer(text):
        meaning = _meaning(run[0])
        if meaning is not None:
            yield *run.span(), meaning


def _meaning(run: str) -> str | None:
    if _HEX.fullmatch(run):
        return _readable(bytes.fromhex(run))
    body = run.rstrip("=").translate(_STANDARD)
    # A run whose length no encoder makes is none.
    if len(body) % 4 == 1:
        return None
    return _readable(binascii.a2b_base64(body + "=" * (-len(body) % 4)))


def _readable(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text


def _resolved(text: str) -> Iterator[Edit]:
    for found in _ESCAPE.finditer(text):
        group, value = str(found.lastgroup), found[str(found.lastgroup)]
        if group == "name":
            character = html5.get(f"{value};", "")
        else:
            character = chr(int(value, 10 if group == "decimal" else 16))
        if len(character) == 1 and "!" <= character <= "~":
            yield found.start(), found.end(), character


def _breaks(text: str) -> Iterator[Edit]:
    for found in _BREAK.finditer(text):
        start, end = found.span()
        start -= text[start - 1 : start] == "\r"
        if _is_broken(text, start, end):
            yield start, end, ""
    for found in _LISTED.finditer(text):
        start, end = found.span()
        if text[start - 1 : start] in {'"', "'"} and _is_broken(text, start - 1, end):
            yield start - 1, end, ""


def _is_broken(text: str, start: int, end: int) -> bool:
    """Tell whether what stands around a break is no prose."""
    # Turned around: a search for what ends at a place begins anew at each character.
    before = _TOKEN.match(text[max(0, start - 80) : start][::-1])
    behind = _TOKEN.match(text, end)
    if before is None or behind is None:
        return False
    both = before[0][::-1] + behind[0]
    return len(both) >= _MIN_BROKEN and _DIGIT.search(both) is not None and is_random(both)


def _edited(seen: Rebuilt, edits: Iterable[Edit]) -> Rebuilt:
    """Return *seen* itself when there is nothing to edit."""
    pieces: list[str] = []
    at: list[int] = []
    old: list[tuple[int, int]] = []
    widths: list[int] = []
    done = size = 0
    for start, end, new in edits:
        pieces += [seen.text[done:start], new]
        size += start - done
        at.append(size)
        old.append((start, end))
        widths.append(len(new))
        size += len(new)
        done = end
    if not at:
        return seen
    text = "".join(pieces) + seen.text[done:]
    return Rebuilt(text, tuple(at), tuple(old), tuple(widths), seen)
