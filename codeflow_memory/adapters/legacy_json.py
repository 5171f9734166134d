"""The older ``memory.json``: read once, validated whole, handed over as `legacy_records`."""

import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from codeflow_memory.adapters.legacy_records import Document, LegacyEntry, to_document
from codeflow_memory.adapters.legacy_shape import (
    MAX_REVISION,
    check_entry,
    check_feedback,
    check_receipt,
    check_top,
)
from codeflow_memory.domain.errors import Fault, InvalidRequestError, NotFoundError
from codeflow_memory.domain.memory import Collection, Kind
from codeflow_memory.domain.strict_json import MAX_FAULTS, parse, pointer

MAX_BYTES = 32 * 2**20
"""Size of a document, and of one scope's canonical JSON. Source: 01 §11.1 and §5.5."""

MAX_PROJECT_ENTRIES = 5_000
"""Live project entries of one project, `Kind.TRACE` apart. Source: 01 §5.5."""

MAX_RUN_ENTRIES = 512
"""Live private and team entries of one run, `Kind.TRACE` apart. Source: 01 §5.5."""

_MAX_ITEMS = 3_000_000
"""More than 32 MiB of the densest valid records hold (12 bytes an item)."""

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_CHUNK_BYTES = 2**20


def read_document(path: Path) -> tuple[bytes, str]:
    """Read the file at *path* once.

    Returns:
        Its bytes, at most `MAX_BYTES`, and their SHA-256 in hex.

    Raises:
        NotFoundError: There is no such file.
        InvalidRequestError: It is a link, not a regular file, too large or not readable. A FIFO or
            a device is neither waited for nor read.
    """
    try:
        descriptor = os.open(path, _READ_FLAGS)
        try:
            data = _read_regular(descriptor)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError("file", path.name) from error
    except OSError as error:
        detail = "is a symbolic link" if error.errno == errno.ELOOP else "cannot be read"
        raise InvalidRequestError.at("", detail) from error
    return data, hashlib.sha256(data).hexdigest()


def _read_regular(descriptor: int) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise InvalidRequestError.at("", "is not a regular file")
    data = bytearray()
    # One byte more than allowed, whatever size was announced: the file may grow meanwhile.
    while found.st_size <= MAX_BYTES >= len(data):
        chunk = os.read(descriptor, min(_CHUNK_BYTES, MAX_BYTES + 1 - len(data)))
        if not chunk:
            return bytes(data)
        data += chunk
    raise InvalidRequestError.at("", f"is larger than {MAX_BYTES} bytes (32 MiB)")


def parse_document(data: bytes) -> Document:
    """Validate a whole document: JSON, shape, references and, where these hold, the limits.

    A ``derivedFrom`` pair may name an earlier revision, of which nothing else is known.

    Raises:
        InvalidRequestError: With the first 100 faults, in document order.
    """
    raw: Any = parse(data, max_items=_MAX_ITEMS)
    faults = list(islice(_find_faults(raw), MAX_FAULTS))
    if faults:
        raise InvalidRequestError(faults)
    document = to_document(raw)
    faults = list(islice(_find_excesses(document), MAX_FAULTS))
    if faults:
        raise InvalidRequestError(faults)
    return document


def _find_faults(raw: object) -> Iterator[Fault]:
    """Yield what is wrong with the shape and the references, in document order."""
    yield from check_top("", raw)
    if not isinstance(raw, dict):
        return
    revisions = _revisions(raw)
    yield from _entry_faults(raw, revisions)
    operations: set[str] = set()
    for place, receipt in _records(raw, "receipts"):
        faults = check_receipt(place, receipt)
        yield from faults or _reference_faults(place, receipt, "entryId", revisions)
        if not faults:
            if receipt["operationId"] in operations:
                yield Fault(pointer(place, "operationId"), "names an operation that came before")
            operations.add(receipt["operationId"])
    for place, feedback in _records(raw, "feedback"):
        yield from check_feedback(place, feedback) or _reference_faults(
            place, feedback, "entryId", revisions
        )


def _entry_faults(raw: dict[str, Any], revisions: Mapping[str, int]) -> Iterator[Fault]:
    ids: set[str] = set()
    for place, entry in _records(raw, "entries"):
        faults = check_entry(place, entry)
        if faults:
            yield from faults
            continue
        if entry["id"] in ids:
            yield Fault(pointer(place, "id"), "names an entry that came before")
        ids.add(entry["id"])
        successor = entry.get("supersededBy")
        if successor is not None and (successor not in revisions or successor == entry["id"]):
            yield Fault(pointer(place, "supersededBy"), "must name another entry")
        for i, pair in enumerate(entry.get("derivedFrom", ())):
            yield from _reference_faults(f"{place}/derivedFrom/{i}", pair, "id", revisions)
        for i, approval in enumerate(entry.get("approvals", ())):
            if approval["revision"] > entry["revision"]:
                yield Fault(f"{place}/approvals/{i}/revision", "is later than the entry's")


def _records(raw: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Yield each record of a list with its pointer; what is no list has its fault elsewhere."""
    values = raw.get(name)
    if isinstance(values, list):
        for index, value in enumerate(values):
            yield f"/{name}/{index}", value


def _revisions(raw: dict[str, Any]) -> dict[str, int]:
    """Map each entry's id to its revision; one with a bad revision allows any."""
    found: dict[str, int] = {}
    for _, entry in _records(raw, "entries"):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            revision = entry.get("revision")
            if type(revision) is not int or revision < 1:
                revision = MAX_REVISION
            found.setdefault(entry["id"], revision)
    return found


def _reference_faults(
    place: str, record: Mapping[str, Any], name: str, revisions: Mapping[str, int]
) -> Iterator[Fault]:
    revision = revisions.get(record[name])
    if revision is None:
        yield Fault(pointer(place, name), "names no entry of the document")
    elif record["revision"] > revision:
        yield Fault(pointer(place, "revision"), "is later than the entry's")


def _find_excesses(document: Document) -> Iterator[Fault]:
    """Yield, per project, run and scope, the first entry that is over a limit."""
    entries: Counter[tuple[str, ...]] = Counter()
    sizes: Counter[tuple[str, ...]] = Counter()
    for index, entry in enumerate(document.entries):
        if entry.content is None or entry.content.kind is Kind.TRACE:
            continue
        group, most, what = _limit_of(entry)
        entries[group] += 1
        if entries[group] == most + 1:
            yield Fault(f"/entries/{index}", f"is over the limit of {most} {what}")
        scope = _scope_of(entry)
        size = len(entry.content.canonical().encode())
        if sizes[scope] <= MAX_BYTES < sizes[scope] + size:
            yield Fault(f"/entries/{index}", f"is over the limit of {MAX_BYTES} bytes of a scope")
        sizes[scope] += size


def _limit_of(entry: LegacyEntry) -> tuple[tuple[str, ...], int, str]:
    project = (entry.repo, entry.project_id)
    if entry.collection is Collection.PROJECT:
        return project, MAX_PROJECT_ENTRIES, "live entries of a project"
    run = (*project, entry.run_id or "")
    return run, MAX_RUN_ENTRIES, "live private and team entries of a run"


def _scope_of(entry: LegacyEntry) -> tuple[str, ...]:
    # All private entries get one owner, the home's first: they are one scope of their project.
    team = entry.team_id or "" if entry.collection is Collection.TEAM else ""
    return (entry.repo, entry.project_id, entry.collection, team)
