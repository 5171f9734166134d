"""The older document as an import takes it: read once, validated whole, scanned."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from codeflow_memory.adapters.legacy_json import parse_document, read_document
from codeflow_memory.adapters.legacy_records import Document
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Collection
from codeflow_memory.domain.strict_json import MAX_FAULTS
from codeflow_memory.services.legacy_mapping import find_flags, spelled


@dataclass(frozen=True, slots=True)
class Source:
    """A validated document, its hash, and what the scanner found in it by memory id."""

    document: Document
    sha256: str
    flags: Mapping[str, tuple[str, ...]]


def summarise(source: Source) -> dict[str, int]:
    """Count the records of a document, by kind."""
    document = source.document
    found = {
        "entries": len(document.entries),
        "tombstones": sum(e.content is None for e in document.entries),
        "approvals": sum(len(e.approvals) for e in document.entries),
        "receipts": len(document.receipts),
        "feedback": len(document.feedback),
        "repositories": len({spelled(e.repo) for e in document.entries}),
        "projects": len({(spelled(e.repo), e.project_id) for e in document.entries}),
        "findings": len(source.flags),
    }
    by_collection = Counter(str(e.collection) for e in document.entries)
    return found | {str(c): by_collection[c] for c in Collection}


def read(path: Path) -> Source:
    """Read, validate and scan the document at *path*.

    Raises:
        NotFoundError: There is no such file.
        InvalidRequestError: With the first 100 faults.
    """
    data, sha256 = read_document(path)
    document = parse_document(data)
    faults = list(islice(_nul_faults(document), MAX_FAULTS))
    if faults:
        raise InvalidRequestError(faults)
    flags = {
        e.memory_id: found
        for e in document.entries
        if e.content is not None and (found := find_flags(e.content))
    }
    return Source(document, sha256, flags)


def _nul_faults(document: Document) -> Iterator[Fault]:
    """Yield the names that hold NUL, at which a database ends a text when it measures it."""
    detail = "must not contain NUL"
    for index, entry in enumerate(document.entries):
        named = (
            ("repo", entry.repo),
            ("projectId", entry.project_id),
            ("runId", entry.run_id),
            ("agent", entry.agent),
            ("teamId", entry.team_id),
        )
        yield from (Fault(f"/entries/{index}/{k}", detail) for k, v in named if v and "\0" in v)
    for index, receipt in enumerate(document.receipts):
        if "\0" in receipt.operation_id:
            yield Fault(f"/receipts/{index}/operationId", detail)
