"""Selection: what a run receives at its start, explained and recorded (01 §9)."""

from dataclasses import replace

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import ForbiddenError, InvalidRequestError
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.selection import Request, Selection
from codeflow_memory.services import access as accesses
from codeflow_memory.services import ancestry, choosing, manifests
from codeflow_memory.services.store import Store
from codeflow_memory.storage import runs
from codeflow_memory.storage.engine import Transaction


def create(
    store: Store, access: Access, project_id: str, repo: str | None, request: Request
) -> Selection:
    """Select what applies, record it, and return it with the text to inject.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The request contradicts the run's token.
        InvalidRequestError: The run is none of the caller's.
    """
    ancestors = ancestry.find(store, access, project_id, repo, request)
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        request = _settled(tx, access, project, request)
        reach = accesses.reach(tx, access, project)
        chosen = choosing.choose(store, tx, project, reach, request, ancestors)
    selection = manifests.record(store, access, project, request, chosen)
    manifests.keep(store, selection, chosen)
    return selection


def _settled(tx: Transaction, access: Access, project: Project, request: Request) -> Request:
    """Take the run and branch from the caller's token where the request names none."""
    run = access.run
    if run is None:
        if request.run_id is not None:
            named = runs.find(tx, project.repository_id, request.run_id)
            if (
                named is None
                or named.principal_id != access.principal_id
                or named.project_id != project.project_id
            ):
                raise InvalidRequestError.at("/run_id", "no run of yours in this project")
            return replace(request, branch=request.branch or named.branch)
        return request
    if request.run_id not in {None, run.run_id}:
        raise ForbiddenError("the run's token is bound to another run")
    if run.branch is not None and request.branch not in {None, run.branch}:
        raise ForbiddenError("the run's token is bound to another branch")
    return replace(request, run_id=run.run_id, branch=request.branch or run.branch)
