"""The scanner: what in a text addresses the agent that will read it, or hides from a reviewer.

One catalogue serves writing, import, reading and rendering. A finding sends its item to review
and keeps it out of a context; it never rejects anything by itself. Statement-shaped poison is
beyond any scanner: against that stand provenance and review.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.domain.lookalikes import View, latinised, view
from codeflow_memory.domain.marks import Marks
from codeflow_memory.domain.scan_rules import ORDERS, RULES, Rule, Severity
from codeflow_memory.domain.text import hidden

__all__ = ["Finding", "Severity", "scan"]

MAX_BLOCKS = 16
"""Encoded blocks that are decoded and read; more of them is a finding by itself."""

_FORBIDS = re.compile(
    r"(?:\b(?:never|not|cannot|avoid|without|prevents?|refuses?|attempts|tries|trying)"
    r"|\b(?:do|ca|must|should|wo)n['\u2019]t)[\s\"'`]{1,3}"
    # "Do not hesitate to ignore …" forbids nothing.
    r"(?:(?!hesitate|forget|fail|only|stop|just|worry)\w{1,20}[\s\"'`]{1,3}){0,3}\Z"
    r"|(?:不要|切勿|请勿|禁止|不得|不能|避免|勿)[^，。！？；\n]{0,4}\Z"  # noqa: RUF001 - Chinese
)
_SENTENCE = 60
"""Characters before a match in which a word that forbids it is looked for."""

_MARKS = Marks(rule.marks for rule in RULES)

_BLOCK = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,4000}={0,2}(?![A-Za-z0-9+/=])")
_HEX_BLOCK = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){20,2000}(?![0-9A-Za-z])")
_SHORTEST_BLOCK = 24
"""Characters, none of them white space: a text of shorter words has no block at all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds for ``text[start:end]``; offsets in code points from 0."""

    rule: str
    start: int
    end: int
    severity: Severity


def scan(text: str) -> list[Finding]:
    """Read *text* for every rule of the catalogue; linear in its length.

    Returns:
        Findings by start, end and rule, each once; spans of different rules may overlap.
    """
    seen = view(text)
    findings = set(_hidden(text))
    findings.update(_read(seen))
    latin = latinised(seen)
    if latin.text != seen.text:
        findings.update(_read(latin))
    findings.update(_encoded(seen))
    return sorted(findings, key=lambda f: (f.start, f.end, f.rule))


def _hidden(text: str) -> Iterator[Finding]:
    """Yield one finding a run of neighbouring hidden characters."""
    start = end = -1
    for found in hidden(text, multiline=True):
        if found.offset != end:
            if start >= 0:
                yield Finding("hidden-text", start, end, Severity.HIGH)
            start = found.offset
        end = found.offset + 1
    if start >= 0:
        yield Finding("hidden-text", start, end, Severity.HIGH)


def _read(seen: View) -> Iterator[Finding]:
    lowered = _lower(seen.text)
    for index in _MARKS.rows(lowered):
        rule = RULES[index]
        for start, end in _matches(rule, lowered, seen.text):
            yield Finding(rule.name, *seen.span(start, end), rule.severity)


def _matches(rule: Rule, lowered: str, written: str) -> Iterator[tuple[int, int]]:
    """Yield where *rule*, one of whose marks occurs in *lowered*, holds."""
    for found in rule.pattern.finditer(written if rule.cased else lowered):
        if not (rule.advice and _is_forbidden(lowered, found.start())):
            yield found.span()


def _is_forbidden(lowered: str, at: int) -> bool:
    return _FORBIDS.search(lowered[max(0, at - _SENTENCE) : at]) is not None


def _encoded(seen: View) -> Iterator[Finding]:
    """Yield the blocks in which an order is found once they are decoded."""
    if max(map(len, seen.text.split()), default=0) < _SHORTEST_BLOCK:
        return
    read = 0
    for pattern, decode in ((_BLOCK, _from_base64), (_HEX_BLOCK, _from_hex)):
        for block in pattern.finditer(seen.text):
            decoded = decode(block[0])
            if decoded is None:
                continue
            read += 1
            if read > MAX_BLOCKS:
                yield Finding("encoded-text", *seen.span(*block.span()), Severity.MEDIUM)
                return
            lowered = _lower(decoded)
            orders = (RULES[at] for at in _MARKS.rows(lowered) if RULES[at].name in ORDERS)
            if any(any(_matches(rule, lowered, decoded)) for rule in orders):
                yield Finding("encoded-text", *seen.span(*block.span()), Severity.HIGH)


def _from_base64(block: str) -> str | None:
    try:
        return _prose(base64.b64decode(block + "=" * (-len(block) % 4)))
    except binascii.Error:
        return None


def _from_hex(block: str) -> str | None:
    return _prose(bytes.fromhex(block))


def _prose(data: bytes) -> str | None:
    """Return *data* as text when it is text with spaces in it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if " " in text and text.replace("\n", " ").isprintable() else None


def _lower(text: str) -> str:
    # The one capital whose small form is two characters would move the offsets.
    return text.replace("\u0130", "I").lower()
