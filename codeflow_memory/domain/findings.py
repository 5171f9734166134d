"""What the scanner finds in an entry, and where: one reading for writing, import, read and queue.

Every field that an author words is read, because each reaches an agent or a reviewer: a path or a
tag can carry an order as well as the body.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.domain.memory import Content
from codeflow_memory.domain.scanning import Severity, scan

FLAGGED = "flagged:"
"""Begins the review reason of an entry in which the scanner found something."""


@dataclass(frozen=True, slots=True)
class Located:
    """A rule that holds in one field.

    Args:
        field: Pointer to it, such as ``/body`` or ``/tags/0``.
        rule: Id of the rule.
        severity: How sure it is.
        start: Offset in code points of the field's text, from 0.
        end: The offset behind it.
    """

    field: str
    rule: str
    severity: Severity
    start: int
    end: int


def examine(content: Content) -> list[Located]:
    """Read every field of *content*; by field, then by place.

    Title and body are read as one text: an order may begin in one and end in the other.
    """
    places: list[tuple[str, int, int]] = []
    parts: list[str] = []
    length = 0
    for field, text in _texts(content):
        between = "" if not parts else "\n" if field == "/body" else "\n\n"
        start = length + len(between)
        length = start + len(text)
        parts += [between, text]
        places.append((field, start, length))
    found = scan("".join(parts))
    return [
        Located(
            field, f.rule, f.severity, max(f.start, start) - start, min(f.end, end) - start
        )
        for field, start, end in places
        for f in found
        if f.start < end and f.end > start
    ]  # fmt: skip


def rules_of(content: Content) -> tuple[str, ...]:
    """Return the ids of the rules that hold in *content*, each once, in order."""
    return tuple(dict.fromkeys(found.rule for found in examine(content)))


def is_flagged(review_reason: str | None) -> bool:
    """Tell whether an entry waits, or is held back though accepted, because of a finding."""
    return review_reason is not None and review_reason.startswith(FLAGGED)


def _texts(content: Content) -> Iterator[tuple[str, str]]:
    yield "/title", content.title
    yield "/body", content.body
    lists = (
        ("tags", content.tags),
        ("paths", content.paths),
        ("branches", content.branches),
        ("sources", content.sources),
    )
    for name, texts in lists:
        for index, text in enumerate(texts):
            yield f"/{name}/{index}", text
    if content.key is not None:
        yield "/key", content.key
