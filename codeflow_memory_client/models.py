"""The bodies of requests and answers.

Written by ``ops/client.py`` from the API's description; a test keeps it true.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, final

Action = Literal[
    "approve", "reject", "supersede", "outdate", "archive", "restore", "return", "delete"
]
"""What a caller asks for; each names the status it leads to in `TARGET`."""


@final
class AliasesBody(TypedDict):
    """``AliasesBody`` of the API."""

    key: list[str]
    remote: list[str]
    root_commit: list[str]
    common_dir: list[str]
    paths: list[str]


@final
class AnswerBody(TypedDict):
    """``AnswerBody`` of the API."""

    results: list[FoundBody]
    terms: list[str]
    terms_dropped: list[str]
    seeds_truncated: bool


@final
class AppendAnswer(TypedDict):
    """``AppendAnswer`` of the API."""

    status: Literal["appended", "duplicate", "near_duplicate", "review", "refused"]
    memory_id: str | None
    revision: int | None
    similar: SimilarBody | None
    reason: str | None


@final
class AppendArguments(TypedDict):
    """``AppendArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    content: str


@final
class ApprovalBody(TypedDict):
    """``ApprovalBody`` of the API."""

    revision: int
    principal: str
    decision: Literal["approve", "reject"]
    own: bool
    withdrawn: bool
    at: str
    comment: str | None


@final
class AuditBody(TypedDict):
    """``AuditBody`` of the API."""

    rows: int
    checkpoints: int
    rows_since: int


@final
class AuditsReportBody(TypedDict):
    """``AuditsReportBody`` of the API."""

    sound: bool
    fault: FaultBody | None
    rows: int | None
    order_only: int | None
    checkpoints: CheckpointsBody | None


@final
class BandBody(TypedDict):
    """``BandBody`` of the API."""

    least: int
    most: int
    accepted: int
    rejected: int
    corrected: int
    confirmed: int
    unresolved: int


@final
class BatchBody(TypedDict):
    """``BatchBody`` of the API."""

    operations: list[StepBody]
    dry_run: NotRequired[bool]
    atomic: NotRequired[bool]


@final
class BudgetBody(TypedDict):
    """``BudgetBody`` of the API."""

    characters: NotRequired[int]
    entries: NotRequired[int]


@final
class ChangeBody(TypedDict):
    """``ChangeBody`` of the API."""

    at: str
    principal: str
    origin: str
    batch_id: str
    action: str
    item: str
    repository_id: str | None
    from_revision: int | None
    to_revision: int | None
    from_status: str | None
    to_status: str | None
    reason: str | None


@final
class ChangesBody(TypedDict):
    """``ChangesBody`` of the API."""

    items: list[ChangeBody]
    next_cursor: str | None


@final
class CheckpointsBody(TypedDict):
    """``CheckpointsBody`` of the API."""

    count: int
    last_at: str | None
    rows_since: int
    torn: bool
    fault: DisagreementBody | None


@final
class CloneBody(TypedDict):
    """``CloneBody`` of the API."""

    key: NotRequired[str | None]
    remote: NotRequired[str | None]
    root_commit: NotRequired[str | None]
    common_dir: NotRequired[str | None]
    paths: NotRequired[list[str]]
    name: NotRequired[str | None]


Collection = Literal["private", "team", "project"]
"""Who may see and write an entry."""


@final
class ConflictBody(TypedDict):
    """``ConflictBody`` of the API."""

    id: str
    revision: int
    status: Status
    title: str
    body: str


@final
class ContentBody(TypedDict):
    """``ContentBody`` of the API."""

    kind: NotRequired[Kind | None]
    title: NotRequired[str | None]
    body: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    paths: NotRequired[list[str] | None]
    branches: NotRequired[list[str] | None]
    sources: NotRequired[list[str] | None]
    derived_from: NotRequired[list[PairBody] | None]
    sensitivity: NotRequired[Sensitivity | None]
    key: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]


@final
class DecisionBody(TypedDict):
    """``DecisionBody`` of the API."""

    comment: NotRequired[str | None]
    reason: NotRequired[str | None]
    superseded_by: NotRequired[str | None]


@final
class DeleteBody(TypedDict):
    """``DeleteBody`` of the API."""

    reason: NotRequired[str | None]


