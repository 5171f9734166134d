"""The shapes of the lines of a JSONL export: which records and fields it has."""

from typing import Annotated, Any, Literal, Union

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from codeflow_memory.domain.memory import Collection, Content, Kind, Pair, Sensitivity, Status
from codeflow_memory.domain.times import parse_rfc3339

FORMAT = 1
"""The version that an export's first line tells."""


def _to_time(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("must be an RFC 3339 time")  # noqa: TRY004 - pydantic reports ValueError
    return parse_rfc3339(value)


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Alias = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Note = Annotated[str, StringConstraints(max_length=16_384)]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Revision = Annotated[int, Field(ge=1, le=2**31 - 1)]
Time = Annotated[int, BeforeValidator(_to_time)]
Trust = Annotated[int, Field(ge=0, le=10_000)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HeaderLine(_Line):
    """The first line: which format it is, and which tenant wrote it."""

    record: Literal["export"]
    format: Literal[1]
    tenant: Name


class PrincipalLine(_Line):
    """A principal that other lines name; no roles."""

    record: Literal["principal"]
    id: Name
    name: Name
    kind: Literal["user", "agent"]
    sponsor_id: Name | None
    created_at: Time
    removed_at: Time | None


class TeamLine(_Line):
    """A team, with those of its members that other lines name."""

    record: Literal["team"]
    id: Name
    slug: Name
    name: Name
    members: tuple[Name, ...]
    created_at: Time


class AliasPart(_Line):
    """One thing that a repository is known by."""

    kind: Literal["key", "remote", "root_commit", "common_dir", "path"]
    value: Alias


class RepositoryLine(_Line):
    """A repository with its settings and all that it is known by."""

    record: Literal["repository"]
    id: Name
    name: Name
    identified_by: Literal["key", "remote", "root_commit", "common_dir", "path"]
    revision: Revision
    required_approvals: Annotated[int, Field(ge=1, le=16)]
    codeowners: bool
    allow_own_approval: bool
    capture: bool
    created_by: Name
    created_at: Time
    aliases: tuple[AliasPart, ...]


class ProjectLine(_Line):
    """A project; ``fingerprint`` is over its memories' lines."""

    record: Literal["project"]
    id: Name
    repository_id: Name
    slug: Name
    name: Name
    path_prefix: Alias | None
    created_at: Time
    fingerprint: Hash


class RunLine(_Line):
    """A run that memories name."""

    record: Literal["run"]
    id: Name
    repository_id: Name
    project_id: Name
    principal_id: Name
    branch: str | None
    agent: Name
    team_id: Name | None
    started_at: Time
    ended_at: Time | None


class PairPart(_Line):
    """An exact revision of a memory."""

    memory_id: Word
    revision: Revision

    def pair(self) -> Pair:
        """Leave the wire format."""
        return Pair(self.memory_id, self.revision)


class ContentPart(_Line):
    """What an author wrote; text that an import kept as it was may be what no request may be."""

    kind: Kind
    title: Annotated[str, StringConstraints(max_length=200)]
    body: Annotated[str, StringConstraints(max_length=16_384)]
    tags: Annotated[tuple[str, ...], Field(max_length=16)]
    paths: Annotated[tuple[str, ...], Field(max_length=64)]
    branches: Annotated[tuple[str, ...], Field(max_length=16)]
    sources: Annotated[tuple[str, ...], Field(max_length=64)]
    derived_from: Annotated[tuple[PairPart, ...], Field(max_length=32)]
    sensitivity: Sensitivity
    key: Annotated[str, StringConstraints(max_length=200)] | None
    valid_from: Time | None
    valid_to: Time | None

    def content(self) -> Content:
        """Leave the wire format."""
        values: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        values["derived_from"] = tuple(p.pair() for p in self.derived_from)
        return Content(**values)


class VerificationPart(_Line):
    """The last check of a memory's citations."""

    commit: Commit
    at: Time
    principal: Word
    result: Word


class RevisionPart(_Line):
    """A memory as it was."""

    revision: Revision
    status: Status
    superseded_by: Word | None
    action: Word
    actor: Word
    at: Time
    operation_id: Word
    reason: Note | None
    content_sha256: Hash | None
    content: ContentPart | None
    trust: Trust | None = None


class ApprovalPart(_Line):
    """A decision on one revision."""

    revision: Revision
    principal: Word
    decision: Literal["approve", "reject"]
    own: bool
    withdrawn: bool
    at: Time
    comment: Note | None


class FeedbackPart(_Line):
    """A judgement of one revision."""

    revision: Revision
    principal: Word
    helpful: bool
    at: Time
    selection_id: Word | None
    run_id: Word | None
    note: Note | None


class CitationPart(_Line):
    """What stood where a ``file:`` source points."""

    source: Annotated[str, StringConstraints(min_length=1)]
    blob_hash: Word
    lines_hash: Word | None
    result: Literal["valid", "moved", "changed", "missing", "unknown"]
    new_place: str | None
    checked_at: Time


class MemoryLine(_Line):
    """A memory with everything that belongs to it; ``content`` is null when it is deleted."""

    record: Literal["memory"]
    id: Annotated[str, StringConstraints(pattern=r"^mem_[0-9A-Za-z]{10,40}$")]
    revision: Revision
    status: Status
    content_sha256: Hash | None
    repository_id: Name
    project_id: Name
    collection: Collection
    owner: Name
    team_id: Name | None
    run_id: Word | None
    author: Word
    editor: Word
    origin: Literal["user", "agent", "background", "repository", "import", "legacy", "system"]
    trust: Trust
    standing: Trust | None = None
    judged_at: Time | None = None
    supersedes: PairPart | None
    superseded_by: Word | None
    review_reason: Note | None
    conflicts_with: tuple[Word, ...]
    extractor: Word | None
    self_approved: bool
    created_at: Time
    updated_at: Time
    verification: VerificationPart | None
    content: ContentPart | None
    revisions: tuple[RevisionPart, ...]
    approvals: tuple[ApprovalPart, ...]
    feedback: tuple[FeedbackPart, ...]
    citations: tuple[CitationPart, ...]


Line = Annotated[
    Union[  # noqa: UP007 - pydantic tells the lines apart by their field "record"
        HeaderLine, PrincipalLine, TeamLine, RepositoryLine, ProjectLine, RunLine, MemoryLine
    ],
    Field(discriminator="record"),
]
"""Any line."""
