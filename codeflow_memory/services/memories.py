"""Memories: create, read, list, revise and delete."""

from collections.abc import Mapping
from dataclasses import replace

from codeflow_memory.domain.access import Access, Origin, Reach, Role, Scope
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.drafts import parse_changes
from codeflow_memory.domain.errors import (
    ForbiddenError,
    IllegalTransitionError,
    InvalidRequestError,
)
from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Memory,
    Status,
)
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.revision import Revision
from codeflow_memory.services import access as accesses
from codeflow_memory.services import anchors, entries, governance, succession, trust, views
from codeflow_memory.services.anchors import Anchors
from codeflow_memory.services.governance import Prepared
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import approvals, runs, sightings
from codeflow_memory.storage.memories import Stored
from codeflow_memory.storage.receipts import Receipt


def create(
    store: Store,
    access: Access,
    project_id: str,
    repo: str | None,
    candidate: Candidate,
    operation: Operation,
) -> View:
    """Propose or keep a new memory; one that is known already is returned as it is.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The role, or the run's token, does not allow it.
        InvalidRequestError: A field is wrong, or nothing but a secret is there.
        ProvenanceInvalidError: A ``derived_from`` pair cannot be relied on.
        PreviouslyRejectedError: The same text was rejected or deleted before.
        LimitExceededError: A limit would be passed.
    """
    prepared = governance.prepare(store, candidate)
    sources = prepared.candidate.content.sources
    taken = anchors.for_new(store, access, project_id, repo, sources)

    def work(mutation: Mutation) -> Receipt:
        tx = mutation.tx
        project = accesses.get_project(tx, mutation.access, project_id, repo)
        accesses.require(mutation.access, Role.CONTRIBUTOR, project.repository_id, "write memories")
        memory, duplicate = admit(mutation, project, placed(mutation, project, prepared), taken)
        return views.receipt_of(mutation, "create", memory, duplicate=duplicate)

    return mutate(store, access, operation, work, views.render)


def admit(
    mutation: Mutation,
    project: Project,
    prepared: Prepared,
    taken: Anchors | None = None,
    *,
    reason: str | None = None,
) -> tuple[Memory, bool]:
    """Let a placed candidate in: govern it, then write what became of it.

    Args:
        mutation: The running mutation.
        project: Where it goes.
        prepared: The candidate.
        taken: The anchors of the files it cites, where git was asked for them.
        reason: Kept with the first revision; one that stood there before keeps its own.

    Returns:
        The memory, and whether it stood there before.
    """
    tx, access, candidate = mutation.tx, mutation.access, prepared.candidate
    scope = accesses.own_scope(tx, access, project, candidate.collection, candidate.team_id)
    reach = accesses.reach_everywhere(tx, access)
    governance.check_provenance(tx, reach, candidate.content.derived_from)
    if candidate.supersedes is not None:
        succession.check_successor(tx, reach, scope, candidate.supersedes)
    ruling = governance.govern(mutation, reach, prepared, scope.scope_id)
    if ruling.duplicate is not None:
        return _sight(mutation, ruling.duplicate, candidate), True
    memory = entries.add(
        mutation,
        _new(mutation, scope, prepared, ruling),
        text_hash=prepared.text_hash,
        reason=reason,
    )
    anchors.keep(mutation, memory, taken or Anchors(), renew=True)
    if memory.status is Status.ACCEPTED:
        succession.supersede_old(mutation, reach, memory)
        succession.take_over(mutation, memory)
    return memory, False


def _sight(mutation: Mutation, memory: Memory, candidate: Candidate) -> Memory:
    """Count a repeated text as a sighting of *memory*, once for each run or principal."""
    author = f"principal:{memory.author}" if memory.run_id is None else f"run:{memory.run_id}"
    principal = f"principal:{mutation.access.principal_id}"
    source = principal if candidate.run_id is None else f"run:{candidate.run_id}"
    if source == author:
        return memory
    where = (memory.repository_id, memory.memory_id)
    if not sightings.put(mutation.tx, *where, source, mutation.at):
        return memory
    seen = sightings.sources(mutation.tx, *where)
    return trust.after_sighting(mutation, memory, len(seen))


