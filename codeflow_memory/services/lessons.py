"""Lessons: what one piece of guidance becomes, beside what stands for its place (`learning`)."""

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from codeflow_memory.domain.citations import Anchor
from codeflow_memory.domain.errors import (
    PreviouslyRejectedError,
    ProvenanceInvalidError,
)
from codeflow_memory.domain.memory import Collection, Content, Memory, Pair, Status
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.sources import parse_source
from codeflow_memory.services import access as accesses
from codeflow_memory.services import entries, memories
from codeflow_memory.services.anchors import Anchors
from codeflow_memory.services.governance import Prepared
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage import sightings
from codeflow_memory.storage.memories import Stored

VANISHED = "vanished"
"""The reason in the review queue of what was accepted and is no longer in the repository."""

_DECIDED = frozenset({Status.REJECTED, Status.DELETED})
_CHAIN = 16
"""Successors that are followed to the one in service."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A piece of guidance on its way in.

    Args:
        place: Names it for as long as its file and headings stay.
        prepared: Redacted, scanned, hashed.
        anchors: What stood in the cited lines, by source.
    """

    place: str
    prepared: Prepared
    anchors: Mapping[str, Anchor]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a piece.

    Args:
        action: ``proposed``, ``revised``, ``unchanged``, ``known``, ``refused`` or ``vanished``.
        title: Of the piece, or of the memory that vanished.
        memory_id: What stands for the place now.
        detail: Why, where there is more to say.
    """

    action: str
    title: str
    memory_id: str | None
    detail: str | None = None


class Lessons:
    """The lessons of one reading, within one mutation.

    Args:
        mutation: The running mutation.
        project: What the proposals are for.
    """

    def __init__(self, mutation: Mutation, project: Project) -> None:
        self._mutation = mutation
        self._project = project
        self._standing = sightings.learned(mutation.tx, project.repository_id, project.project_id)
        self._places = Counter(self._standing.values())
        self._seen: set[str] = set()
        self._kept: set[str] = set()

    def take(self, lesson: Lesson) -> Outcome:
        """Propose, revise or leave alone what stands for the lesson's place."""
        place = self._hash(lesson.place)
        title = lesson.prepared.candidate.content.title
        stored = self._find(self._standing.get(place))
        self._seen.add(place)
        try:
            action, memory = self._taken(lesson, stored)
        except (PreviouslyRejectedError, ProvenanceInvalidError) as error:
            return Outcome("refused", title, None, str(error))
        self._kept.add(memory.memory_id)
        if stored is None or memory.memory_id != stored.memory.memory_id:
            sightings.put_learned(
                self._mutation.tx,
                memory.repository_id,
                memory.memory_id,
                place,
                self._mutation.at,
            )
        if memory.status is Status.ACCEPTED and memory.review_reason == VANISHED:
            self._give_reason(memory, None)
        return Outcome(action, title, memory.memory_id)

    def close(self, unread: AbstractSet[str]) -> list[Outcome]:
        """Mark what stood for places that are gone, but for files that could not be read."""
        gone = {m for place, m in self._standing.items() if place not in self._seen}
        outcomes = []
        for memory_id in sorted(gone - self._kept):
            stored = self._find(memory_id)
            if stored is None or stored.memory.content is None:
                continue
            if unread.isdisjoint(_files(stored.memory.content)) and self._vanish(stored):
                outcomes.append(Outcome(VANISHED, stored.memory.content.title, memory_id))
        return outcomes

    def _taken(self, lesson: Lesson, stored: Stored | None) -> tuple[str, Memory]:
        if stored is None:
            return self._propose(lesson, None)
        memory, same = stored.memory, _same(stored, lesson.prepared)
        shared = self._places[memory.memory_id] > 1
        if same and memory.status is not Status.OUTDATED:
            return "unchanged", memory
        if shared and not same:
            # The other places still say what it says.
            return self._propose(lesson, None)
        if memory.status is Status.PROPOSED:
            return "revised", self._revise(stored, lesson)
        if memory.status is Status.OUTDATED:
            return self._propose(lesson, Pair(memory.memory_id, memory.revision))
        return self._propose(lesson, self._in_service(memory))

    def _propose(self, lesson: Lesson, old: Pair | None) -> tuple[str, Memory]:
        self._check_decided(lesson.prepared)
        candidate = replace(lesson.prepared.candidate, supersedes=old)
        prepared = replace(lesson.prepared, candidate=candidate)
        taken = self._anchors(lesson)
        memory, known = memories.admit(self._mutation, self._project, prepared, taken)
        return ("known" if known else "proposed"), memory

    def _check_decided(self, prepared: Prepared) -> None:
        """Refuse a text that was decided: a reviewer who runs this does not ask for each piece.

        Raises:
            PreviouslyRejectedError: It was rejected or deleted.
        """
        tx, project = self._mutation.tx, self._project
        scopes = accesses.reach(tx, self._mutation.access, project).scopes
        for stored in rows.find_all(tx, scopes, rows.with_text(tx, scopes, prepared.text_hash)):
            decided = stored.memory.status in _DECIDED
            if decided and stored.memory.collection is Collection.PROJECT:
                raise PreviouslyRejectedError(stored.memory.memory_id)

    def _revise(self, stored: Stored, lesson: Lesson) -> Memory:
        reach = accesses.reach_everywhere(self._mutation.tx, self._mutation.access)
        fields = lesson.prepared.candidate.content.fields()
        changes = {name: fields[name] for name in ("kind", "title", "body", "tags", "paths")}
        return memories.revise_stored(
            self._mutation,
            reach,
            stored,
            changes | {"sources": fields["sources"]},
            self._anchors(lesson),
        )

    def _in_service(self, memory: Memory) -> Pair | None:
        """Return the accepted memory that *memory* is, or was superseded by."""
        current: Memory | None = memory
        for _ in range(_CHAIN):
            if current is None or current.status in {Status.ACCEPTED, Status.OUTDATED}:
                return None if current is None else Pair(current.memory_id, current.revision)
            stored = self._find(current.superseded_by)
            current = None if stored is None else stored.memory
        return None

    def _vanish(self, stored: Stored) -> bool:
        memory = stored.memory
        if memory.status is Status.PROPOSED:
            gone = replace(memory, status=Status.OUTDATED, review_reason=VANISHED)
            entries.change(
                self._mutation, stored, gone, entries.Change("outdate", reason="outdated")
            )
            return True
        if memory.status is Status.ACCEPTED and memory.review_reason is None:
            self._give_reason(memory, VANISHED)
            return True
        return False

    def _give_reason(self, memory: Memory, reason: str | None) -> None:
        rows.set_review_reason(self._mutation.tx, memory.repository_id, memory.memory_id, reason)
        self._mutation.record(
            VANISHED if reason else "reappeared",
            memory.memory_id,
            repository_id=memory.repository_id,
            scope_id=memory.scope_id,
        )

    def _anchors(self, lesson: Lesson) -> Anchors:
        return Anchors(self._project.repository_id, lesson.anchors)

    def _find(self, memory_id: str | None) -> Stored | None:
        if memory_id is None:
            return None
        reach = accesses.reach(self._mutation.tx, self._mutation.access, self._project)
        return rows.find(self._mutation.tx, reach.scopes, memory_id)

    def _hash(self, place: str) -> str:
        return self._mutation.store.keys.text_hash(f"{self._project.project_id}\n{place}")


def _same(stored: Stored, prepared: Prepared) -> bool:
    """Tell whether a memory says what the piece says; where it was cited from may differ."""
    new, old = prepared.candidate.content, stored.memory.content
    if old is None or stored.memory.status in _DECIDED:
        return stored.text_hash == prepared.text_hash
    return _said(old) == _said(new)


def _said(content: Content) -> tuple[object, ...]:
    return content.kind, content.title, content.body, content.tags, content.paths


def _files(content: Content) -> set[str]:
    """Return the files that a memory cites."""
    found = (parse_source(source) for source in content.sources)
    return {source.path for source in found if source is not None and source.path is not None}
