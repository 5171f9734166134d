"""A view of a text for detectors: what a reader takes it for, with the way back to its offsets.

Characters without width are left out, compatibility forms (full width, mathematical letters)
become what they stand for, and on request Cyrillic and Greek letters that look Latin become
Latin. Views are compared and searched, never stored.
"""

import re
import unicodedata
from dataclasses import dataclass

from codeflow_memory.domain.characters import REFUSED

_WIDTHLESS = re.compile(
    rf"(?![\x00-\x1F\x7F-\x9F\uD800-\uDFFF])[{REFUSED}\u200C\u200D\uFE0E\uFE0F]"
)
_ASTRAL_WIDTHLESS = re.compile(r"[\U000E0000-\U000E0FFF]")

# Letterlike, enclosed, full-width and mathematical forms. Each becomes one character or stays, so
# that offsets hold.
_COMPATIBLE = re.compile(
    r"[\u2070-\u209C\u2100-\u214F\u2460-\u24FF\uFF01-\uFF5E\U0001D400-\U0001D7FF]"
)

_FOREIGN = "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν"  # noqa: RUF001 - the look-alikes
_LATIN = "ABESIJKMHOPCTYXaesijopcyxdqwhABEZHIKMNOPTYXoav"
_FOREIGN_LETTER = re.compile(f"[{_FOREIGN}]")
_LOOK_ALIKES = str.maketrans(_FOREIGN, _LATIN)


@dataclass(frozen=True, slots=True)
class View:
    """A text as a reader sees it.

    ``offsets`` has, for each character of ``text``, its offset in the original; ``None`` when
    nothing was left out, so that offsets are the same. ``lasts`` has the offset of the last
    character that each stands for, where one stands for several.
    """

    text: str
    offsets: tuple[int, ...] | None
    lasts: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the non-empty ``text[start:end]`` stands in the original."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], (self.lasts or self.offsets)[end - 1] + 1


def _plain(found: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", found[0])
    return plain if len(plain) == 1 else found[0]


def view(text: str) -> View:
    """Return *text* without widthless characters and compatibility forms; linear in its length."""
    if text.isascii():
        return View(text, None)
    gone = {found.start() for found in _WIDTHLESS.finditer(text)}
    gone.update(found.start() for found in _ASTRAL_WIDTHLESS.finditer(text))
    if not gone:
        return View(_COMPATIBLE.sub(_plain, text), None)
    offsets = tuple(at for at in range(len(text)) if at not in gone)
    kept = "".join([text[at] for at in offsets])
    return View(_COMPATIBLE.sub(_plain, kept), offsets)


def latinised(seen: View) -> View:
    """Return *seen* with the letters that look Latin made Latin."""
    if not _FOREIGN_LETTER.search(seen.text):
        return seen
    return View(seen.text.translate(_LOOK_ALIKES), seen.offsets, seen.lasts)