@final
class DerivedBody(TypedDict):
    """``DerivedBody`` of the API."""

    memory_id: str
    revision: int
    resolved: bool


DiffBody = TypedDict(
    "DiffBody", {"memory_id": "str", "from": "int", "to": "int", "fields": "list[FieldDiffBody]"}
)


@final
class DisagreementBody(TypedDict):
    """``DisagreementBody`` of the API."""

    number: int | None
    detail: str


@final
class DraftBody(TypedDict):
    """``DraftBody`` of the API."""

    kind: Kind
    title: str
    body: str
    tags: NotRequired[list[str] | None]
    paths: NotRequired[list[str] | None]
    branches: NotRequired[list[str] | None]
    sources: NotRequired[list[str] | None]
    derived_from: NotRequired[list[PairBody] | None]
    sensitivity: NotRequired[Sensitivity | None]
    key: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    collection: Collection
    team_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    supersedes: NotRequired[PairBody | None]


@final
class EdgeBody(TypedDict):
    """``EdgeBody`` of the API."""

    source: str
    type: Literal["applies_to", "learned_from", "verified_at", "derived_from", "cites"]
    target: str
    memory_id: str
    memory_revision: int
    target_revision: int | None
    resolved: bool | None


@final
class EndBody(TypedDict):
    """``EndBody`` of the API."""


@final
class EvidenceBody(TypedDict):
    """``EvidenceBody`` of the API."""

    source: str
    result: str


Fact = Literal["key", "remote", "root_commit", "common_dir", "path"]
"""A kind of fact about a repository, strongest first."""


@final
class FaultBody(TypedDict):
    """``FaultBody`` of the API."""

    sequence: int
    detail: str


@final
class FeedbackArguments(TypedDict):
    """``FeedbackArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    memory_id: str
    helpful: bool
    note: NotRequired[str | None]


@final
class FeedbackBody(TypedDict):
    """``FeedbackBody`` of the API."""

    helpful: bool
    note: NotRequired[str | None]
    selection_id: NotRequired[str | None]
    dry_run: NotRequired[bool]


FieldDiffBody = TypedDict(
    "FieldDiffBody",
    {"field": "str", "from": "Any", "to": "Any", "words": "NotRequired[list[list[str]] | None]"},
)


@final
class FileAnswer(TypedDict):
    """``FileAnswer`` of the API."""

    command: str
    path: str
    memory_id: str | None
    revision: int | None
    status: Status | None
    text: str
    files: list[FileBody]
    changed: int


@final
class FileArguments(TypedDict):
    """``FileArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: NotRequired[str | None]
    file_text: NotRequired[str | None]
    old_str: NotRequired[str | None]
    new_str: NotRequired[str | None]
    insert_line: NotRequired[int | None]
    insert_text: NotRequired[str | None]
    old_path: NotRequired[str | None]
    new_path: NotRequired[str | None]
    view_range: NotRequired[list[int] | None]
    revision: NotRequired[int | None]


@final
class FileBody(TypedDict):
    """``FileBody`` of the API."""

    path: str
    memory_id: str
    revision: int
    status: Status
    characters: int


@final
class FoundBody(TypedDict):
    """``FoundBody`` of the API."""

    memory_id: str
    revision: int
    title: str
    score: float
    matched: dict[str, list[str]]
    snippet: str


@final
class FoundLinesBody(TypedDict):
    """``FoundLinesBody`` of the API."""

    path: str
    memory_id: str
    revision: int
    title: str
    lines: str
    score: float
    snippet: str
    channels: dict[str, float]


