"""Rendering: how a memory becomes an entry of a context."""

from collections.abc import Iterable

from codeflow_memory.domain.context import Entry, State
from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import Content, Memory
from codeflow_memory.domain.sources import parse_source
from codeflow_memory.storage.citations import Suspect
from codeflow_memory.storage.lights import Whole


def entry(memory: Whole, warnings: tuple[str, ...]) -> Entry:
    """Return the entry of an accepted memory; one that nobody reviewed after a finding is held."""
    flagged = is_flagged(memory.review_reason)
    return shown(
        memory,
        State.QUARANTINED if flagged else State.SHOWN,
        memory.trust,
        warnings,
    )


def shown(memory: Memory | Whole, state: State, trust: int, warnings: tuple[str, ...]) -> Entry:
    """Return the entry of *memory* as a manifest recorded it; *warnings* as of `warnings`."""
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
        tuple(_sentence(content, warning) for warning in warnings),
    )


def warnings(memory: Whole, suspects: Iterable[Suspect]) -> tuple[str, ...]:
    """Return ``<result>:<place among the sources>`` of each citation that no longer holds.

    A manifest records this, and no path: the path is a word of the entry, and goes with it.
    """
    sources = memory.content.sources
    return tuple(f"{s.result}:{sources.index(s.source)}" for s in suspects if s.source in sources)


def _sentence(content: Content, warning: str) -> str:
    # Part of template 1: what it rendered is rendered so for ever.
    result, _, place = warning.partition(":")
    source = parse_source(content.sources[int(place)])
    path = "" if source is None else source.path
    return f"the cited file {path} is {result}; check it"
