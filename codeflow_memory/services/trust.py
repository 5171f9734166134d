"""Trust: what moves it, and what it foretold (03 §2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from codeflow_memory.domain import trust
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.services import access as accesses
from codeflow_memory.services import conflicts, entries, projects
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories, scopes
from codeflow_memory.storage import trust as rows
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.trust import Step

LOW = "trust"
"""The reason in the review queue of what fell below the floor."""

RECOVERED = "recovered"
"""The reason once feedback has lifted it again."""


def after_feedback(mutation: Mutation, stored: Stored, *, helpful: bool) -> Memory:
    """Count one judgement; an accepted entry that it takes below the floor returns to review."""
    standing = trust.after_feedback(_standing(stored.memory), helpful=helpful)
    memory = _moved(mutation, stored.memory, standing, "feedback")
    # What a person accepted low stays, as long as it does not fall further.
    return memory if helpful else _below_floor(mutation, stored, memory)


def after_sighting(mutation: Mutation, memory: Memory, sightings: int) -> Memory:
    """Count the *sightings*-th further source that says what an entry says.

    Until a person has accepted it, it is no more trusted than what it was derived from.
    """
    standing = trust.after_sighting(_standing(memory), sightings)
    if memory.status is Status.PROPOSED and memory.content is not None:
        sources = {pair.memory_id for pair in memory.content.derived_from}
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        found = memories.find_all(mutation.tx, reach.scopes, sources)
        standing = min([standing, *(s.memory.trust for s in found)])
        standing = max(standing, _standing(memory))
    return _moved(mutation, memory, standing, "sighting")


def after_time(mutation: Mutation, stored: Stored) -> Memory:
    """Take off what age takes; an accepted entry that falls below the floor returns to review."""
    old = stored.memory
    left = conflicts.settled(mutation, old).trust
    if left == old.trust:
        return old
    memory = _moved(mutation, old, _standing(old), "decay")
    if old.trust < trust.REVIEW_FLOOR:
        # It was accepted as low as that, by a person.
        return memory
    return _below_floor(mutation, stored, memory)


def _standing(memory: Memory) -> int:
    return memory.trust if memory.standing is None else memory.standing


def _moved(mutation: Mutation, memory: Memory, standing: int, action: str) -> Memory:
    """Write an entry's trust as it is after *action*; that is on record, and no revision."""
    moved = conflicts.settled(mutation, replace(memory, standing=standing))
    reason = memory.review_reason
    if (
        memory.status is Status.PROPOSED
        and reason == LOW
        and memory.trust <= trust.RECOVERED < moved.trust
    ):
        reason = RECOVERED
        memories.set_review_reason(mutation.tx, memory.repository_id, memory.memory_id, reason)
    rows.put(mutation.tx, memory.repository_id, memory.memory_id, standing, moved.trust)
    scopes.touch(mutation.tx, memory.repository_id, memory.scope_id)
    mutation.record(
        action,
        memory.memory_id,
        repository_id=memory.repository_id,
        scope_id=memory.scope_id,
        to_revision=memory.revision,
        reason=f"trust:{moved.trust}",
    )
    return replace(moved, review_reason=reason)


def _below_floor(mutation: Mutation, stored: Stored, memory: Memory) -> Memory:
    if memory.status is not Status.ACCEPTED or memory.trust >= trust.REVIEW_FLOOR:
        return memory
    return entries.change(
        mutation,
        stored,
        replace(memory, status=Status.PROPOSED, review_reason=LOW, self_approved=False),
        entries.Change("return", reason="trust"),
    )


_BAND = 1_000
_BANDS = 10
_CHUNK = 500
"""Entries whose revisions are read at once."""

_AGAINST = frozenset({Status.REJECTED, Status.PROPOSED})


@dataclass(frozen=True, slots=True)
class Band:
    """What became of the entries that were accepted with a trust from *least* to *most*.

    Args:
        least: Basis points, included.
        most: Basis points, included.
        accepted: Entries that came into service with such a trust.
        rejected: Of these, those later rejected or sent back to review.
        corrected: Those whose text was later changed, or another's took its place.
        confirmed: Those that helped somebody, or that another source said again.
        unresolved: Those of which none of this is known.
    """

    least: int
    most: int
    accepted: int = 0
    rejected: int = 0
    corrected: int = 0
    confirmed: int = 0
    unresolved: int = 0


def report(
    store: Store, access: Access, project_id: str | None, repo: str | None
) -> tuple[Band, ...]:
    """Tell for each band of trust what became of the entries accepted with it.

    One entry may count as rejected, corrected and confirmed. Accepted entries of before trust was
    kept with each revision do not count.

    Args:
        store: The tenant.
        access: The caller; only what it sees counts.
        project_id: Id or slug; ``None`` is every project that the caller sees.
        repo: What names its repository; without a project, all of that repository.

    Raises:
        NotFoundError: No such project or repository for the caller.
    """
    with store.engine.read() as tx:
        reach = projects.reach_of(tx, access, project_id, repo)
        bands = [Band(n * _BAND, (n + 1) * _BAND - 1) for n in range(_BANDS)]
        bands[-1] = replace(bands[-1], most=trust.MAX)
        after = ""
        while histories := _histories(tx, reach, after):
            after = histories[-1][0].memory_id
            _count(tx, reach, bands, histories)
    return tuple(bands)


def _histories(tx: Transaction, reach: Reach, after: str) -> list[list[Step]]:
    # A reader does not see what was rejected, not even as a number.
    scope_ids = {
        scope_id
        for scope_id, scope in reach.scopes.items()
        if scope_id not in reach.held_scopes
        and reach.access.may(Role.CONTRIBUTOR, scope.repository_id)
    }
    found = rows.steps(tx, scope_ids, after, _CHUNK)
    return [list(steps) for _, steps in groupby(found, key=lambda step: step.memory_id)]


def _count(
    tx: Transaction, reach: Reach, bands: list[Band], histories: Sequence[list[Step]]
) -> None:
    served = {h[0].memory_id: at for h in histories if (at := _accepted_at(h)) is not None}
    helped = rows.helped(tx, reach.scopes, served)
    for history in histories:
        at = served.get(history[0].memory_id)
        if at is None or at.trust is None:
            continue
        later = [step for step in history if step.revision > at.revision]
        rejected = any(step.status in _AGAINST for step in later)
        corrected = any(
            step.status is Status.SUPERSEDED
            or (step.content_sha256 != at.content_sha256 and step.action == "revise")
            for step in later
        )
        confirmed = at.memory_id in helped
        number = min(at.trust // _BAND, _BANDS - 1)
        band = bands[number]
        bands[number] = replace(
            band,
            accepted=band.accepted + 1,
            rejected=band.rejected + rejected,
            corrected=band.corrected + corrected,
            confirmed=band.confirmed + confirmed,
            unresolved=band.unresolved + (not (rejected or corrected or confirmed)),
        )


def _accepted_at(history: Iterable[Step]) -> Step | None:
    """Return the revision with which an entry first came into service."""
    return next((step for step in history if step.status is Status.ACCEPTED), None)