@final
class GetArguments(TypedDict):
    """``GetArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    id: NotRequired[str | None]
    path: NotRequired[str | None]
    from_line: NotRequired[int]
    lines: NotRequired[int]


@final
class GrantBody(TypedDict):
    """``GrantBody`` of the API."""

    id: str
    principal_id: str
    role: Role
    repository_id: str | None
    granted_by: str
    granted_at: str


@final
class GrantsBody(TypedDict):
    """``GrantsBody`` of the API."""

    items: list[GrantBody]
    next_cursor: str | None


@final
class GraphBody(TypedDict):
    """``GraphBody`` of the API."""

    nodes: list[NodeBody]
    edges: list[EdgeBody]
    truncated: bool
    limits: dict[str, int]


@final
class JobsBody(TypedDict):
    """``JobsBody`` of the API."""

    waiting: int
    dead: int


Kind = Literal[
    "guidance",
    "decision",
    "convention",
    "procedure",
    "fact",
    "preference",
    "correction",
    "environment",
    "profile",
    "temporal",
    "trace",
    "policy",
    "world_model",
    "skill",
]
"""What an entry is; ``trace`` to ``skill`` are the layers of recall."""


@final
class LinesBody(TypedDict):
    """``LinesBody`` of the API."""

    path: str
    memory_id: str
    revision: int
    title: str
    kind: Kind
    status: Status
    collection: Collection
    sensitivity: Sensitivity
    trust: int
    sources: list[str]
    text: str
    from_line: int
    to_line: int
    total_lines: int
    quarantined: bool


@final
class ListedProjectBody(TypedDict):
    """``ListedProjectBody`` of the API."""

    id: str
    repository_id: str
    slug: str
    name: str
    path_prefix: str | None
    created_at: str


@final
class ManifestBody(TypedDict):
    """``ManifestBody`` of the API."""

    id: str
    created_at: str
    run_id: str | None
    caller: str
    repository_id: str
    project_id: str
    request: dict[str, Any]
    query: str | None
    terms: list[str]
    terms_dropped: list[str]
    filters: dict[str, Any]
    entries: list[ManifestEntryBody]
    omitted: list[dict[str, Any]]
    truncated: dict[str, bool]
    context: str
    context_sha256: str
    engine: dict[str, Any]
    free_sha256: str | None
    manifest_sha256: str | None


@final
class ManifestEntryBody(TypedDict):
    """``ManifestEntryBody`` of the API."""

    memory_id: str
    revision: int
    content_sha256: str
    score: float | None
    trust: int
    collection: str
    state: str
    warnings: list[str]
    reasons: list[dict[str, Any]]
    redacted: bool
    withheld: bool


@final
class ManifestsBody(TypedDict):
    """``ManifestsBody`` of the API."""

    items: list[dict[str, Any]]
    next_cursor: str | None


@final
class MemberBody(TypedDict):
    """``MemberBody`` of the API."""

    principal: str


@final
class MembershipBody(TypedDict):
    """``MembershipBody`` of the API."""

    team_id: str
    principal_id: str


@final
class MemoryBodiesFindingBody(TypedDict):
    """``MemoryBodiesFindingBody`` of the API."""

    field: str
    rule: str
    severity: Severity
    start: int
    end: int


@final
class MemoryBody(TypedDict):
    """``MemoryBody`` of the API."""

    id: str
    revision: int
    repository_id: str
    project_id: str
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Status
    author: str
    origin: str
    created_at: str
    updated_at: str
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
    trust: int
    supersedes: PairBody | None
    superseded_by: str | None
    review_reason: str | None
    conflicts_with: list[str]
    extractor: str | None
    self_approved: bool
    verification: VerificationBody | None
    approvals: list[ApprovalBody]
    findings: NotRequired[list[MemoryBodiesFindingBody] | None]
    duplicate: NotRequired[bool | None]


@final
class MergeBody(TypedDict):
    """``MergeBody`` of the API."""

    into: str


@final
class NearBody(TypedDict):
    """``NearBody`` of the API."""

    id: str
    revision: int
    status: Status
    title: str
    similarity: float


@final
class NewGrantBody(TypedDict):
    """``NewGrantBody`` of the API."""

    principal: str
    role: Role
    repository: NotRequired[str | None]


@final
class NewPredicatesBody(TypedDict):
    """``NewPredicatesBody`` of the API."""

    functional: list[str]


@final
class NewPrincipalBody(TypedDict):
    """``NewPrincipalBody`` of the API."""

    name: str
    kind: Literal["user", "agent"]


@final
class NewProjectBody(TypedDict):
    """``NewProjectBody`` of the API."""

    slug: str
    name: NotRequired[str | None]
    path_prefix: NotRequired[str | None]


@final
class NewRunBody(TypedDict):
    """``NewRunBody`` of the API."""

    agent: str
    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    branch: NotRequired[str | None]
    team_id: NotRequired[str | None]
    ttl_seconds: NotRequired[int]


@final
class NewTeamBody(TypedDict):
    """``NewTeamBody`` of the API."""

    slug: str
    name: NotRequired[str | None]


@final
class NewTokenBody(TypedDict):
    """``NewTokenBody`` of the API."""

    principal: str
    role: Role
    kind: NotRequired[Literal["user", "agent", None]]
    repository: NotRequired[str | None]
    ttl: NotRequired[int | str | None]
    background: NotRequired[bool]
    tenant: NotRequired[str | None]


@final
class NodeBody(TypedDict):
    """``NodeBody`` of the API."""

    id: str
    kind: Literal["memory", "file", "run", "commit", "branch"]
    key: str


@final
class OperationsBody(TypedDict):
    """``OperationsBody`` of the API."""

    schema_version: int
    database_bytes: int
    audit: AuditBody
    jobs: JobsBody
    limits: list[OperationsUseBody]
    last_backup: dict[str, str] | None
    last_drill: dict[str, str] | None
    earlier_states: list[str]


@final
class OperationsUseBody(TypedDict):
    """``OperationsUseBody`` of the API."""

    limit: str
    value: int
    maximum: int


@final
class OutcomeBody(TypedDict):
    """``OutcomeBody`` of the API."""

    memory_id: str
    helpful: bool
    note: NotRequired[str | None]


@final
class PageBody(TypedDict):
    """``PageBody`` of the API."""

    items: list[MemoryBody | TombstoneBody]
    next_cursor: str | None
    facets: dict[str, dict[str, int]]


@final
class PairBody(TypedDict):
    """``PairBody`` of the API."""

    memory_id: str
    revision: int


@final
class PredicatesBody(TypedDict):
    """``PredicatesBody`` of the API."""

    functional: list[str]


@final
class PrincipalBody(TypedDict):
    """``PrincipalBody`` of the API."""

    id: str
    name: str
    kind: Literal["user", "agent"]
    sponsor_id: str | None
    created_at: str
    removed_at: str | None


@final
class PrincipalsBody(TypedDict):
    """``PrincipalsBody`` of the API."""

    items: list[PrincipalBody]
    next_cursor: str | None


@final
class Problem(TypedDict):
    """``Problem`` of the API."""

    type: str
    title: str
    status: int
    detail: str
    code: str


@final
class ProjectBody(TypedDict):
    """``ProjectBody`` of the API."""

    id: str
    repository_id: str
    slug: str
    name: str
    path_prefix: str | None
    created_at: str
    limits: list[ProjectsUseBody]


@final
class ProjectsBody(TypedDict):
    """``ProjectsBody`` of the API."""

    items: list[ListedProjectBody]
    next_cursor: str | None


@final
class ProjectsUseBody(TypedDict):
    """``ProjectsUseBody`` of the API."""

    limit: str
    audience: str
    value: int
    maximum: int


@final
class ProposeArguments(TypedDict):
    """``ProposeArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    kind: Kind
    title: str
    body: str
    tags: NotRequired[list[str] | None]
    paths: NotRequired[list[str] | None]
    branches: NotRequired[list[str] | None]
    sources: NotRequired[list[str] | None]
    derived_from: NotRequired[list[PairBody] | None]
    sensitivity: NotRequired[Sensitivity | None]
    key: NotRequired[str | None]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    collection: NotRequired[Literal["project"]]
    team_id: NotRequired[None]
    run_id: NotRequired[str | None]
    supersedes: NotRequired[PairBody | None]


