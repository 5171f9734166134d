"""Appending: an agent notes a line for its principal, and nothing is noted twice (02 §1).

An agent repeats itself: what is known already is not written again, and what nearly repeats an
entry yet changes its meaning waits as a proposal to supersede it.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from codeflow_memory.domain.access import Access, Reach, Role, Scope
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.corrections import corrects
from codeflow_memory.domain.drafts import parse_draft
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Collection, Content, Kind, Memory, Pair, Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import governance, likeness, memories
from codeflow_memory.services.governance import Prepared
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

MAX_CONTENT = 12_000
"""Characters of one entry: what the page of a workspace's memories holds in all (02 §1)."""

MAX_TITLE = 80
"""Characters of the first clause, which becomes the title (08 §5)."""

Outcome = Literal["appended", "duplicate", "near_duplicate", "review", "refused"]

_CLAUSE = re.compile(r".+?(?=[.!?;:](?:\s|$)|[。！？；：]|$)")  # noqa: RUF001 - Chinese
_PREFERS = re.compile(
    r"\b(?:i|we|they|he|she|user|users|team)\s+(?:\w+\s+)?"
    r"(?:prefers?|likes?|loves?|hates?|dislikes?|wants?)\b"
    r"|\bpreferences?\b|\bprefers?\b|喜欢|偏好|讨厌|更愿意",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Similar:
    """The entry that a text resembles; ``similarity`` from 0 to 1."""

    memory_id: str
    revision: int
    title: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a text.

    Args:
        status: Of the text; nothing was written unless it is ``appended`` or ``review``.
        memory_id: The entry that holds the text, where one does.
        revision: Of that entry.
        similar: What the text nearly repeats.
        reason: Why it was refused: ``empty``, ``too-long`` or ``secret``.
    """

    status: Outcome
    memory_id: str | None = None
    revision: int | None = None
    similar: Similar | None = None
    reason: str | None = None


def append(
    store: Store, access: Access, project_id: str, content: str, operation: Operation
) -> Appended:
    """Keep a text in the caller's private collection unless it is there already.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The caller is no contributor.
        InvalidRequestError: The text has hidden characters, or an agent has no run.
        PreviouslyRejectedError: The same text was rejected or deleted before.
        LimitExceededError: A limit would be passed.
    """
    if not content.strip():
        return Appended("refused", reason="empty")
    if len(content) > MAX_CONTENT:
        return Appended("refused", reason="too-long")
    candidate = Candidate(_drafted(content), Collection.PRIVATE)
    try:
        prepared = governance.prepare(store, candidate)
    except InvalidRequestError:
        # The draft was well-formed: nothing but a secret was in it.
        return Appended("refused", reason="secret")

    def work(mutation: Mutation) -> Receipt:
        project = accesses.get_project(mutation.tx, mutation.access, project_id, None)
        accesses.require(mutation.access, Role.CONTRIBUTOR, project.repository_id, "write memories")
        placed = memories.placed(mutation, project, prepared)
        scope = accesses.own_scope(mutation.tx, mutation.access, project, Collection.PRIVATE, None)
        near = _near(mutation, scope, placed)
        if near is None:
            return _receipt(*memories.admit(mutation, project, placed), None)
        if not corrects(placed.candidate.content.body, _body(near[1])):
            return _receipt(near[1], None, near)
        held = _succeeding(placed, near[1])
        return _receipt(*memories.admit(mutation, project, held), near)

    return mutate(store, access, operation, work, _render)


def _drafted(content: str) -> Content:
    first = _CLAUSE.match(" ".join(content.split()))
    title = (first[0] if first else content.strip())[:MAX_TITLE].strip()
    kind = Kind.PREFERENCE if _PREFERS.search(content) else Kind.GUIDANCE
    try:
        return parse_draft({"kind": str(kind), "title": title, "body": content.strip()})
    except InvalidRequestError as error:
        faults = [fault for fault in error.faults if fault.pointer == "/body"]
        raise InvalidRequestError(
            [Fault("/content", fault.detail) for fault in faults or error.faults]
        ) from None


def _near(mutation: Mutation, scope: Scope, placed: Prepared) -> tuple[float, Memory] | None:
    """Return what a text nearly repeats; an exact repetition is told by the way in itself."""
    tx = mutation.tx
    if rows.with_text(tx, [scope.scope_id], placed.text_hash):
        return None
    reach: Reach = accesses.reach_everywhere(tx, mutation.access)
    content = placed.candidate.content
    return likeness.nearest(mutation.store, tx, reach, scope.scope_id, content)


def _succeeding(placed: Prepared, near: Memory) -> Prepared:
    """Return the candidate as a proposal to take the place of *near*, if that is in service."""
    old = Pair(near.memory_id, near.revision) if near.status is Status.ACCEPTED else None
    candidate = replace(placed.candidate, supersedes=old)
    return replace(placed, candidate=candidate, held=governance.similar_to(near))


def _body(memory: Memory) -> str:
    return "" if memory.content is None else memory.content.body


def _receipt(memory: Memory, known: bool | None, near: tuple[float, Memory] | None) -> Receipt:  # noqa: FBT001 - as `memories.admit` returns it
    outcome: Outcome
    if known is None:
        outcome = "near_duplicate"
    elif known:
        outcome = "duplicate"
    else:
        outcome = "appended" if memory.status is Status.ACCEPTED else "review"
    facts: dict[str, object] = {"outcome": outcome}
    if near is not None:
        facts |= {
            "similar": near[1].memory_id,
            "similar_revision": near[1].revision,
            "similarity": round(near[0], 6),
        }
    return Receipt("append", memory.memory_id, memory.revision, facts)


def _render(tx: Transaction, access: Access, receipt: Receipt) -> Appended:
    outcome: Outcome = receipt.facts["outcome"]  # type: ignore[assignment] # as `_receipt` wrote it
    similar = _similar(tx, access, receipt)
    if outcome == "near_duplicate":
        return Appended(outcome, similar=similar)
    return Appended(outcome, receipt.target_id, receipt.revision, similar)


def _similar(tx: Transaction, access: Access, receipt: Receipt) -> Similar | None:
    memory_id = receipt.facts.get("similar")
    if memory_id is None:
        return None
    reach = accesses.reach_everywhere(tx, access)
    stored = rows.find(tx, reach.scopes, str(memory_id))
    if stored is None or not reach.sees(stored.memory) or stored.memory.content is None:
        return None
    return Similar(
        stored.memory.memory_id,
        int(str(receipt.facts["similar_revision"])),
        stored.memory.content.title,
        float(str(receipt.facts["similarity"])),
    )
