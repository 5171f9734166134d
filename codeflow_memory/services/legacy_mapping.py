"""What the records of the older ``memory.json`` become here, and how they are read back.

Text, ids, revisions, statuses and times stay as they are. What the older format does not tell has
a fixed word, `NOBODY`, or is the home's first owner's.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from codeflow_memory.adapters.legacy_records import (
    LegacyApproval,
    LegacyEntry,
    LegacyFeedback,
    LegacyReceipt,
    LegacyVerification,
)
from codeflow_memory.domain import trust
from codeflow_memory.domain.access import Origin, Scope
from codeflow_memory.domain.approval import Approval
from codeflow_memory.domain.findings import FLAGGED, rules_of
from codeflow_memory.domain.labels import absolute_path
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Memory,
    Pair,
    Tombstone,
    Verification,
    canonical_json,
)
from codeflow_memory.domain.text import hidden
from codeflow_memory.services.redaction import find
from codeflow_memory.storage.feedback import Feedback
from codeflow_memory.storage.imports import StoredReceipt
from codeflow_memory.storage.memories import Stored

NOBODY = "legacy"
"""Stands where the document names no principal: who deleted, who judged, who checked."""

VALID = "valid"
"""The result of the checks that the document records: it keeps only those that held."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the document's names lead.

    Args:
        owner: Principal id of the home's first owner.
        repositories: The document's ``repo`` to a repository id.
        projects: Repository id and slug to a project id.
        teams: The document's ``teamId`` to a team id.
        scopes: Project id and audience to the scope.
    """

    owner: str
    repositories: Mapping[str, str]
    projects: Mapping[tuple[str, str], str]
    teams: Mapping[str, str]
    scopes: Mapping[tuple[str, str], Scope]

    def scope_of(self, entry: LegacyEntry) -> Scope:
        """Return the scope that an entry goes into."""
        project_id = self.projects[self.repositories[entry.repo], entry.project_id]
        return self.scopes[project_id, self.audience_of(entry)]

    def audience_of(self, entry: LegacyEntry) -> str:
        """Return whom an entry is for; every private one is the owner's."""
        match entry.collection:
            case Collection.PROJECT:
                return "project"
            case Collection.TEAM:
                return f"team:{self.teams[entry.team_id or '']}"
            case Collection.PRIVATE:
                return f"private:{self.owner}"


def spelled(repo: str) -> str:
    """Return the one spelling of a ``repo``: two spellings of a path are one repository."""
    return absolute_path(repo) or repo


def find_flags(content: Content) -> tuple[str, ...]:
    """Return the ids of the rules that hold for a text, each once, in a fixed order."""
    lines = (*content.tags, *content.paths, *content.branches, *content.sources)
    text = f"{content.title}\n{content.body}"
    flags = list(rules_of(content))
    one_line = (content.title, *lines)
    if hidden(content.body, multiline=True) or any(hidden(x, multiline=False) for x in one_line):
        flags.append("hidden-characters")
    # In one piece: each call has its price, and a secret that spans two lines is one here too.
    flags += [f"secret:{found.kind}" for found in find("\n".join((text, *lines)))]
    return tuple(dict.fromkeys(flags))


def to_memory(entry: LegacyEntry, places: Places, flags: Iterable[str]) -> Memory:
    """Return what an entry becomes; *flags* keep its text out of every context."""
    scope, check, content = places.scope_of(entry), entry.verification, entry.content
    flags = tuple(flags)
    return Memory(
        memory_id=entry.memory_id,
        revision=entry.revision,
        repository_id=scope.repository_id,
        project_id=scope.project_id,
        scope_id=scope.scope_id,
        collection=entry.collection,
        owner=places.owner,
        team_id=places.teams[entry.team_id or ""] if entry.collection is Collection.TEAM else None,
        run_id=entry.run_id,
        status=entry.status,
        content=content,
        content_sha256=None if content is None else content.sha256(),
        author=entry.agent or places.owner,
        origin=str(Origin.LEGACY),
        trust=trust.BASE,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        superseded_by=entry.superseded_by,
        review_reason=FLAGGED + ",".join(flags) if flags else None,
        verification=(
            None
            if check is None
            else Verification(check.commit, check.at, check.by or NOBODY, VALID)
        ),
        tombstone=(
            Tombstone(NOBODY, entry.deleted_at or entry.updated_at, None)
            if content is None
            else None
        ),
    )


def to_approvals(entry: LegacyEntry) -> list[Approval]:
    """Return an entry's decisions.

    Two of one reviewer on one revision at one moment are kept a microsecond apart: the table knows
    a decision by these three.
    """
    taken: set[tuple[str, int, int]] = set()
    found = []
    for approval in entry.approvals:
        at = approval.at
        while (approval.by, approval.revision, at) in taken:
            at += 1
        taken.add((approval.by, approval.revision, at))
        found.append(
            Approval(
                approval.revision,
                approval.by,
                approval.decision,
                own=approval.by == entry.agent,
                withdrawn=False,
                at=at,
                comment=approval.comment,
            )
        )
    return found


