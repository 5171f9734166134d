"""Projects: the named parts of repositories, with the limits on their entries."""

from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from codeflow_memory.domain.labels import folder, label, slug
from codeflow_memory.domain.limits import PROJECT_ENTRIES, RUN_ENTRIES, SCOPE_BYTES
from codeflow_memory.domain.project import Project
from codeflow_memory.services import access as accesses
from codeflow_memory.services import repositories
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.store import Store
from codeflow_memory.storage import projects, runs, scopes
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

_PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Use:
    """How much of a limit is used.

    Args:
        limit: ``project_entries``, ``run_entries`` or ``canonical_bytes``.
        audience: Whose entries count: ``project``, ``team:<id>`` or ``private``; for a run its id.
        value: Used now.
        maximum: The most that is allowed.
    """

    limit: str
    audience: str
    value: int
    maximum: int


@dataclass(frozen=True, slots=True)
class View:
    """A project, with the limits that the caller's own writes may reach."""

    project: Project
    limits: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project is to be; its name is its slug where none is given."""

    slug: str
    name: str | None = None
    path_prefix: str | None = None


def create(store: Store, access: Access, repo: str, new: NewProject, operation: Operation) -> View:
    """Make a project of a repository.

    Raises:
        NotFoundError: No such repository for the caller.
        ForbiddenError: The caller is no contributor of it, or is a run.
        InvalidRequestError: The slug is taken there, or a field has not its form.
    """

    def work(mutation: Mutation) -> Receipt:
        repository = repositories.get_visible(mutation.tx, mutation.access, repo)
        where = repository.repository_id
        accesses.require(mutation.access, Role.CONTRIBUTOR, where, "make projects")
        if mutation.access.run is not None:
            raise ForbiddenError("a run is bound to its project and makes no other")
        made = add(mutation, where, new)
        return Receipt("project.create", made.project_id, 1, {"repository_id": where})

    def render(tx: Transaction, caller: Access, receipt: Receipt) -> View:
        where = str(receipt.facts["repository_id"])
        return view(tx, caller, projects.get(tx, where, receipt.target_id))

    return mutate(store, access, operation, work, render)


def add(mutation: Mutation, repository_id: str, new: NewProject) -> Project:
    """Make a project within a mutation; the caller's right to it was checked.

    Raises:
        InvalidRequestError: See `create`.
    """
    made = Project(
        repository_id=repository_id,
        project_id=mutation.store.ids.new("prj"),
        slug=slug("/slug", new.slug),
        name=new.slug if new.name is None else label("/name", new.name),
        path_prefix=None if new.path_prefix is None else folder("/path_prefix", new.path_prefix),
        created_at=mutation.at,
    )
    others = projects.list_of_repository(mutation.tx, repository_id)
    if made.slug in {p.slug for p in others}:
        raise InvalidRequestError.at("/slug", "is taken in this repository")
    projects.insert(mutation.tx, made)
    mutation.record("project.create", made.project_id, repository_id=repository_id)
    return made


def show(store: Store, access: Access, project: str, repo: str | None) -> View:
    """Return the project that an id, or a slug with or without *repo*, names for the caller.

    Raises:
        NotFoundError: There is none that the caller sees.
        ForbiddenError: The caller's run is bound to another project.
    """
    with store.engine.read() as tx:
        return view(tx, access, accesses.get_project(tx, access, project, repo))


def page(
    store: Store, access: Access, *, repo: str | None, after: str | None, limit: int
) -> Page[Project]:
    """List the projects that the caller sees, oldest first; *repo* keeps those of what it names."""
    with store.engine.read() as tx:
        rows = _visible(tx, access, repo, after=after, limit=limit + 1)
    return cut(rows, limit, lambda p: p.project_id)


def identify(store: Store, access: Access, project: str | None, repo: str | None) -> str:
    """Return the id of the project that a request means which may leave it out; see `resolve`."""
    with store.engine.read() as tx:
        return resolve(tx, access, project, repo).project_id


def resolve(tx: Transaction, access: Access, project: str | None, repo: str | None) -> Project:
    """Return the project that a request means which may leave it out (08 §1).

    A run means its own; else the only one that the caller sees, in what *repo* names.

    Raises:
        NotFoundError: The named one does not exist for the caller.
        ForbiddenError: The caller's run is bound to another project.
        InvalidRequestError: None is named, and there is not exactly one.
    """
    if project is None and access.run is not None:
        project = access.run.project_id
    if project is not None:
        return accesses.get_project(tx, access, project, repo)
    found = _visible(tx, access, repo, after=None, limit=2)
    if len(found) != 1:
        raise InvalidRequestError.at("/project_id", "is required: there is not exactly one project")
    return found[0]


def view(tx: Transaction, access: Access, project: Project) -> View:
    """Return a project with its limits; the caller was found to see it.

    Who cannot write there reaches no limit, and a count would tell of proposals it does not see.
    """
    if not access.may(Role.CONTRIBUTOR, project.repository_id):
        return View(project, ())
    audiences = {
        _PROJECT: _PROJECT,
        f"private:{access.principal_id}": "private",
        **{f"team:{team}": f"team:{team}" for team in access.teams},
    }
    found = scopes.of_project(tx, project.repository_id, project.project_id, audiences)
    counted = {row[0]: row for row in scopes.counters(tx, [s.scope_id for s in found])}
    ids = {s.audience: s.scope_id for s in found}
    used: dict[str, tuple[int, int]] = {}
    for audience in audiences:
        _, live, _, size = counted.get(ids.get(audience, 0), (0, 0, 0, 0))
        hidden = projects.hidden_secrets(tx, ids.get(audience, 0), access.principal_id)
        used[audience] = (live - hidden[0], size - hidden[1])
    limits = [Use("project_entries", _PROJECT, used[_PROJECT][0], PROJECT_ENTRIES)]
    limits += [
        Use("canonical_bytes", shown, used[audience][1], SCOPE_BYTES)
        for audience, shown in sorted(audiences.items(), key=lambda item: item[1])
    ]
    return View(project, (*limits, *_of_run(tx, access)))


def _of_run(tx: Transaction, access: Access) -> list[Use]:
    if access.run is None:
        return []
    run = runs.find(tx, access.run.repository_id, access.run.run_id)
    return [] if run is None else [Use("run_entries", run.run_id, run.live_entries, RUN_ENTRIES)]


def _visible(
    tx: Transaction, access: Access, repo: str | None, *, after: str | None, limit: int
) -> list[Project]:
    ids = repositories.visible(tx, access, repo)
    if access.run is None:
        return projects.list_of_repositories(tx, ids, after=after, limit=limit)
    if access.run.repository_id not in (ids or ()):
        return []
    own = projects.find(tx, access.run.repository_id, access.run.project_id)
    return [own] if own is not None and own.project_id > (after or "") else []


def reach_of(tx: Transaction, access: Access, project_id: str | None, repo: str | None) -> Reach:
    """Return what *access* sees of one project, else of one repository, else of all.

    Raises:
        NotFoundError: No such project or repository for the caller.
    """
    if project_id is not None:
        return accesses.reach(tx, access, accesses.get_project(tx, access, project_id, repo))
    found = accesses.reach_everywhere(tx, access)
    if repo is None:
        return found
    named = repositories.visible(tx, access, repo)
    if not named:
        raise NotFoundError("repository", repo)
    kept = {i: scope for i, scope in found.scopes.items() if scope.repository_id in named}
    return replace(found, scopes=kept, held_scopes=found.held_scopes & kept.keys())
