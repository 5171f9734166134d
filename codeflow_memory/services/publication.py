"""Publication: a private or team memory becomes a proposal for the project (01 §6)."""

from dataclasses import replace

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.duplicates import GROUPS
from codeflow_memory.domain.errors import (
    ForbiddenError,
    PreviouslyRejectedError,
    PublicationRefusedError,
)
from codeflow_memory.domain.memory import Collection, Content, Memory, Pair, Sensitivity, Status
from codeflow_memory.domain.paths import meet
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.sources import SourceKind, parse_source
from codeflow_memory.services import access as accesses
from codeflow_memory.services import anchors, governance, memories, views
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.redaction import redact_content
from codeflow_memory.services.store import Store
from codeflow_memory.services.views import View
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage import projects
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt


def publish(
    store: Store,
    access: Access,
    memory_id: str,
    base_revision: int,
    operation: Operation,
    *,
    note: str | None = None,
) -> View:
    """Propose a private or team memory to its project, derived from its exact revision.

    *note* is kept as the reason of the proposal's first revision, where its reviewers read it.

    Raises:
        NotFoundError: There is none for the caller.
        ForbiddenError: It is another's, or the role does not allow proposals.
        RevisionConflictError: It changed since *base_revision*.
        PublicationRefusedError: With the rule that refuses.
    """

    def work(mutation: Mutation) -> Receipt:
        reach = accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory_id, base_revision)
        memory = propose(mutation, reach, stored.memory, note)
        return views.receipt_of(mutation, "publish", memory)

    return mutate(store, access, operation, work, views.render)


def propose(mutation: Mutation, reach: Reach, source: Memory, note: str | None = None) -> Memory:
    """Write the proposal; see `publish`."""
    access, tx = mutation.access, mutation.tx
    accesses.require(access, Role.CONTRIBUTOR, source.repository_id, "publish memories")
    if source.collection is Collection.PRIVATE and source.owner != access.principal_id:
        raise ForbiddenError("a private entry is published by its owner")
    content = _checked(tx, reach, source)
    project = projects.get(tx, source.repository_id, source.project_id)
    paths = tuple(p for p in content.paths if _inside(project, p))
    if content.paths and not paths:
        # Without any path it would apply to the whole project: wider than its author meant it.
        raise PublicationRefusedError("paths", "all of its paths lie outside the project")
    public = replace(
        content,
        paths=paths,
        sources=_public_sources(project, content),
        derived_from=(_pair(source),),
    )
    prepared = governance.prepare(mutation.store, Candidate(public, Collection.PROJECT))
    _check_twins(mutation, reach, prepared, source)
    try:
        memory, known = memories.admit(mutation, project, prepared, reason=note)
    except PreviouslyRejectedError as error:
        raise PublicationRefusedError("twin", "an equal project memory was rejected") from error
    if not known:
        anchors.copy(mutation, source, memory)
    return memory


def _checked(tx: Transaction, reach: Reach, source: Memory) -> Content:
    """Return the content of a memory that may be published.

    Raises:
        PublicationRefusedError: With the first rule that refuses.
    """
    if source.collection is Collection.PROJECT:
        raise PublicationRefusedError("collection", "it belongs to the project already")
    content = source.content
    if content is None or source.status is not Status.ACCEPTED:
        raise PublicationRefusedError("status", "only an accepted memory is published")
    if content.sensitivity is not Sensitivity.NORMAL:
        raise PublicationRefusedError("sensitivity", f"it is marked {content.sensitivity}")
    if redact_content(content)[1]:
        raise PublicationRefusedError("secret", "it holds a secret")
    _check_ancestors(tx, reach, content)
    return content


def _check_ancestors(tx: Transaction, reach: Reach, content: Content) -> None:
    waiting = {p.memory_id for p in content.derived_from}
    known: set[str] = set()
    while waiting:
        known |= waiting
        found = rows.find_all(tx, reach.scopes, waiting)
        if len(found) < len(waiting) or any(
            s.memory.status in {Status.DELETED, Status.OUTDATED} for s in found
        ):
            raise PublicationRefusedError("ancestor", "an ancestor is deleted or outdated")
        parents = (s.memory.content for s in found)
        waiting = {p.memory_id for c in parents if c is not None for p in c.derived_from} - known


def _public_sources(project: Project, content: Content) -> tuple[str, ...]:
    """Return the sources that say nothing of the private original.

    No run, session or message travels, and no file outside the project.
    """
    parsed = [(text, parse_source(text)) for text in content.sources]
    return tuple(
        text
        for text, source in parsed
        if source is not None
        and source.kind not in _PRIVATE
        and (source.path is None or _inside(project, source.path))
    )


_PRIVATE = frozenset({SourceKind.RUN, SourceKind.SESSION, SourceKind.MESSAGE})


def _inside(project: Project, path: str) -> bool:
    """Tell whether a path or glob has anything in common with the project's folder."""
    return project.path_prefix is None or meet(path, project.path_prefix)


def _check_twins(
    mutation: Mutation, reach: Reach, prepared: governance.Prepared, source: Memory
) -> None:
    scope_ids = [
        s.scope_id
        for s in reach.scopes.values()
        if s.project_id == source.project_id and s.audience == "project"
    ]
    # Whatever kind the equal text is of, a trace too: what is compared is title and body.
    content, ids = prepared.candidate.content, set[str]()
    for kinds in GROUPS:
        text_hash = governance.hash_within(mutation.store, kinds, content)
        ids.update(rows.with_text(mutation.tx, scope_ids, text_hash))
    twins = (s.memory for s in rows.find_all(mutation.tx, scope_ids, ids))
    if any(twin.content is not None and reach.sees(twin) for twin in twins):
        raise PublicationRefusedError("twin", "the project has this text already, or rejected it")


def _pair(memory: Memory) -> Pair:
    return Pair(memory.memory_id, memory.revision)