def get(store: Store, access: Access, memory_id: str) -> View:
    """Return a memory, or its tombstone, that the caller may read.

    Raises:
        NotFoundError: There is none for the caller.
    """
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        return views.view(tx, reach, views.seen(tx, reach, memory_id).memory)


def history(store: Store, access: Access, memory_id: str) -> list[Revision]:
    """List the revisions of a memory that the caller may read, oldest first."""
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        memory = views.seen(tx, reach, memory_id).memory
        return views.readable(tx, reach, memory)


def at_revision(store: Store, access: Access, memory_id: str, revision: int) -> View:
    """Return a memory as it was at *revision*.

    Raises:
        NotFoundError: No such memory or revision for the caller.
    """
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        stored = views.seen(tx, reach, memory_id)
        return views.view(tx, reach, views.as_it_was(tx, reach, stored.memory, revision))


def revise(
    store: Store,
    access: Access,
    memory_id: str,
    changes: Mapping[str, object],
    base_revision: int,
    operation: Operation,
) -> View:
    """Change fields of a memory's content; earlier approvals are withdrawn.

    A change that changes nothing writes nothing. An accepted project entry goes back to review.

    Raises:
        NotFoundError: There is none for the caller.
        ForbiddenError: It is another's.
        RevisionConflictError: It changed since *base_revision*.
        IllegalTransitionError: Its status allows no edit.
    """
    taken = anchors.for_revision(store, access, memory_id, changes)

    def work(mutation: Mutation) -> Receipt:
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory_id, base_revision)
        memory = revise_stored(mutation, reach, stored, changes, taken)
        return views.receipt_of(mutation, "revise", memory)

    return mutate(store, access, operation, work, views.render)


def revise_stored(
    mutation: Mutation,
    reach: Reach,
    stored: Stored,
    changes: Mapping[str, object],
    taken: Anchors | None = None,
) -> Memory:
    """Apply *changes* to an entry through the same rules as a new one; see `revise`."""
    may_edit(mutation.access, stored)
    memory = stored.memory
    if memory.content is None or memory.status not in _EDITABLE:
        raise IllegalTransitionError(source=memory.status, target=Status.PROPOSED)
    wanted = parse_changes(memory.content, changes)
    prepared = governance.prepare(
        mutation.store, Candidate(wanted, memory.collection, memory.team_id, memory.run_id)
    )
    content = prepared.candidate.content
    if content == memory.content:
        return memory
    if content.derived_from != memory.content.derived_from:
        governance.check_provenance(mutation.tx, reach, content.derived_from)
    ruling = governance.govern(mutation, reach, prepared, memory.scope_id, standing=stored)
    approvals.withdraw(mutation.tx, memory.repository_id, memory.memory_id)
    status = ruling.status if memory.status is Status.ACCEPTED else memory.status
    standing, judged_at = _judged(mutation, memory, content, ruling)
    revised = entries.change(
        mutation,
        stored,
        replace(
            memory,
            status=status,
            content=content,
            content_sha256=content.sha256(),
            standing=standing,
            judged_at=judged_at,
            origin=str(mutation.access.origin),
            review_reason=_reason(memory, status, ruling),
            self_approved=False,
        ),
        entries.Change("revise", editor=mutation.access.principal_id),
        text_hash=prepared.text_hash,
    )
    renew = _claims(content) != _claims(memory.content)
    anchors.keep(mutation, revised, taken or Anchors(), renew=renew)
    succession.take_over(mutation, revised)
    return revised


