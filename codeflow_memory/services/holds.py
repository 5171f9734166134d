"""Legal holds: placed and released by an owner, asked by every deletion (07 §2).

An owner holds any entry by its id, others' private ones too: a hold shows nothing of its text.
"""

from dataclasses import dataclass

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.hold import Hold
from codeflow_memory.domain.labels import label
from codeflow_memory.services import access as accesses
from codeflow_memory.services.administration import require_owner
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.store import Store
from codeflow_memory.storage import holds, repositories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt


@dataclass(frozen=True, slots=True)
class Target:
    """What a hold is for: a memory's id, or a project's id or slug.

    Args:
        memory_id: The entry; then the others are ``None``.
        project: The project.
        repo: Which repository's, where several have such a slug.
    """

    memory_id: str | None = None
    project: str | None = None
    repo: str | None = None


def add(store: Store, access: Access, target: Target, reason: str, operation: Operation) -> Hold:
    """Place a hold; one that is there already stays as it is and is returned.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such memory that stands, or no such project.
        InvalidRequestError: *reason* is no line of at most 200 characters.
    """
    reason = label("/reason", reason)

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "place legal holds")
        repository_id, project_id, memory_id = _place(mutation.tx, mutation.access, target)
        placed_by = mutation.access.principal_id
        hold = Hold(repository_id, project_id, memory_id, reason, placed_by, mutation.at)
        if holds.insert(mutation.tx, hold):
            mutation.record("hold.add", memory_id or project_id, repository_id=repository_id)
        return _receipt("hold.add", repository_id, project_id, memory_id)

    return mutate(store, access, operation, work, _render)


def remove(store: Store, access: Access, target: Target, operation: Operation) -> tuple[str, str]:
    """Release a hold; return the ids of its repository, and of its memory or else its project.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such hold.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "release legal holds")
        repository_id, project_id, memory_id = _place(mutation.tx, mutation.access, target)
        if not holds.delete(mutation.tx, repository_id, project_id, memory_id):
            raise NotFoundError("hold", memory_id or project_id)
        mutation.record("hold.remove", memory_id or project_id, repository_id=repository_id)
        return _receipt("hold.remove", repository_id, project_id, memory_id)

    def render(_: Transaction, __: Access, receipt: Receipt) -> tuple[str, str]:
        return str(receipt.facts["repository_id"]), receipt.target_id

    return mutate(store, access, operation, work, render, needs_room=False)


def list_all(store: Store, access: Access) -> list[Hold]:
    """List the tenant's holds, by repository and project.

    Raises:
        ForbiddenError: The caller does not own the tenant.
    """
    require_owner(access, "list legal holds")
    with store.engine.read() as tx:
        return [h for each in repositories.ids(tx) for h in holds.of_repository(tx, each)]


def _place(tx: Transaction, access: Access, target: Target) -> tuple[str, str, str | None]:
    """Return the ids of repository, project and memory that *target* names."""
    if target.memory_id is None:
        project = accesses.get_project(tx, access, target.project or "", target.repo)
        return project.repository_id, project.project_id, None
    for repository_id in repositories.ids(tx):
        project_id = holds.project_of(tx, repository_id, target.memory_id)
        if project_id is not None:
            return repository_id, project_id, target.memory_id
    raise NotFoundError("memory", target.memory_id)


def _receipt(action: str, repository_id: str, project_id: str, memory_id: str | None) -> Receipt:
    facts: dict[str, object] = {"repository_id": repository_id, "project_id": project_id}
    return Receipt(action, memory_id or project_id, 1, facts)


def _render(tx: Transaction, _: Access, receipt: Receipt) -> Hold:
    project_id = receipt.facts["project_id"]
    memory_id = None if receipt.target_id == project_id else receipt.target_id
    for hold in holds.of_repository(tx, str(receipt.facts["repository_id"])):
        if (hold.project_id, hold.memory_id) == (project_id, memory_id):
            return hold
    # Released since, and asked for again by the key of the first request.
    raise NotFoundError("hold", receipt.target_id)
