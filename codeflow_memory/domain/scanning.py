"""The scanner: what in a text addresses the agent that will read it, or hides from a reviewer.

One catalogue serves writing, import, reading and rendering. A finding sends its item to review
and keeps it out of a context; it never rejects anything by itself. Statement-shaped poison is
beyond any scanner: against that stand provenance and review.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from codeflow_memory.domain.disguises import disguised
from codeflow_memory.domain.encodings import blocks, unescaped
from codeflow_memory.domain.lookalikes import View, latinised, view
from codeflow_memory.domain.marks import Marks
from codeflow_memory.domain.scan_rules import RULES, Rule, Severity
from codeflow_memory.domain.text import hidden

__all__ = ["Finding", "Severity", "catalogue", "scan"]

VERSION = 1
"""Of what is not in the rules, such as how disguises are undone; one more with each change."""

MAX_BLOCKS = 16
"""Encoded blocks that are read; more of them is a finding by itself."""

_FORBIDS = re.compile(
    r"(?:\b(?:never|not|cannot|avoid|without|prevents?|refuses?|attempts|tries|trying|no)"
    r"|\b(?:do|ca|must|should|wo)n['\u2019]t)[\s\"'`]{1,3}"
    # "Do not hesitate to ignore …" forbids nothing.
    r"(?:(?!hesitate|forget|fail|only|stop|just|worry)\w{1,20}[\s\"'`]{1,3}){0,4}\Z"
    r"|(?:不要|切勿|请勿|禁止|不得|不能|避免|勿)[^，。！？；\n]{0,4}\Z"  # noqa: RUF001 - Chinese
)
_SENTENCE = 80
"""Characters before a match in which a word that forbids it is looked for."""

_WRAPPED = re.compile(r"(?<=[^\s])[ \t]*\n[ \t>]*(?=[^\s>#*+|`\[<-])(?!\d{1,3}[.)])")
"""Where a paragraph was wrapped: neither a blank line nor an item of a list follows."""

_MARKS = Marks(rule.marks for rule in RULES)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds for ``text[start:end]``; offsets in code points from 0."""

    rule: str
    start: int
    end: int
    severity: Severity


@cache
def catalogue() -> str:
    """Return a digest of the rules, 64 hex digits: another one may find what this did not."""
    return hashlib.sha256(repr((VERSION, RULES)).encode()).hexdigest()


def scan(text: str) -> list[Finding]:
    """Read *text* for every rule of the catalogue; linear in its length.

    Returns:
        Findings by start, end and rule, each once; spans of different rules may overlap.
    """
    seen = view(text)
    findings = set(_hidden(text))
    findings.update(_read(seen))
    for other in (latinised(seen), unescaped(seen)):
        if other is not seen:
            findings.update(_read(other))
    findings.update(_disguised(seen))
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
    for rule, start, end in _matches(seen.text):
        yield Finding(rule.name, *seen.span(start, end), rule.severity)


def _matches(written: str) -> Iterator[tuple[Rule, int, int]]:
    """Yield the rules that hold in *written*, and where."""
    lowered = _lower(written)
    flowing = _WRAPPED.sub(_spaces, lowered)
    for index in _MARKS.rows(flowing):
        rule = RULES[index]
        if rule.also and not any(mark in flowing for mark in rule.also):
            continue
        text = written if rule.cased else lowered if rule.lines else flowing
        for found in rule.pattern.finditer(text):
            if not (rule.advice and _is_forbidden(flowing, found.start())):
                yield rule, *found.span()


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_forbidden(lowered: str, at: int) -> bool:
    return _FORBIDS.search(lowered[max(0, at - _SENTENCE) : at]) is not None


def _disguised(seen: View) -> Iterator[Finding]:
    for start, end in disguised(_lower(seen.text)):
        yield Finding("disguised-order", *seen.span(start, end), Severity.HIGH)


def _encoded(seen: View) -> Iterator[Finding]:
    """Yield the blocks in which a rule holds once they are decoded."""
    for number, (start, end, content) in enumerate(blocks(seen.text)):
        if number >= MAX_BLOCKS:
            yield Finding("encoded-text", *seen.span(start, end), Severity.MEDIUM)
            return
        if any(_matches(content)):
            yield Finding("encoded-text", *seen.span(start, end), Severity.HIGH)


def _lower(text: str) -> str:
    # The one capital whose small form is two characters would move the offsets.
    return text.replace("\u0130", "I").lower()