def _judged(
    mutation: Mutation, memory: Memory, content: Content, ruling: governance.Ruling
) -> tuple[int, int]:
    """Return an edited entry's standing, and since when: only a person's other text is new.

    Else what feedback took away would be back after an edit of a tag; and evidence, which an agent
    may attach, changes nothing.
    """
    old = memory.content
    standing = memory.trust if memory.standing is None else memory.standing
    since = memory.created_at if memory.judged_at is None else memory.judged_at
    if old is not None and replace(content, sources=old.sources) == old:
        return standing, since
    same = old is not None and (content.title, content.body) == (old.title, old.body)
    if same or mutation.access.origin is not Origin.USER or ruling.status is Status.PROPOSED:
        return min(standing, ruling.standing), since
    return ruling.standing, mutation.at


def _reason(memory: Memory, status: Status, ruling: governance.Ruling) -> str | None:
    """Return why an edited entry stands in the queue: also that it now repeats another."""
    twin = ruling.duplicate
    if ruling.review_reason is None and status is Status.PROPOSED and twin is not None:
        return f"duplicate:{twin.memory_id}" if twin.memory_id != memory.memory_id else None
    return ruling.review_reason


def _claims(content: Content) -> tuple[object, ...]:
    """Return the fields for which the cited files are evidence."""
    return content.title, content.body, content.sources


_EDITABLE = frozenset({Status.PROPOSED, Status.ACCEPTED, Status.OUTDATED})


def placed(mutation: Mutation, project: Project, prepared: Prepared) -> Prepared:
    """Settle the run and team of a candidate against the caller's token.

    Raises:
        ForbiddenError: The body contradicts the run's token.
        InvalidRequestError: The run or team is none of the caller's.
    """
    access, candidate = mutation.access, prepared.candidate
    run_id = candidate.run_id
    if access.run is not None:
        if run_id not in {None, access.run.run_id}:
            raise ForbiddenError("the run's token is bound to another run")
        run_id = access.run.run_id
    elif run_id is not None:
        run = runs.find(mutation.tx, project.repository_id, run_id)
        if (
            run is None
            or run.ended_at is not None
            or run.principal_id != access.principal_id
            or run.project_id != project.project_id
        ):
            raise InvalidRequestError.at("/run_id", "no running run of yours in this project")
    if run_id is None and not access.person and candidate.collection is not Collection.PROJECT:
        raise InvalidRequestError.at("/run_id", "required for an entry of an agent")
    if candidate.team_id is not None and candidate.team_id not in access.teams:
        raise InvalidRequestError.at("/team_id", "no team of yours")
    return replace(prepared, candidate=replace(candidate, run_id=run_id))


def _new(mutation: Mutation, scope: Scope, prepared: Prepared, ruling: governance.Ruling) -> Memory:
    candidate, access = prepared.candidate, mutation.access
    return Memory(
        memory_id=mutation.store.ids.new("mem"),
        revision=1,
        repository_id=scope.repository_id,
        project_id=scope.project_id,
        scope_id=scope.scope_id,
        collection=candidate.collection,
        owner=access.principal_id,
        team_id=candidate.team_id,
        run_id=candidate.run_id,
        status=ruling.status,
        content=candidate.content,
        content_sha256=candidate.content.sha256(),
        author=access.principal_id,
        origin=str(access.origin),
        trust=ruling.standing,
        created_at=mutation.at,
        updated_at=mutation.at,
        supersedes=candidate.supersedes or ruling.takes_over,
        review_reason=ruling.review_reason,
    )


def may_edit(access: Access, stored: Stored) -> None:
    """Refuse a caller who may not write another text for this entry.

    Raises:
        ForbiddenError: It is another's.
    """
    memory = stored.memory
    accesses.require(access, Role.CONTRIBUTOR, memory.repository_id, "edit memories")
    own = memory.author == access.principal_id
    match memory.collection:
        case Collection.PROJECT:
            reviewer = access.decides and access.may(Role.REVIEWER, memory.repository_id)
            allowed = own or reviewer
        case Collection.TEAM:
            allowed = memory.team_id in access.teams
        case Collection.PRIVATE:
            allowed = memory.owner == access.principal_id
    if not allowed:
        raise ForbiddenError("only its author or a reviewer edits this memory")
