"""The one way in: every write of every origin becomes a candidate and passes `govern` (03 §1).

What the text alone tells (secrets, findings, hashes) is computed by `prepare`, before the
transaction; what rests on stored state is decided by `govern`, inside it.
"""

from dataclasses import dataclass, replace

from codeflow_memory.domain import trust
from codeflow_memory.domain.access import Origin, Reach, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.duplicates import family, group, text_key
from codeflow_memory.domain.errors import PreviouslyRejectedError, ProvenanceInvalidError
from codeflow_memory.domain.findings import FLAGGED, rules_of
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Memory,
    Pair,
    Sensitivity,
    Status,
)
from codeflow_memory.services import conflicts, likeness
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.redaction import redact_content
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories, revisions
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored

_EXPLICIT = frozenset({Origin.USER, Origin.AGENT})
_KNOWN = (
    Status.ACCEPTED,
    Status.PROPOSED,
    Status.SUPERSEDED,
    Status.OUTDATED,
    Status.ARCHIVED,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A candidate after the steps that read its text alone.

    Args:
        candidate: With every secret replaced.
        text_hash: The keyed hash by which equal texts are known.
        findings: Rule ids of the scanner, each once, in order.
        held: Why it must wait for a decision, where the way in knows of a reason.
    """

    candidate: Candidate
    text_hash: str
    findings: tuple[str, ...]
    held: str | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a candidate.

    Args:
        status: What it is written as.
        standing: What trust it begins with, before conflicts; basis points.
        review_reason: Why it waits, where it does.
        duplicate: The entry that says the same already: then nothing is written.
        takes_over: The entry whose functional key it takes.
    """

    status: Status
    standing: int
    review_reason: str | None
    duplicate: Memory | None = None
    takes_over: Pair | None = None


def prepare(store: Store, candidate: Candidate) -> Prepared:
    """Replace secrets, scan and hash; runs before the transaction.

    Raises:
        InvalidRequestError: Nothing but a secret is there.
    """
    content, _ = redact_content(candidate.content)
    return Prepared(
        replace(candidate, content=content), hash_text(store, content), rules_of(content)
    )


def hash_text(store: Store, content: Content) -> str:
    """Return the keyed hash of a text within its kind family."""
    return hash_within(store, group(content.kind), content)


def hash_within(store: Store, kinds: str, content: Content) -> str:
    """Return the keyed hash that the text of *content* has among *kinds*, one of `GROUPS`."""
    return store.keys.text_hash(f"{kinds}\n{text_key(content.title, content.body)}")


def govern(
    mutation: Mutation,
    reach: Reach,
    prepared: Prepared,
    scope_id: int,
    *,
    standing: Stored | None = None,
) -> Ruling:
    """Decide what becomes of a candidate for the scope *scope_id*.

    The first line that applies wins:

    =============================================  =================================
    an equal entry that the caller sees            ``duplicate``
    equal to a rejected or deleted text            refused, unless a reviewer asks
    project collection                             proposed
    ``secret`` or ``sensitive``                    proposed, with the reason
    a scanner's finding                            proposed, ``flagged:<rules>``
    a background origin, an import, a repository   proposed
    an agent's, from texts nobody accepted yet     proposed, ``tainted:<id>``
    held by its way in                             proposed, with that reason
    another value of a functional key              accepted, and takes the place of the old one
    nearly equal to an entry that the caller sees  proposed, ``similar:<id>`` (an agent's)
    otherwise                                      accepted
    =============================================  =================================

    Args:
        mutation: The running mutation.
        reach: What the caller sees.
        prepared: The candidate.
        scope_id: Where it goes.
        standing: The entry that is edited: its text may stay, whatever was decided about its
            like.

    A proposal with another value than the holder of its functional key says so in
    ``conflicts_with``, and has less trust until that is settled (`conflicts`).

    Raises:
        PreviouslyRejectedError: The text was decided before.
    """
    access, tx, content = mutation.access, mutation.tx, prepared.candidate.content
    own_id = None if standing is None else standing.memory.memory_id
    held = conflicts.holders(tx, scope_id, content, mutation.at, but=own_id)
    duplicate = _duplicate(tx, reach, prepared, scope_id, contends=bool(held))
    if duplicate is None and (standing is None or prepared.text_hash != standing.text_hash):
        _check_rejected(mutation, reach, prepared, scope_id)
    first = _first_standing(tx, reach, access.origin, content.derived_from)
    status, reason = _route(mutation, reach, prepared)
    takes_over = None
    if held and duplicate is None and status is Status.ACCEPTED:
        takes_over = Pair(held[0].memory.memory_id, held[0].memory.revision)
    elif duplicate is None and reason is None and standing is None:
        status, reason = _held_back(mutation, reach, prepared, scope_id, status)
    return Ruling(status, first, reason, duplicate, takes_over)


def _route(mutation: Mutation, reach: Reach, prepared: Prepared) -> tuple[Status, str | None]:
    access, content = mutation.access, prepared.candidate.content
    if content.sensitivity is not Sensitivity.NORMAL:
        return Status.PROPOSED, str(content.sensitivity)
    if prepared.findings:
        return Status.PROPOSED, FLAGGED + ",".join(prepared.findings)
    if prepared.candidate.collection is Collection.PROJECT:
        return Status.PROPOSED, None
    if access.origin not in _EXPLICIT:
        return Status.PROPOSED, f"origin:{access.origin}"
    tainted = _tainted(mutation.tx, reach, access.origin, content.derived_from)
    if tainted is not None:
        return Status.PROPOSED, f"tainted:{tainted}"
    held = prepared.held
    return (Status.ACCEPTED, None) if held is None else (Status.PROPOSED, held)


def _tainted(
    tx: Transaction, reach: Reach, origin: Origin, derived_from: tuple[Pair, ...]
) -> str | None:
    """Return the first source whose text was never in service, or was taken out by a decision.

    A person who writes it down answers for it; an agent only carries on what it read.
    """
    if origin is Origin.USER or not derived_from:
        return None
    found = memories.find_all(tx, reach.scopes, {pair.memory_id for pair in derived_from})
    standing = {s.memory.memory_id: s.memory for s in found}
    for pair in derived_from:
        now = standing.get(pair.memory_id)
        where = "" if now is None else now.repository_id
        source = revisions.find(tx, where, pair.memory_id, pair.revision)
        text = None if source is None else source.content_sha256
        if text is None or not revisions.was_accepted(tx, where, pair.memory_id, text):
            return pair.memory_id
        if now is not None and (now.status, now.content_sha256) in {(s, text) for s in _WITHDRAWN}:
            return pair.memory_id
    return None


_WITHDRAWN = (Status.PROPOSED, Status.REJECTED)
"""Where a text waits, or was refused, that may have been in service before."""


def _held_back(
    mutation: Mutation, reach: Reach, prepared: Prepared, scope_id: int, status: Status
) -> tuple[Status, str | None]:
    """Send what nearly repeats another entry to review; what a person writes for itself stays."""
    candidate = prepared.candidate
    by_person = mutation.access.origin is Origin.USER
    if candidate.supersedes is not None or (status is Status.ACCEPTED and by_person):
        return status, None
    near = likeness.nearest(mutation.store, mutation.tx, reach, scope_id, candidate.content)
    return (status, None) if near is None else (Status.PROPOSED, similar_to(near[1]))


def similar_to(memory: Memory) -> str:
    """Return the reason of an entry that waits because it nearly repeats *memory*."""
    return f"similar:{memory.memory_id}"


def _duplicate(
    tx: Transaction, reach: Reach, prepared: Prepared, scope_id: int, *, contends: bool
) -> Memory | None:
    """Return an equal entry that the caller sees.

    Of a value that was superseded and now *contends* with the one in its place, the old entry is
    none: said again, it would be lost.
    """
    candidate = prepared.candidate
    if family(candidate.content.kind) is None or candidate.supersedes is not None:
        return None
    ids = memories.with_text(tx, [scope_id], prepared.text_hash)
    for stored in memories.find_all(tx, [scope_id], ids):
        memory = stored.memory
        if (
            memory.content is not None
            and memory.status in _KNOWN
            and not (contends and memory.status is Status.SUPERSEDED)
            and reach.sees(memory)
            and _applies_alike(memory.content, prepared.candidate.content)
        ):
            return memory
    return None


def _applies_alike(a: Content, b: Content) -> bool:
    """Tell whether two equal texts also hold for the same places: else both are kept."""
    return (a.paths, a.branches, a.key, a.sensitivity) == (
        b.paths,
        b.branches,
        b.key,
        b.sensitivity,
    )


def _check_rejected(mutation: Mutation, reach: Reach, prepared: Prepared, scope_id: int) -> None:
    """Refuse a text that the project, or the author in it, has decided against before."""
    access, tx, own_scope = mutation.access, mutation.tx, reach.scopes[scope_id]
    if family(prepared.candidate.content.kind) is None or (
        access.decides and access.may(Role.REVIEWER, own_scope.repository_id)
    ):
        return
    scope_ids = {
        s
        for s, scope in reach.scopes.items()
        if scope.project_id == own_scope.project_id and s not in reach.held_scopes
    }
    for stored in memories.find_all(
        tx, scope_ids, memories.with_text(tx, scope_ids, prepared.text_hash)
    ):
        memory = stored.memory
        decided = memory.status in {Status.REJECTED, Status.DELETED}
        own = memory.author == access.principal_id
        # What the caller does not see, such as another's secret, refuses nothing: it would tell.
        seen = reach.sees(memory, before=stored.before)
        if decided and seen and (own or memory.collection is Collection.PROJECT):
            raise PreviouslyRejectedError(memory.memory_id)


def _first_standing(
    tx: Transaction, reach: Reach, origin: Origin, derived_from: tuple[Pair, ...]
) -> int:
    sources = memories.find_all(tx, reach.scopes, {p.memory_id for p in derived_from})
    return trust.first(explicit=origin in _EXPLICIT, sources=(s.memory.trust for s in sources))


def check_provenance(tx: Transaction, reach: Reach, derived_from: tuple[Pair, ...]) -> None:
    """Refuse pairs that the author cannot read, that never were, or that are deleted.

    Raises:
        ProvenanceInvalidError: With a pointer to the first such pair.
    """
    found = {
        s.memory.memory_id: s.memory
        for s in memories.find_all(tx, reach.scopes, {p.memory_id for p in derived_from})
    }
    for position, pair in enumerate(derived_from):
        memory = found.get(pair.memory_id)
        if (
            memory is None
            or memory.content is None
            or not reach.sees(memory)
            or pair.revision > memory.revision
        ):
            raise ProvenanceInvalidError(
                f"/derived_from/{position}", "no such revision, or it is deleted"
            )
