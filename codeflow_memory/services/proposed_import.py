"""The import of a JSONL export as proposals: every text passes governance and lands in review."""

from collections import Counter
from dataclasses import dataclass, replace

from codeflow_memory.adapters.exported_lines import parse_export
from codeflow_memory.adapters.exported_shapes import MemoryLine
from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.drafts import parse_draft
from codeflow_memory.domain.errors import (
    CodeflowError,
    ForbiddenError,
    InvalidRequestError,
    LimitExceededError,
    PreviouslyRejectedError,
    ProvenanceInvalidError,
)
from codeflow_memory.domain.memory import Collection, Content, Status
from codeflow_memory.domain.ports import Watch, unwatched
from codeflow_memory.domain.text import escape_hidden
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import memories
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.store import Store

_STANDING = frozenset({Status.ACCEPTED, Status.PROPOSED})
"""What was decided against, replaced or put away elsewhere is not proposed here."""

_PRIVATE_SOURCES = ("run:", "session:", "message:")
"""They name runs and sessions of another store."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that was not taken, by its number from 0, and why."""

    line: int
    error: CodeflowError


@dataclass(frozen=True, slots=True)
class Result:
    """How many lines became proposals, were known already, or are not in service there."""

    proposed: int
    duplicates: int
    skipped: int
    refused: tuple[Refusal, ...]


def run(
    store: Store,
    access: Access,
    data: bytes,
    project: str,
    repo: str | None,
    watch: Watch = unwatched,
) -> Result:
    """Propose the memories of a JSONL export to one project.

    Each becomes a new entry with an id of its own, of the caller, without the history, provenance
    and runs of where it was; hidden characters are escaped visibly. A team's are proposed to the
    project. A file that was imported before proposes nothing new.

    Args:
        store: The tenant.
        access: The caller.
        data: The file.
        project: Id or slug of the project.
        repo: What names its repository, where the slug alone does not.
        watch: Is shown how far it has come.

    Raises:
        InvalidRequestError: The file has faults; nothing was proposed.
        NotFoundError: No such project for the caller.
    """
    file = parse_export(data)
    caller = replace(access, origin=Origin.IMPORT)
    counts: Counter[str] = Counter()
    refused: list[Refusal] = []
    for number, line in watch(file.memories, "memories"):
        if line.content is None or line.status not in _STANDING:
            counts["skipped"] += 1
            continue
        operation = Operation(None, ("import-jsonl", file.sha256, str(number)))
        try:
            made = memories.create(store, caller, project, repo, _candidate(line), operation)
        except (
            ForbiddenError,
            InvalidRequestError,
            LimitExceededError,
            PreviouslyRejectedError,
            ProvenanceInvalidError,
        ) as error:
            refused.append(Refusal(number, error))
        else:
            counts["duplicates" if made.duplicate else "proposed"] += 1
    return Result(counts["proposed"], counts["duplicates"], counts["skipped"], tuple(refused))


def _candidate(line: MemoryLine) -> Candidate:
    """Return what a line proposes.

    Raises:
        InvalidRequestError: Its text is over a limit, or a field has not the form of a request's.
    """
    assert line.content is not None, "the caller skips tombstones"  # noqa: S101 - an invariant
    private = line.collection is Collection.PRIVATE
    return Candidate(
        parse_draft(_fields(line.content.content())),
        Collection.PRIVATE if private else Collection.PROJECT,
    )


def _fields(content: Content) -> dict[str, object]:
    def plain(texts: tuple[str, ...]) -> list[str]:
        return [escape_hidden(text, multiline=False) for text in texts]

    return {
        "kind": str(content.kind),
        "title": escape_hidden(content.title, multiline=False),
        "body": escape_hidden(content.body),
        "tags": plain(content.tags),
        "paths": plain(content.paths),
        "branches": plain(content.branches),
        "sources": plain(tuple(s for s in content.sources if not s.startswith(_PRIVATE_SOURCES))),
        "sensitivity": str(content.sensitivity),
        "key": None if content.key is None else escape_hidden(content.key, multiline=False),
        "valid_from": None if content.valid_from is None else to_rfc3339(content.valid_from),
        "valid_to": None if content.valid_to is None else to_rfc3339(content.valid_to),
    }
