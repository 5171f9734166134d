"""The records of the older ``memory.json``, typed.

Text, ids, revisions, statuses and words are those of the document; nothing is repaired, and all
that the document says is kept, so that it can be compared field by field.
"""

from dataclasses import dataclass
from typing import Any

from codeflow_memory.domain.memory import Collection, Content, Kind, Pair, Status
from codeflow_memory.domain.times import parse_rfc3339

_KINDS = {str(kind): kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class LegacyVerification:
    """The commit and time of an entry's last check; ``at`` is Unix microseconds."""

    commit: str
    at: int
    by: str | None


@dataclass(frozen=True, slots=True)
class LegacyApproval:
    """A decision on one revision: ``approve`` or ``reject``; ``at`` is Unix microseconds."""

    by: str
    at: int
    revision: int
    decision: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class LegacyEntry:
    """One entry; times are Unix microseconds, absent fields ``None`` or empty.

    ``content`` is ``None`` exactly when the status is deleted. ``kind`` is the document's own word,
    which ``content.kind`` may not be. ``derived_from`` is kept of deleted entries too.
    """

    memory_id: str
    revision: int
    collection: Collection
    repo: str
    project_id: str
    run_id: str | None
    agent: str | None
    team_id: str | None
    status: Status
    kind: str | None
    content: Content | None
    derived_from: tuple[Pair, ...]
    verification: LegacyVerification | None
    approvals: tuple[LegacyApproval, ...]
    superseded_by: str | None
    created_at: int
    updated_at: int
    deleted_at: int | None


@dataclass(frozen=True, slots=True)
class LegacyReceipt:
    """One operation that was done; ``at`` is Unix microseconds."""

    operation_id: str
    memory_id: str
    revision: int
    action: str
    at: int
    request_hash: str


@dataclass(frozen=True, slots=True)
class LegacyFeedback:
    """One vote on a revision; ``at`` is Unix microseconds."""

    memory_id: str
    revision: int
    helpful: bool
    at: int
    run_id: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """A valid document: records in the order of the file, all references resolved."""

    version: int
    entries: tuple[LegacyEntry, ...]
    receipts: tuple[LegacyReceipt, ...]
    feedback: tuple[LegacyFeedback, ...]


def to_document(raw: dict[str, Any]) -> Document:
    """Build the records of a decoded document in which no fault was found."""
    return Document(
        version=raw["version"],
        entries=tuple(_to_entry(r) for r in raw["entries"]),
        receipts=tuple(_to_receipt(r) for r in raw["receipts"]),
        feedback=tuple(_to_feedback(r) for r in raw["feedback"]),
    )


def _to_entry(raw: dict[str, Any]) -> LegacyEntry:
    status = Status(raw["status"])
    derived_from = tuple(Pair(p["id"], p["revision"]) for p in raw.get("derivedFrom", ()))
    return LegacyEntry(
        memory_id=raw["id"],
        revision=raw["revision"],
        collection=Collection(raw["collection"]),
        repo=raw["repo"],
        project_id=raw["projectId"],
        run_id=raw.get("runId"),
        agent=raw.get("agent"),
        team_id=raw.get("teamId"),
        status=status,
        kind=raw.get("kind"),
        content=None if status is Status.DELETED else _to_content(raw, derived_from),
        derived_from=derived_from,
        verification=_to_verification(raw["verification"]) if "verification" in raw else None,
        approvals=tuple(_to_approval(a) for a in raw.get("approvals", ())),
        superseded_by=raw.get("supersededBy"),
        created_at=parse_rfc3339(raw["createdAt"]),
        updated_at=parse_rfc3339(raw["updatedAt"]),
        deleted_at=parse_rfc3339(raw["deletedAt"]) if "deletedAt" in raw else None,
    )


def _to_content(raw: dict[str, Any], derived_from: tuple[Pair, ...]) -> Content:
    return Content(
        kind=_KINDS.get(raw.get("kind", ""), Kind.GUIDANCE),
        title=raw["title"],
        body=raw["body"],
        tags=tuple(raw.get("tags", ())),
        paths=tuple(raw.get("paths", ())),
        branches=tuple(raw.get("branches", ())),
        sources=tuple(raw.get("sources", ())),
        derived_from=derived_from,
    )


def _to_verification(raw: dict[str, Any]) -> LegacyVerification:
    return LegacyVerification(raw["commit"], parse_rfc3339(raw["at"]), raw.get("by"))


def _to_approval(raw: dict[str, Any]) -> LegacyApproval:
    return LegacyApproval(
        by=raw["by"],
        at=parse_rfc3339(raw["at"]),
        revision=raw["revision"],
        decision=raw["decision"],
        comment=raw.get("comment"),
    )


def _to_receipt(raw: dict[str, Any]) -> LegacyReceipt:
    return LegacyReceipt(
        operation_id=raw["operationId"],
        memory_id=raw["entryId"],
        revision=raw["revision"],
        action=raw["action"],
        at=parse_rfc3339(raw["at"]),
        request_hash=raw["requestHash"],
    )


def _to_feedback(raw: dict[str, Any]) -> LegacyFeedback:
    return LegacyFeedback(
        memory_id=raw["entryId"],
        revision=raw["revision"],
        helpful=raw["helpful"],
        at=parse_rfc3339(raw["at"]),
        run_id=raw.get("runId"),
        note=raw.get("note"),
    )