@final
class PublishBody(TypedDict):
    """``PublishBody`` of the API."""

    note: NotRequired[str | None]


@final
class QueueBody(TypedDict):
    """``QueueBody`` of the API."""

    items: list[WaitingBody]
    next_cursor: str | None
    facets: dict[str, dict[str, int]]


@final
class RemovedBody(TypedDict):
    """``RemovedBody`` of the API."""

    id: str


@final
class ReplayRequestBody(TypedDict):
    """``ReplayRequestBody`` of the API."""


@final
class ReplayedBody(TypedDict):
    """``ReplayedBody`` of the API."""

    id: str
    context: str
    context_sha256: str
    manifest_sha256: str | None
    verified: bool
    entries: list[dict[str, Any]]


@final
class RepositoriesBody(TypedDict):
    """``RepositoriesBody`` of the API."""

    items: list[RepositoryBody]
    next_cursor: str | None


@final
class RepositoryBody(TypedDict):
    """``RepositoryBody`` of the API."""

    id: str
    name: str
    identified_by: Fact
    aliases: AliasesBody
    revision: int
    required_approvals: int
    codeowners: bool
    allow_own_approval: bool
    capture: bool
    created_at: str


@final
class ResultBody(TypedDict):
    """``ResultBody`` of the API."""

    id: str
    ok: bool
    revision: int | None
    status: str | None
    error: dict[str, Any] | None


