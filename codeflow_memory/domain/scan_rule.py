"""A rule of the scanner: one row of its catalogue."""

import re
from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.patterns import compiled


class Severity(StrEnum):
    """How sure a finding is to be an attack; each sends its item to review."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row.

    ``marks`` are words of which one must occur in the text, and one of ``also`` where it has
    any: what is common in prose is searched for only beside what is not. With ``advice`` the rule
    does not hold where the act is forbidden: "never reveal the token" is guidance. With ``cased``
    the pattern reads the text as it is written. With ``lines`` it reads lines as they stand; else a
    line that was wrapped is one with the next, as every reader takes it.
    """

    name: str
    severity: Severity
    marks: tuple[str, ...]
    expression: str
    advice: bool = False
    cased: bool = False
    lines: bool = False
    also: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """What the text says where the rule holds."""
        return compiled(self.expression, re.M)


def row(  # noqa: PLR0913 - the columns of a catalogue
    name: str,
    severity: Severity,
    marks: str,
    expression: str,
    *,
    also: str = "",
    advice: bool = False,
    cased: bool = False,
    lines: bool = False,
) -> Rule:
    """Return a rule; *marks* and *also* are separated by semicolons."""
    second = tuple(filter(None, also.split(";")))
    return Rule(name, severity, tuple(marks.split(";")), expression, advice, cased, lines, second)


def gap(characters: int) -> str:
    """Return what matches up to so many characters within a sentence, dots in names included."""
    return rf"(?:[^.\n]|\.(?=\S)){{0,{characters}}}?"


PEOPLE = (
    r"(?:users?|developers?|reviewers?|humans?|operators?|owners?|maintainers?|anyone|anybody"
    r"|(?:the |your )?team|people)"
)
"""Those from whom an order to an agent may want to hide."""

AGENT = (
    r"(?:ais?|a\.i\.|llms?|(?:large )?language models?|(?:coding |ai )?(?:assistants?|agents?)"
    r"|chatbots?|copilots?|models?)"
)
"""What such a text calls its reader."""
