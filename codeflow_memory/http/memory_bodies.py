"""The wire format of memories: what requests carry and what answers hold."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.findings import examine, is_flagged
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Kind,
    Sensitivity,
    Status,
    describe,
)
from codeflow_memory.domain.revision import Revision
from codeflow_memory.domain.scanning import Severity
from codeflow_memory.domain.text import hidden
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services.listing import Filter
from codeflow_memory.services.redaction import redact
from codeflow_memory.services.views import View

_ID = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"
_TIME = "2026-03-01T08:00:00.000000Z"


def _checked(text: str) -> str:
    found = hidden(text, multiline=True)
    if found:
        raise ValueError(f"must not contain {found[0].name} (at offset {found[0].offset})")
    return redact(text)


Prose = Annotated[str, AfterValidator(_checked)]
"""What a person adds in words: hidden characters are refused, secrets replaced, as in entries."""


class Input(BaseModel):
    """A request's body: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PairBody(Input):
    """An exact revision of a memory."""

    memory_id: str = Field(examples=[_ID])
    revision: int = Field(examples=[1])


class ContentBody(Input):
    """The content fields of a memory; in a change only those that are given change."""

    kind: Kind | None = None
    title: str | None = Field(None, examples=["Retry only idempotent requests"])
    body: str | None = Field(None, examples=["`POST` is never retried: there are no keys."])
    tags: list[str] | None = Field(None, examples=[["http", "retries"]])
    paths: list[str] | None = Field(None, examples=[["src/http/**"]])
    branches: list[str] | None = Field(None, examples=[["main", "release/*"]])
    sources: list[str] | None = Field(None, examples=[["file:src/http/client.py#L10-L24"]])
    derived_from: list[PairBody] | None = None
    sensitivity: Sensitivity | None = None
    key: str | None = None
    valid_from: str | None = Field(None, examples=[_TIME])
    valid_to: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the fields that the request named, as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True)


class DraftBody(ContentBody):
    """A new memory; ``kind``, ``title``, ``body`` and ``collection`` are required."""

    kind: Kind
    title: str = Field(examples=["Retry only idempotent requests"])
    body: str = Field(examples=["`POST` is never retried: there are no keys."])
    collection: Collection
    team_id: str | None = None
    run_id: str | None = None
    supersedes: PairBody | None = None


class DecisionBody(Input):
    """What goes with a decision."""

    comment: Prose | None = Field(None, max_length=4096)
    reason: Prose | None = Field(None, max_length=200, examples=["outdated"])
    superseded_by: str | None = Field(None, max_length=200)


class PublishBody(Input):
    """What goes with a publication: the note is the reason of the proposal's first revision."""

    note: Prose | None = Field(None, max_length=4096)


class DeleteBody(Input):
    """What goes with a deletion."""

    reason: Prose | None = Field(None, max_length=200, examples=["wrong"])


class FeedbackBody(Input):
    """Whether a memory helped."""

    helpful: bool
    note: Prose | None = Field(None, max_length=4096)
    selection_id: str | None = Field(None, max_length=200)
    dry_run: bool = False


class StandingBody(BaseModel):
    """A memory's trust, in basis points, after feedback."""

    id: str = Field(examples=[_ID])
    revision: int = Field(ge=1)
    trust: int = Field(ge=0, le=10_000, examples=[7_500])
    status: Status
    counted: bool


class DerivedBody(BaseModel):
    """A memory that was in the author's context; ``resolved`` when it still stands as it was."""

    memory_id: str
    revision: int
    resolved: bool


class ApprovalBody(BaseModel):
    """One decision of a reviewer, bound to a revision."""

    revision: int
    principal: str
    decision: Literal["approve", "reject"]
    own: bool
    withdrawn: bool
    at: str
    comment: str | None


class VerificationBody(BaseModel):
    """The last check of the citations."""

    commit: str
    at: str
    principal: str
    result: str