@final
class ResultsBody(TypedDict):
    """``ResultsBody`` of the API."""

    results: list[ResultBody]
    applied: bool
    dry_run: bool
    batch_id: str | None


@final
class RevertedBody(TypedDict):
    """``RevertedBody`` of the API."""

    memory_id: str
    from_revision: int
    to_revision: int | None


@final
class RevisionBody(TypedDict):
    """``RevisionBody`` of the API."""

    memory_id: str
    revision: int
    status: Status
    superseded_by: str | None
    action: str
    actor: str
    at: str
    reason: str | None
    content_sha256: str | None


@final
class RevisionsBody(TypedDict):
    """``RevisionsBody`` of the API."""

    items: list[RevisionBody]
    next_cursor: NotRequired[None]


Role = Literal["reader", "contributor", "reviewer", "maintainer", "owner", "operator"]
"""A role, granted for the tenant or for one repository. ``operator`` reads no memory."""


@final
class RoleBody(TypedDict):
    """``RoleBody`` of the API."""

    role: Role
    repository_id: str | None


@final
class RunBody(TypedDict):
    """``RunBody`` of the API."""

    run_id: str
    repository_id: str
    project_id: str
    branch: str | None
    agent: str
    team_id: str | None
    live_entries: int
    started_at: str
    ended_at: str | None


@final
class RunsBody(TypedDict):
    """``RunsBody`` of the API."""

    items: list[RunBody]
    next_cursor: str | None


@final
class SearchAnswer(TypedDict):
    """``SearchAnswer`` of the API."""

    results: list[FoundLinesBody]
    provider: str
    vector_enabled: bool
    legs_used: list[str]
    warnings: list[WarningBody]


