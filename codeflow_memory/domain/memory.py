"""A memory: what its author writes (`Content`) and what the server keeps beside it (`Memory`)."""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum

from codeflow_memory.domain.times import parse_rfc3339, to_rfc3339


class Collection(StrEnum):
    """Who may see and write an entry."""

    PRIVATE = "private"
    TEAM = "team"
    PROJECT = "project"


class Kind(StrEnum):
    """What an entry is; ``trace`` to ``skill`` are the layers of recall."""

    GUIDANCE = "guidance"
    DECISION = "decision"
    CONVENTION = "convention"
    PROCEDURE = "procedure"
    FACT = "fact"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    ENVIRONMENT = "environment"
    PROFILE = "profile"
    TEMPORAL = "temporal"
    TRACE = "trace"
    POLICY = "policy"
    WORLD_MODEL = "world_model"
    SKILL = "skill"


class Status(StrEnum):
    """Where an entry stands; the moves between them are in `domain.lifecycle`."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OUTDATED = "outdated"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Sensitivity(StrEnum):
    """How far the text may travel; only ``normal`` is ever selected or published."""

    NORMAL = "normal"
    SENSITIVE = "sensitive"
    SECRET = "secret"  # noqa: S105 - a level, no password


@dataclass(frozen=True, slots=True)
class Pair:
    """An exact revision of a memory."""

    memory_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class Content:
    """What an author writes; every field counts for ``content_sha256``.

    Times are Unix microseconds. Lists keep the author's order.
    """

    kind: Kind
    title: str
    body: str
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    derived_from: tuple[Pair, ...] = ()
    sensitivity: Sensitivity = Sensitivity.NORMAL
    key: str | None = None
    valid_from: int | None = None
    valid_to: int | None = None

    def fields(self) -> dict[str, object]:
        """Return the content as JSON values, with the names of the wire."""
        return {
            "kind": str(self.kind),
            "title": self.title,
            "body": self.body,
            "tags": list(self.tags),
            "paths": list(self.paths),
            "branches": list(self.branches),
            "sources": list(self.sources),
            "derived_from": [
                {"memory_id": p.memory_id, "revision": p.revision} for p in self.derived_from
            ],
            "sensitivity": str(self.sensitivity),
            "key": self.key,
            "valid_from": None if self.valid_from is None else to_rfc3339(self.valid_from),
            "valid_to": None if self.valid_to is None else to_rfc3339(self.valid_to),
        }

    def canonical(self) -> str:
        """Return the canonical JSON: sorted keys, no spaces, text as it is."""
        return canonical_json(self.fields())

    def sha256(self) -> str:
        """Return the hash of the canonical JSON in UTF-8, 64 lower-case hex digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Verification:
    """The last check of an entry's citations against a commit."""

    commit: str
    at: int
    principal: str
    result: str


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of a deleted memory; who could not read it does not see the tombstone either."""

    deleted_by: str
    deleted_at: int
    reason: str | None
    sensitivity: Sensitivity = Sensitivity.NORMAL


@dataclass(frozen=True, slots=True)
class Memory:
    """An entry at one revision, with what the server alone sets.

    ``content`` is ``None`` exactly when the entry is deleted; then ``tombstone`` is set. ``trust``
    is in basis points, 0 to 10,000. Times are Unix microseconds. ``standing`` is the trust before
    age, counted from ``judged_at``, and conflicts take off (`domain.trust`); ``None`` of an entry
    not written yet: its trust, and when it was made.
    """

    memory_id: str
    revision: int
    repository_id: str
    project_id: str
    scope_id: int
    collection: Collection
    owner: str
    team_id: str | None
    run_id: str | None
    status: Status
    content: Content | None
    content_sha256: str | None
    author: str
    origin: str
    trust: int
    created_at: int
    updated_at: int
    supersedes: Pair | None = None
    superseded_by: str | None = None
    review_reason: str | None = None
    conflicts_with: tuple[str, ...] = ()
    extractor: str | None = None
    self_approved: bool = False
    verification: Verification | None = None
    tombstone: Tombstone | None = None
    # What the trust is computed from: of two equal answers it may differ.
    standing: int | None = field(default=None, compare=False)
    judged_at: int | None = field(default=None, compare=False)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far the text may travel, or could while there was one."""
        if self.content is not None:
            return self.content.sensitivity
        return Sensitivity.NORMAL if self.tombstone is None else self.tombstone.sensitivity


def canonical_json(value: object) -> str:
    """Serialise JSON values with sorted keys and no spaces, so that equal values hash alike."""
    return _encode(value)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def parse_content(text: str) -> Content:
    """Read back what `Content.canonical` wrote; stored content is trusted to be well-formed."""
    raw = json.loads(text)
    return Content(
        kind=Kind(raw["kind"]),
        title=raw["title"],
        body=raw["body"],
        tags=tuple(raw["tags"]),
        paths=tuple(raw["paths"]),
        branches=tuple(raw["branches"]),
        sources=tuple(raw["sources"]),
        derived_from=tuple(Pair(p["memory_id"], p["revision"]) for p in raw["derived_from"]),
        sensitivity=Sensitivity(raw["sensitivity"]),
        key=raw["key"],
        valid_from=None if raw["valid_from"] is None else parse_rfc3339(raw["valid_from"]),
        valid_to=None if raw["valid_to"] is None else parse_rfc3339(raw["valid_to"]),
    )


def describe(memory: Memory) -> dict[str, object]:
    """Return *memory* as JSON values, with the names of the wire; a tombstone has no text."""
    common: dict[str, object] = {
        "id": memory.memory_id,
        "revision": memory.revision,
        "repository_id": memory.repository_id,
        "project_id": memory.project_id,
        "collection": str(memory.collection),
        "owner": memory.owner,
        "team_id": memory.team_id,
        "run_id": memory.run_id,
        "status": str(memory.status),
        "author": memory.author,
        "origin": memory.origin,
        "created_at": to_rfc3339(memory.created_at),
        "updated_at": to_rfc3339(memory.updated_at),
    }
    if memory.content is None:
        stone = memory.tombstone
        return common | {
            "deleted_by": None if stone is None else stone.deleted_by,
            "deleted_at": None if stone is None else to_rfc3339(stone.deleted_at),
            "reason": None if stone is None else stone.reason,
        }
    return common | memory.content.fields() | _kept_beside(memory)


def _kept_beside(memory: Memory) -> dict[str, object]:
    check, old = memory.verification, memory.supersedes
    return {
        "content_sha256": memory.content_sha256,
        "trust": memory.trust,
        "supersedes": (
            None if old is None else {"memory_id": old.memory_id, "revision": old.revision}
        ),
        "superseded_by": memory.superseded_by,
        "review_reason": memory.review_reason,
        "conflicts_with": list(memory.conflicts_with),
        "extractor": memory.extractor,
        "self_approved": memory.self_approved,
        "verification": (
            None
            if check is None
            else {
                "commit": check.commit,
                "at": to_rfc3339(check.at),
                "principal": check.principal,
                "result": check.result,
            }
        ),
    }