class FindingBody(BaseModel):
    """A rule of the scanner that holds in a field; offsets in code points, from 0."""

    field: str = Field(examples=["/body"])
    rule: str = Field(examples=["instruction-override"])
    severity: Severity
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class MemoryBody(BaseModel):
    """A memory at one revision."""

    id: str = Field(examples=[_ID])
    revision: int = Field(ge=1, examples=[1])
    repository_id: str
    project_id: str
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Status
    author: str
    origin: str
    created_at: str = Field(examples=[_TIME])
    updated_at: str = Field(examples=[_TIME])
    kind: Kind
    title: str
    body: str
    tags: list[str]
    paths: list[str]
    branches: list[str]
    sources: list[str]
    derived_from: list[DerivedBody]
    sensitivity: Sensitivity
    key: str | None
    valid_from: str | None
    valid_to: str | None
    content_sha256: str
    trust: int = Field(ge=0, le=10_000)
    supersedes: PairBody | None
    superseded_by: str | None
    review_reason: str | None
    conflicts_with: list[str]
    extractor: str | None
    self_approved: bool
    verification: VerificationBody | None
    approvals: list[ApprovalBody]
    findings: list[FindingBody] | None = Field(None, description="Where `review_reason` is flagged")
    duplicate: bool | None = None


class TombstoneBody(BaseModel):
    """What stays of a deleted memory: no word of its text."""

    id: str = Field(examples=[_ID])
    revision: int = Field(ge=1)
    repository_id: str
    project_id: str
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Literal[Status.DELETED]
    author: str
    origin: str
    created_at: str
    updated_at: str
    deleted_by: str | None
    deleted_at: str | None
    reason: str | None


class RevisionBody(BaseModel):
    """One revision of a memory; the content fields are absent once it is deleted."""

    model_config = ConfigDict(extra="allow")

    memory_id: str
    revision: int = Field(ge=1)
    status: Status
    superseded_by: str | None
    action: str
    actor: str
    at: str
    reason: str | None
    content_sha256: str | None


class RevisionsBody(BaseModel):
    """All revisions, oldest first."""

    items: list[RevisionBody]
    next_cursor: None = None


class FieldDiffBody(BaseModel):
    """One field that differs; ``words`` are ``[op, text]`` with op ``=``, ``-`` or ``+``."""

    model_config = ConfigDict(populate_by_name=True)

    field: str
    before: Any = Field(alias="from")
    after: Any = Field(alias="to")
    words: list[list[str]] | None = None


class DiffBody(BaseModel):
    """What changed between two revisions, or from what a memory supersedes to the memory."""

    model_config = ConfigDict(populate_by_name=True)

    memory_id: str
    before: int = Field(alias="from", ge=1)
    after: int = Field(alias="to", ge=1)
    fields: list[FieldDiffBody]


class PageBody(BaseModel):
    """A page of memories; ``facets`` counts the whole filtered list."""

    items: list[MemoryBody | TombstoneBody]
    next_cursor: str | None
    facets: dict[str, dict[str, int]]


def memory(view: View) -> dict[str, Any]:
    """Write a memory, or its tombstone, as one caller sees it."""
    body = describe(view.memory)
    if view.memory.content is None:
        return body
    pairs = view.memory.content.derived_from
    body["derived_from"] = [
        {"memory_id": p.memory_id, "revision": p.revision, "resolved": resolved}
        for p, resolved in zip(pairs, view.resolved, strict=True)
    ]
    body["approvals"] = [approval(a) for a in view.approvals]
    if is_flagged(view.memory.review_reason):
        body["findings"] = findings(view.memory.content)
    if view.duplicate:
        body["duplicate"] = True
    return body


def findings(content: Content) -> list[dict[str, Any]]:
    """Write what the scanner finds in a text, as its catalogue stands now."""
    return [
        {
            "field": found.field,
            "rule": found.rule,
            "severity": str(found.severity),
            "start": found.start,
            "end": found.end,
        }
        for found in examine(content)
    ]


def approval(given: Approval) -> dict[str, Any]:
    """Write one decision."""
    return {
        "revision": given.revision,
        "principal": given.principal,
        "decision": given.decision,
        "own": given.own,
        "withdrawn": given.withdrawn,
        "at": to_rfc3339(given.at),
        "comment": given.comment,
    }


def revision(found: Revision) -> dict[str, Any]:
    """Write one revision with its content, where that is left."""
    body: dict[str, Any] = {
        "memory_id": found.memory_id,
        "revision": found.revision,
        "status": str(found.status),
        "superseded_by": found.superseded_by,
        "action": found.action,
        "actor": found.actor,
        "at": to_rfc3339(found.at),
        "reason": found.reason,
        "content_sha256": found.content_sha256,
    }
    return body | ({} if found.content is None else found.content.fields())


def filters(wanted: Filter) -> dict[str, Any]:
    """Write what a list is narrowed to: part of what a cursor is bound to."""
    return {
        "status": wanted.status,
        "collection": wanted.collection,
        "kind": wanted.kind,
        "tag": wanted.tag,
        "path": wanted.path,
        "q": wanted.text,
    }
