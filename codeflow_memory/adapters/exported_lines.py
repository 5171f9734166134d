"""A JSONL export read whole: one JSON object a line, each checked against itself.

A line's pointer begins with its number from 0, as if the lines were the items of an array.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from codeflow_memory.adapters.exported_shapes import (
    FORMAT,
    Line,
    MemoryLine,
    PrincipalLine,
    ProjectLine,
    RepositoryLine,
    RunLine,
    TeamLine,
)
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Collection, Status
from codeflow_memory.domain.strict_json import MAX_FAULTS, parse, pointer

MAX_BYTES = 512 * 2**20
"""Of a whole file; more than the scopes of a dozen full projects hold."""

MAX_LINE_BYTES = 16 * 2**20
"""One memory with a long history of revisions."""

_MAX_ITEMS = 400_000


_LINE: TypeAdapter[Any] = TypeAdapter(Line)


class Export(BaseModel):
    """All lines of a file by kind, each with its number, and the hash of the file's bytes."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    principals: tuple[tuple[int, PrincipalLine], ...] = ()
    teams: tuple[tuple[int, TeamLine], ...] = ()
    repositories: tuple[tuple[int, RepositoryLine], ...] = ()
    projects: tuple[tuple[int, ProjectLine], ...] = ()
    runs: tuple[tuple[int, RunLine], ...] = ()
    memories: tuple[tuple[int, MemoryLine], ...] = ()
    raw: tuple[tuple[int, dict[str, Any]], ...] = ()
    """The memories' lines as decoded."""


def parse_export(data: bytes) -> Export:
    """Read a whole export and check each memory against itself.

    Raises:
        InvalidRequestError: With the first 100 faults, in the order of the lines.
    """
    if len(data) > MAX_BYTES:
        raise InvalidRequestError.at("", f"is larger than {MAX_BYTES} bytes")
    reading = _Reading()
    for number, text in enumerate(data.removesuffix(b"\n").split(b"\n")):
        reading.take(number, text)
        if len(reading.faults) >= MAX_FAULTS:
            break
    if not reading.faults and [number for number, _ in reading.of("export")] != [0]:
        detail = f"must be the only line that begins an export of format {FORMAT}"
        reading.faults.append(Fault("/0", detail))
    if reading.faults:
        raise InvalidRequestError(reading.faults[:MAX_FAULTS])
    return Export(
        sha256=hashlib.sha256(data).hexdigest(),
        principals=reading.of("principal"),
        teams=reading.of("team"),
        repositories=reading.of("repository"),
        projects=reading.of("project"),
        runs=reading.of("run"),
        memories=reading.of("memory"),
        raw=tuple(reading.raw),
    )


class _Reading:
    """The lines and faults met so far."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[int, Any]]] = {}
        self.raw: list[tuple[int, dict[str, Any]]] = []
        self.faults: list[Fault] = []

    def of(self, record: str) -> tuple[tuple[int, Any], ...]:
        """Return the lines of one kind with their numbers."""
        return tuple(self._found.get(record, ()))

    def take(self, number: int, text: bytes) -> None:
        """Read one line."""
        try:
            decoded = _decode(text)
            line = _LINE.validate_json(text)
        except InvalidRequestError as error:
            self.faults += [Fault(f"/{number}{f.pointer}", f.detail) for f in error.faults]
            return
        except ValidationError as error:
            self.faults += _faults(number, error)
            return
        self._found.setdefault(line.record, []).append((number, line))
        if isinstance(line, MemoryLine):
            self.raw.append((number, decoded))
            self.faults += _contradictions(f"/{number}", line)


def _decode(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_LINE_BYTES:
        raise InvalidRequestError.at("", f"is longer than {MAX_LINE_BYTES} bytes")
    decoded = parse(text, max_items=_MAX_ITEMS)
    if not isinstance(decoded, dict):
        raise InvalidRequestError.at("", "must be an object")
    return decoded


def _faults(number: int, error: ValidationError) -> Iterator[Fault]:
    for item in islice(error.errors(include_input=False, include_url=False), MAX_FAULTS):
        place = f"/{number}"
        # The first part is the record's own word, which is in no pointer.
        for part in item["loc"][1:]:
            place = pointer(place, part)
        yield Fault(place, str(item["msg"]))


def _contradictions(place: str, line: MemoryLine) -> Iterator[Fault]:
    """Yield where a memory's line does not agree with itself."""
    content = None if line.content is None else line.content.content()
    if (line.status is Status.DELETED) != (content is None):
        yield Fault(f"{place}/content", "is null exactly when the memory is deleted")
    if line.content_sha256 != (None if content is None else content.sha256()):
        yield Fault(f"{place}/content_sha256", "is not the hash of the content")
    if (line.collection is Collection.TEAM) != (line.team_id is not None):
        yield Fault(f"{place}/team_id", "is given exactly for a team entry")
    if line.status is Status.SUPERSEDED and line.superseded_by is None:
        yield Fault(f"{place}/superseded_by", "is required")
    yield from _revision_faults(f"{place}/revisions", line)
    yield from _double_faults(place, line)


def _revision_faults(place: str, line: MemoryLine) -> Iterator[Fault]:
    numbers = [r.revision for r in line.revisions]
    if numbers != sorted(set(numbers)) or numbers[-1:] != [line.revision]:
        yield Fault(place, "must rise to the memory's own")
    elif line.revisions[-1].content_sha256 != line.content_sha256:
        yield Fault(place, "must end with the memory's own content")
    for index, revision in enumerate(line.revisions):
        kept = None if revision.content is None else revision.content.content().sha256()
        if revision.content_sha256 != kept:
            yield Fault(f"{place}/{index}/content_sha256", "is not the content's hash")
        if kept is not None and line.content is None:
            yield Fault(f"{place}/{index}/content", "is the text of a deleted memory")


def _double_faults(place: str, line: MemoryLine) -> Iterator[Fault]:
    """Yield the parts that a table, which knows them by their key, cannot keep apart."""
    keys: dict[str, list[object]] = {
        "approvals": [(p.revision, p.principal, p.at) for p in line.approvals],
        "feedback": [(p.revision, p.principal, p.at) for p in line.feedback],
        "citations": [c.source for c in line.citations],
    }
    for name, found in keys.items():
        if len(found) != len(set(found)):
            yield Fault(f"{place}/{name}", "has two that cannot be told apart")
