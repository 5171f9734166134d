"""A selection: what a run asks for at its start, and what it is given (01 §9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.context import Entry
from codeflow_memory.domain.manifest import Manifest
from codeflow_memory.domain.memory import Kind

DEFAULT_KINDS = tuple(str(kind) for kind in Kind if kind is not Kind.TRACE)


@dataclass(frozen=True, slots=True)
class Request:
    """What a run asks for; see 01 §9."""

    query: str = ""
    literal: bool = False
    branch: str | None = None
    head: str | None = None
    paths: tuple[str, ...] = ()
    run_id: str | None = None
    budget: Budget = field(default_factory=Budget)
    kinds: tuple[str, ...] = DEFAULT_KINDS
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """A stored manifest: its record, free text, entries and context, and the hashes over them."""

    manifest: Manifest
    record: Mapping[str, object]
    free: Mapping[str, object]
    places: tuple[Entry, ...]
    context: str
