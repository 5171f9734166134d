"""Repositories: who sees which, how each is reviewed, and the merging of two into one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codeflow_memory.domain.access import RANK, Access, Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RevisionConflictError,
)
from codeflow_memory.domain.registration import Alias, Fact, strongest
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals, projects, repositories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt
from codeflow_memory.storage.repositories import Repository


@dataclass(frozen=True, slots=True)
class View:
    """A repository with what it is known by.

    Args:
        repository: Its row.
        aliases: By kind and value.
        identified_by: In the answer to a registration the rule that applied, else its strongest.
        created: Whether a registration made it.
    """

    repository: Repository
    aliases: tuple[Alias, ...]
    identified_by: Fact
    created: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be changed; ``None`` leaves a setting as it is."""

    required_approvals: int | None = None
    codeowners: bool | None = None
    allow_own_approval: bool | None = None
    capture: bool | None = None


def update(
    store: Store,
    access: Access,
    repository_id: str,
    settings: Settings,
    *,
    base_revision: int,
    operation: Operation,
) -> View:
    """Change settings; values that are set already are no change and no revision.

    Raises:
        NotFoundError: No such repository for the caller.
        ForbiddenError: The caller is no maintainer of it.
        RevisionConflictError: It is at another revision than *base_revision*.
    """

    def work(mutation: Mutation) -> Receipt:
        tx = mutation.tx
        current = get_visible(tx, mutation.access, repository_id)
        accesses.require(
            mutation.access, Role.MAINTAINER, current.repository_id, "change a repository"
        )
        if current.revision != base_revision:
            raise RevisionConflictError(
                current.repository_id,
                expected=base_revision,
                current=current.revision,
                content=_settings(current),
            )
        changed = _changed(current, settings)
        if changed != current:
            repositories.replace(tx, changed, base_revision=base_revision)
            record(mutation, "repository.update", current)
        return Receipt("repository.update", current.repository_id, base_revision, {})

    return mutate(store, access, operation, work, _render)


def show(store: Store, access: Access, repo: str) -> View:
    """Return the repository that an id, key, remote or registered absolute path names.

    Raises:
        NotFoundError: None that the caller sees, or several.
    """
    with store.engine.read() as tx:
        return view(tx, get_visible(tx, access, repo).repository_id)


def page(
    store: Store, access: Access, *, repo: str | None, after: str | None, limit: int
) -> Page[View]:
    """List the repositories that the caller sees, oldest first; *repo* keeps those it names."""
    with store.engine.read() as tx:
        ids = visible(tx, access, repo)
        rows = repositories.page(tx, ids, after=after, limit=limit + 1)
        views = [view(tx, r.repository_id) for r in rows]
    return cut(views, limit, lambda v: v.repository.repository_id)


def merge(
    store: Store, access: Access, repository_id: str, into: str, operation: Operation
) -> View:
    """Make one repository part of another: aliases, roles and projects are then shared.

    A project whose slug the other repository has too gets a number behind it.

    Raises:
        NotFoundError: One of them does not exist for the caller.
        ForbiddenError: The caller does not own both.
        InvalidRequestError: They are one already.
    """

    def work(mutation: Mutation) -> Receipt:
        tx = mutation.tx
        source = get_visible(tx, mutation.access, repository_id)
        target = get_visible(tx, mutation.access, into)
        for one in (source, target):
            accesses.require(mutation.access, Role.OWNER, one.repository_id, "merge repositories")
        if not mutation.access.decides:
            raise ForbiddenError("to merge repositories, a person is required")
        if source.repository_id == target.repository_id:
            raise InvalidRequestError.at("/into", "is the same repository")
        _free_slugs(tx, source.repository_id, target.repository_id)
        repositories.merge(tx, source.repository_id, target.repository_id, mutation.at)
        kept = replace(
            target, identified_by=strongest([source.identified_by, target.identified_by])
        )
        repositories.replace(tx, kept, base_revision=target.revision)
        mutation.record(
            "repository.merge",
            source.repository_id,
            repository_id=source.repository_id,
            reason=target.repository_id,
        )
        return Receipt("repository.merge", target.repository_id, target.revision + 1, {})

    return mutate(store, access, operation, work, _render)


