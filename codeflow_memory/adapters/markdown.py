"""Markdown read as sections of numbered lines, with what a reader never sees taken out.

A *section* is what stands below one heading, up to the next. Line numbers are those of the file,
from 1, whatever was taken out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_INLINE = re.compile(r"`+|<!--")
_MAX_HEADING = 1000
"""Characters of a heading that are read; inline markup can take the square of its length."""

_FENCE = "---"
_COMMA = re.compile(r",(?![^{}]*\})")
"""Not the commas in braces: ``*.{ts,js}`` is one glob."""

_KEY = re.compile(r"([A-Za-z][\w-]*)\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is shown; ``opens`` marks the first of a block or list item."""

    number: int
    text: str
    opens: bool


@dataclass(frozen=True, slots=True)
class Section:
    """What stands below one heading, without the heading itself.

    ``level`` is 0 for what stands before the first heading, which has no titles. ``titles`` are
    the headings it lies under, outermost first, its own last, as plain text. ``heading`` is the
    heading's own line.
    """

    level: int
    titles: tuple[str, ...]
    heading: Line | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its front matter, lower-case keys to values, and its sections in order."""

    front_matter: Mapping[str, tuple[str, ...]]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    first: int
    end: int


def parse_document(text: str) -> Document:
    """Read Markdown; comments are left out of the lines, and front matter is read apart.

    Headings are those of CommonMark outside of code, quotes and lists.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    body_at = _front_matter_end(rows)
    front_matter = _parse_front_matter(rows[1 : body_at - 1]) if body_at else {}
    # Blanked and not cut, so that every line keeps its number.
    rows[:body_at] = [""] * body_at
    tokens = _parser().disable(["inline", "text_join"]).parse("\n".join(rows))
    lines = _visible(rows, tokens)
    return Document(front_matter, tuple(_sections(lines, _headings(tokens))))


def text_of(lines: Sequence[Line]) -> str:
    """Join lines, with no blank line at either end and never two together."""
    kept: list[str] = []
    for line in lines:
        blank = not line.text.strip()
        if not (blank and (not kept or not kept[-1])):
            kept.append("" if blank else line.text.rstrip())
    return "\n".join(kept).strip("\n")


def _front_matter_end(rows: Sequence[str]) -> int:
    """Return how many lines the front matter takes, both fences included; 0 without one."""
    if rows[0].rstrip() != _FENCE:
        return 0
    for index, row in enumerate(rows[1:], start=1):
        if row.rstrip() == _FENCE:
            return index + 1
    return 0


def _parse_front_matter(rows: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read ``key: value`` and lists; anything deeper is not needed and not read."""
    found: dict[str, tuple[str, ...]] = {}
    key = ""
    for row in rows:
        match = _KEY.fullmatch(row.rstrip())
        if match:
            key = match[1].lower()
            value = match[2].strip()
            inline = value.removeprefix("[").removesuffix("]") if value.startswith("[") else value
            items = _COMMA.split(inline) if inline != value or key == "globs" else [inline]
            found[key] = tuple(_unquote(item) for item in items if _unquote(item))
        elif key and row.strip().startswith("- "):
            found[key] = (*found[key], _unquote(row.strip()[2:]))
    return found


def _unquote(text: str) -> str:
    return text.strip().strip("\"'").strip()


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 30 ms of a start, and only `learn` reads it

    return MarkdownIt("commonmark")


def _visible(rows: Sequence[str], tokens: Sequence["Token"]) -> list[Line]:
    """Take out comments, but not from code, and mark where blocks begin."""
    code: set[int] = set()
    opens: set[int] = set()
    for token in tokens:
        if token.map is None:
            continue
        if token.level == 0 or token.type == "list_item_open":
            opens.add(token.map[0])
        if token.type in {"fence", "code_block"}:
            code.update(range(*token.map))
    plain = "\n".join("" if n in code else row for n, row in enumerate(rows))
    shown = _without_comments(plain).split("\n")
    return [Line(n + 1, row if n in code else shown[n], n in opens) for n, row in enumerate(rows)]


def _without_comments(text: str) -> str:
    """Cut comments and keep their line ends, so that lines keep their number.

    Inline code may show a comment and stays. A comment that is never closed stays too: cutting to
    the end could hide from a reviewer what a reader sees.
    """
    kept: list[str] = []
    done = at = 0
    while found := _INLINE.search(text, at):
        at = found.end()
        if found[0] != "<!--":
            line_end = text.find("\n", at)
            closing = text.find(found[0], at, line_end if line_end >= 0 else len(text))
            at = closing + len(found[0]) if closing >= 0 else at
            continue
        end = text.find("-->", at)
        if end < 0:
            break
        kept += text[done : found.start()], "\n" * text.count("\n", at, end)
        done = at = end + len("-->")
    return "".join(kept) + text[done:]


def _headings(tokens: Sequence["Token"]) -> list[_Heading]:
    found: list[_Heading] = []
    parser = _parser()
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            title = " ".join(_plain(parser, inline.content[:_MAX_HEADING]).split())
            found.append(_Heading(int(token.tag[1:]), title, token.map[0], token.map[1]))
    return found


def _plain(parser: "MarkdownIt", heading: str) -> str:
    """Return the words of a heading without its markup."""
    (inline,) = parser.parseInline(heading)
    words = [
        " " if t.type in {"softbreak", "hardbreak"} else t.content
        for t in inline.children or ()
        if t.type in {"text", "code_inline", "softbreak", "hardbreak"}
    ]
    return "".join(words)


def _sections(lines: Sequence[Line], headings: Sequence[_Heading]) -> list[Section]:
    first = headings[0].first if headings else len(lines)
    sections = [Section(0, (), None, tuple(lines[:first]))]
    under: list[_Heading] = []
    for index, heading in enumerate(headings):
        end = headings[index + 1].first if index + 1 < len(headings) else len(lines)
        under = [h for h in under if h.level < heading.level]
        under.append(heading)
        titles = tuple(h.title for h in under)
        own = lines[heading.first]
        sections.append(Section(heading.level, titles, own, tuple(lines[heading.end : end])))
    return sections
