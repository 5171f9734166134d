"""Rendering: how a memory becomes an entry of a context."""

from collections.abc import Iterable

from codeflow_memory.domain.context import Entry, State
from codeflow_memory.domain.memory import Memory
from codeflow_memory.storage.citations import Suspect

FLAGGED = "flagged:"
"""Begins the review reason of an entry in which the scanner found something."""


def entry(memory: Memory, warnings: tuple[str, ...]) -> Entry:
    """Return the entry of an accepted memory; one that nobody reviewed after a finding is held."""
    flagged = (memory.review_reason or "").startswith(FLAGGED)
    return shown(
        memory,
        State.QUARANTINED if flagged else State.SHOWN,
        memory.trust,
        warnings,
    )


def shown(memory: Memory, state: State, trust: int, warnings: tuple[str, ...]) -> Entry:
    """Return the entry of *memory* as a manifest recorded it."""
    content = memory.content
    if content is None:
        return Entry(memory.memory_id, memory.revision, State.REDACTED)
    return Entry(
        memory.memory_id,
        memory.revision,
        state,
        str(memory.collection),
        trust,
        str(content.kind),
        content.title,
        content.body,
        content.sources,
        warnings,
    )


def warnings(suspects: Iterable[Suspect]) -> tuple[str, ...]:
    """Say of each citation that no longer holds what became of it."""
    return tuple(f"the cited file {s.path} is {s.result}; check it" for s in suspects)