def get(tx: Transaction, repository_id: str) -> Repository:
    """Return the repository of a row that names it; a merged one is the one it became part of.

    Raises:
        NotFoundError: There is none.
    """
    found = repositories.find(tx, repository_id)
    if found is None:
        raise NotFoundError("repository", repository_id)
    return found


def own_approval_allowed(tx: Transaction, store: Store, repository: Repository) -> bool:
    """Tell whether reviewers may decide their own proposals in *repository* now.

    The tenant ``local`` allows it while it has one person: nobody else could decide.
    """
    if repository.allow_own_approval:
        return True
    return store.tenant == LOCAL and principals.people(tx, limit=2) == 1


def view(tx: Transaction, repository_id: str) -> View:
    """Return a repository with its aliases; the caller was found to see it."""
    repository = get(tx, repository_id)
    aliases = repositories.aliases(tx, repository.repository_id)
    return View(repository, tuple(aliases), repository.identified_by)


def get_visible(tx: Transaction, access: Access, repo: str) -> Repository:
    """Return the one repository that *repo* names and the caller sees.

    Raises:
        NotFoundError: None, or several: what fits several repositories decides nothing.
    """
    ids = visible(tx, access, repo) or ()
    found = {r.repository_id: r for i in ids if (r := repositories.find(tx, i)) is not None}
    if len(found) != 1:
        raise NotFoundError("repository", repo)
    return found.popitem()[1]


def visible(tx: Transaction, access: Access, repo: str | None) -> list[str] | None:
    """List the ids of the repositories that the caller sees; ``None`` is all of the tenant.

    Args:
        tx: A transaction.
        access: The caller.
        repo: Keeps those that it names, merged ones included; ``None`` narrows nothing.
    """
    if repo is not None:
        named = projects.repositories_named(tx, repo)
        return [i for i in named if access.may(Role.READER, i)]
    if access.may(Role.READER, None):
        return None
    granted = {g.repository_id for g in access.grants if RANK[g.role] >= RANK[Role.READER]}
    if access.run is not None:
        granted = {access.run.repository_id}
    return sorted(i for i in granted if i is not None and access.may(Role.READER, i))


def _changed(current: Repository, settings: Settings) -> Repository:
    def chosen(new: bool | None, old: bool) -> bool:  # noqa: FBT001 - a setting and its old value
        return old if new is None else new

    return replace(
        current,
        required_approvals=settings.required_approvals or current.required_approvals,
        codeowners=chosen(settings.codeowners, current.codeowners),
        allow_own_approval=chosen(settings.allow_own_approval, current.allow_own_approval),
        capture=chosen(settings.capture, current.capture),
    )


def _settings(repository: Repository) -> Mapping[str, object]:
    return {
        "required_approvals": repository.required_approvals,
        "codeowners": repository.codeowners,
        "allow_own_approval": repository.allow_own_approval,
        "capture": repository.capture,
    }


def record(mutation: Mutation, action: str, before: Repository) -> None:
    """Append the audit row of a repository's next revision."""
    mutation.record(
        action,
        before.repository_id,
        repository_id=before.repository_id,
        from_revision=before.revision,
        to_revision=before.revision + 1,
    )


def _free_slugs(tx: Transaction, source: str, target: str) -> None:
    """Rename the projects of *source* whose slug a project of *target* has."""
    taken = {p.slug for p in projects.list_of_repository(tx, target)}
    for project in projects.list_of_repository(tx, source):
        slug, number = project.slug, 2
        while slug in taken:
            slug, number = f"{project.slug}-{number}", number + 1
        if slug != project.slug:
            projects.rename(tx, project.repository_id, project.project_id, slug)
        taken.add(slug)


def _render(tx: Transaction, _: Access, receipt: Receipt) -> View:
    return view(tx, receipt.target_id)
