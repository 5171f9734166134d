"""Passages of a document cut to the length that a memory may have, never within a word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeflow_memory.adapters.markdown import Line, text_of

_CLAUSE = re.compile(r"(?<=[.!?:;])\s")
_MARKUP = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+|[*_`]{1,3}")
_CLAUSE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines under some headings, with a title."""

    headings: tuple[str, ...]
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A text of bounded length and the lines it stands on, from 1 and inclusive."""

    title: str
    body: str
    first: int
    last: int


def passages(passage: Passage, longest: int) -> list[Part]:
    """Cut a passage into parts of at most *longest* characters; none for a blank one.

    Cuts fall where a block or a list item begins, else between lines, else between words. A word
    that is itself too long is left out.
    """
    parts = [
        (body, lines) for lines in _cut(passage.lines, longest) if (body := text_of(lines)).strip()
    ]
    return [
        Part(
            passage.title if index == 1 else f"{passage.title} (part {index})",
            body,
            min(line.number for line in lines if line.text.strip()),
            max(line.number for line in lines if line.text.strip()),
        )
        for index, (body, lines) in enumerate(parts, start=1)
    ]


def shorten(text: str, longest: int) -> str:
    """Cut one line of text between words, with an ellipsis where something is missing."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    head = text[:longest]
    return (head.rpartition(" ")[0] or head[:-1]).rstrip(" ,;:") + "…"


def title_from(lines: Sequence[Line]) -> str:
    """Make a title of the first clause of a text."""
    first = next((line.text for line in lines if line.text.strip()), "")
    plain = _MARKUP.sub("", _MARKUP.sub("", first)).strip()
    return shorten(_CLAUSE.split(plain)[0].rstrip(".:;"), _CLAUSE_LENGTH)


def _cut(lines: Sequence[Line], longest: int) -> Iterator[list[Line]]:
    """Fill a part block by block and begin the next where one does not fit."""
    held: list[Line] = []
    for block in _blocks(lines, longest):
        if held and _length(held) + _length(block) > longest:
            yield held
            held = []
        held.extend(block)
    if held:
        yield held


def _blocks(lines: Sequence[Line], longest: int) -> Iterator[list[Line]]:
    block: list[Line] = []
    for line in lines:
        if line.opens and block:
            yield from _fitting(block, longest)
            block = []
        block.append(line)
    if block:
        yield from _fitting(block, longest)


def _fitting(block: list[Line], longest: int) -> Iterator[list[Line]]:
    if _length(block) <= longest:
        yield block
        return
    for line in block:
        if len(line.text) < longest:
            yield [line]
        else:
            yield from ([Line(line.number, text, line.opens)] for text in _words(line, longest))


def _words(line: Line, longest: int) -> Iterator[str]:
    held = ""
    for word in line.text.split():
        if held and len(held) + 1 + len(word) >= longest:
            yield held
            held = ""
        if len(word) < longest:
            held = f"{held} {word}" if held else word
    if held:
        yield held


def _length(lines: Sequence[Line]) -> int:
    return sum(len(line.text) + 1 for line in lines)
