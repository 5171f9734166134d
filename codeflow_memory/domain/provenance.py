"""Which relationships a memory supplies to the graph (01 §8): recorded, never guessed."""

from collections.abc import Iterator
from dataclasses import dataclass

from codeflow_memory.domain.memory import Content, Memory
from codeflow_memory.domain.sources import parse_source


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge from a memory to an entity; ``revision`` only for another memory, else 0."""

    type: str
    kind: str
    key: str
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship from the memory that supplies it to an entity.

    ``target_revision`` is the exact revision of a memory in ``derived_from``, else 0.
    """

    scope_id: int
    memory_id: str
    memory_revision: int
    type: str
    target_kind: str
    target_key: str
    target_revision: int = 0


def relations(memory: Memory) -> list[Relation]:
    """List what *memory* supplies, each relation once, in a fixed order; a tombstone nothing."""
    if memory.content is None:
        return []
    found = set(_of_content(memory.content))
    if memory.run_id is not None:
        found.add(Relation("learned_from", "run", memory.run_id))
    if memory.verification is not None:
        found.add(Relation("verified_at", "commit", memory.verification.commit))
    return sorted(found, key=lambda r: (r.type, r.kind, r.key, r.revision))


def _of_content(content: Content) -> Iterator[Relation]:
    for path in content.paths:
        yield Relation("applies_to", "file", path)
    for branch in content.branches:
        commit = branch.removeprefix("commit:")
        kind = "branch" if commit == branch else "commit"
        yield Relation("applies_to", kind, commit)
    for text in content.sources:
        source = parse_source(text)
        if source is None:
            continue
        if source.kind in {"run", "commit"}:
            yield Relation("learned_from", source.kind, source.value)
        elif source.kind == "file" and source.path is not None:
            yield Relation("cites", "file", source.path)
    for pair in content.derived_from:
        yield Relation("derived_from", "memory", pair.memory_id, pair.revision)