def to_feedback(votes: Iterable[LegacyFeedback]) -> Iterator[tuple[str, Feedback]]:
    """Yield ``(memory id, judgement)``: nobody's, numbered where several fall on one moment."""
    times: Counter[tuple[str, int, int]] = Counter()
    for vote in votes:
        times[vote.memory_id, vote.revision, vote.at] += 1
        number = times[vote.memory_id, vote.revision, vote.at]
        yield (
            vote.memory_id,
            Feedback(
                vote.revision,
                NOBODY if number == 1 else f"{NOBODY}:{number}",
                vote.helpful,
                vote.at,
                run_id=vote.run_id,
                note=vote.note,
            ),
        )


def expected(entry: LegacyEntry, places: Places) -> LegacyEntry:
    """Return what reading an entry back must give: the entry, with what it does not tell filled.

    A word for the kind that is none of ours is not kept, and a deleted entry keeps none.
    """
    check = entry.verification
    return replace(
        entry,
        repo=spelled(entry.repo),
        agent=entry.agent or places.owner,
        kind=None if entry.content is None else str(entry.content.kind),
        team_id=places.teams[entry.team_id or ""] if entry.collection is Collection.TEAM else None,
        verification=None if check is None else replace(check, by=check.by or NOBODY),
        approvals=_in_order(
            LegacyApproval(a.principal, a.at, a.revision, a.decision, a.comment)
            for a in to_approvals(entry)
        ),
        deleted_at=None if entry.content is not None else entry.deleted_at,
    )


@dataclass(frozen=True, slots=True)
class Names:
    """What the database says of the names: repository id to path, project id to slug.

    ``pairs`` are the ``derived_from`` of tombstones, from the import's receipt.
    """

    repositories: Mapping[str, str]
    projects: Mapping[str, str]
    pairs: Mapping[str, tuple[Pair, ...]]


def of_stored(stored: Stored, decided: Iterable[Approval], names: Names) -> LegacyEntry:
    """Return an entry as the database tells it."""
    memory, stone = stored.memory, stored.memory.tombstone
    content, check = memory.content, memory.verification
    return LegacyEntry(
        memory_id=memory.memory_id,
        revision=memory.revision,
        collection=memory.collection,
        repo=names.repositories.get(memory.repository_id, ""),
        project_id=names.projects.get(memory.project_id, ""),
        run_id=memory.run_id,
        agent=memory.author,
        team_id=memory.team_id,
        status=memory.status,
        kind=None if content is None else str(content.kind),
        content=content,
        derived_from=(
            names.pairs.get(memory.memory_id, ()) if content is None else content.derived_from
        ),
        verification=(
            None if check is None else LegacyVerification(check.commit, check.at, check.principal)
        ),
        approvals=_in_order(
            LegacyApproval(a.principal, a.at, a.revision, a.decision, a.comment) for a in decided
        ),
        superseded_by=memory.superseded_by,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        deleted_at=None if stone is None else stone.deleted_at,
    )


def of_judgement(memory_id: str, judgement: Feedback) -> LegacyFeedback:
    """Return a judgement as the database tells it."""
    return LegacyFeedback(
        memory_id,
        judgement.revision,
        judgement.helpful,
        judgement.at,
        judgement.run_id,
        judgement.note,
    )


def of_receipt(receipt: StoredReceipt) -> LegacyReceipt:
    """Return a receipt as the database tells it."""
    return LegacyReceipt(
        receipt.operation_id,
        receipt.target_id,
        receipt.revision,
        receipt.action,
        receipt.at,
        receipt.request_hash,
    )


def digest_of(records: Iterable[object]) -> str:
    """Return the SHA-256 of the records, one line of canonical JSON each, whatever their order."""
    digest = hashlib.sha256()
    for line in sorted(canonical_json(_fields(record)) for record in records):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _fields(record: object) -> object:
    """Return a record as JSON values: its name and, in order, its fields."""
    if isinstance(record, Content):
        return json.loads(record.canonical())
    if isinstance(record, tuple):
        return [_fields(item) for item in record]
    names = getattr(type(record), "__dataclass_fields__", None)
    if names is None:
        return record
    return [type(record).__name__, *(_fields(getattr(record, name)) for name in names)]


def _in_order(decided: Iterable[LegacyApproval]) -> tuple[LegacyApproval, ...]:
    return tuple(sorted(decided, key=lambda a: (a.at, a.revision, a.by)))