@final
class SearchArguments(TypedDict):
    """``SearchArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    query: str
    max_results: NotRequired[int]
    collections: NotRequired[list[Collection] | None]
    path_prefix: NotRequired[str | None]


@final
class SelectArguments(TypedDict):
    """``SelectArguments`` of the API."""

    repo: NotRequired[str | None]
    project_id: NotRequired[str | None]
    query: NotRequired[str]
    match: NotRequired[Literal["all", "literal"]]
    branch: NotRequired[str | None]
    head: NotRequired[str | None]
    paths: NotRequired[list[str]]
    run_id: NotRequired[str | None]
    budget: NotRequired[BudgetBody]
    kinds: NotRequired[list[Kind] | None]
    profile: NotRequired[Literal["project"]]
    explain: NotRequired[bool]


@final
class SelectionRequestBody(TypedDict):
    """``SelectionRequestBody`` of the API."""

    repo: NotRequired[str | None]
    query: NotRequired[str]
    match: NotRequired[Literal["all", "literal"]]
    branch: NotRequired[str | None]
    head: NotRequired[str | None]
    paths: NotRequired[list[str]]
    run_id: NotRequired[str | None]
    budget: NotRequired[BudgetBody]
    kinds: NotRequired[list[Kind] | None]
    profile: NotRequired[Literal["project"]]
    explain: NotRequired[bool]


Sensitivity = Literal["normal", "sensitive", "secret"]
"""How far the text may travel; only ``normal`` is ever selected or published."""


@final
class SettingsBody(TypedDict):
    """``SettingsBody`` of the API."""

    required_approvals: NotRequired[int | None]
    codeowners: NotRequired[bool | None]
    allow_own_approval: NotRequired[bool | None]
    capture: NotRequired[bool | None]


Severity = Literal["low", "medium", "high"]
"""How sure a finding is to be an attack; each sends its item to review."""


@final
class SimilarBody(TypedDict):
    """``SimilarBody`` of the API."""

    memory_id: str
    revision: int
    title: str
    similarity: float


@final
class StandingBody(TypedDict):
    """``StandingBody`` of the API."""

    id: str
    revision: int
    trust: int
    status: Status
    counted: bool


@final
class StartedBody(TypedDict):
    """``StartedBody`` of the API."""

    run_id: str
    repository_id: str
    project_id: str
    branch: str | None
    agent: str
    team_id: str | None
    live_entries: int
    started_at: str
    ended_at: str | None
    token: str | None
    expires_at: str


Status = Literal[
    "proposed", "accepted", "rejected", "outdated", "superseded", "archived", "deleted"
]
"""Where an entry stands; the moves between them are in `domain.lifecycle`."""


@final
class StatusBody(TypedDict):
    """``StatusBody`` of the API."""

    version: str
    operations: OperationsBody | None


@final
class StepBody(TypedDict):
    """``StepBody`` of the API."""

    comment: NotRequired[str | None]
    reason: NotRequired[str | None]
    superseded_by: NotRequired[str | None]
    action: Action | Literal["update", "publish"]
    id: str
    revision: int
    changes: NotRequired[ContentBody | None]


@final
class TeamBody(TypedDict):
    """``TeamBody`` of the API."""

    id: str
    slug: str
    name: str
    created_at: str


@final
class TeamsBody(TypedDict):
    """``TeamsBody`` of the API."""

    items: list[TeamBody]
    next_cursor: str | None


@final
class TokenBody(TypedDict):
    """``TokenBody`` of the API."""

    id: str
    token: str | None
    principal: str
    name: str
    kind: Literal["user", "agent"]
    roles: list[RoleBody]
    background: bool
    run_id: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


@final
class TokensBody(TypedDict):
    """``TokensBody`` of the API."""

    items: list[TokenBody]
    next_cursor: str | None


@final
class TombstoneBody(TypedDict):
    """``TombstoneBody`` of the API."""

    id: str
    revision: int
    repository_id: str
    project_id: str
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Literal["deleted"]
    author: str
    origin: str
    created_at: str
    updated_at: str
    deleted_by: str | None
    deleted_at: str | None
    reason: str | None


@final
class TrustBody(TypedDict):
    """``TrustBody`` of the API."""

    bands: list[BandBody]


@final
class UndoBody(TypedDict):
    """``UndoBody`` of the API."""

    batch: NotRequired[str | None]
    item: NotRequired[str | None]
    dry_run: NotRequired[bool]


@final
class UndoneBody(TypedDict):
    """``UndoneBody`` of the API."""

    batch_id: str
    of_batch: str
    reverted: list[RevertedBody]


@final
class VerificationBody(TypedDict):
    """``VerificationBody`` of the API."""

    commit: str
    at: str
    principal: str
    result: str


@final
class VerificationFindingBody(TypedDict):
    """``VerificationFindingBody`` of the API."""

    memory_id: str
    citation: str
    result: Literal["valid", "moved", "changed", "missing", "unknown"]
    new_place: NotRequired[str | None]


@final
class VerificationReportBody(TypedDict):
    """``VerificationReportBody`` of the API."""

    commit: str | None
    results: list[VerificationFindingBody]


@final
class VerifyBody(TypedDict):
    """``VerifyBody`` of the API."""

    commit: NotRequired[str | None]
    memory_ids: NotRequired[list[str] | None]


@final
class WaitingBody(TypedDict):
    """``WaitingBody`` of the API."""

    id: str
    revision: int
    repository_id: str
    project_id: str
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Status
    author: str
    origin: str
    created_at: str
    updated_at: str
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
    trust: int
    supersedes: PairBody | None
    superseded_by: str | None
    review_reason: str | None
    conflicts_with: list[str]
    extractor: str | None
    self_approved: bool
    verification: VerificationBody | None
    approvals: list[ApprovalBody]
    findings: list[MemoryBodiesFindingBody]
    duplicate: NotRequired[bool | None]
    reasons: list[str]
    risk: Literal["high", "medium", "low"]
    waiting_since: str
    near_duplicates: list[NearBody]
    diff: dict[str, Any] | None
    conflicts: list[ConflictBody]
    evidence: list[EvidenceBody]
    stale_decisions: list[ApprovalBody]


@final
class WarningBody(TypedDict):
    """``WarningBody`` of the API."""

    code: str
    message: str
