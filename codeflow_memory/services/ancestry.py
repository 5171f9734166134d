"""Ancestry: which commits that entries name lie behind the head of a run."""

from collections.abc import Mapping

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkouts, visible
from codeflow_memory.services.store import Store
from codeflow_memory.storage.lights import Light


def find(
    store: Store, access: Access, project_id: str, repo: str | None, request: Request
) -> frozenset[str] | None:
    """Ask git which commits that entries name are the head or its ancestors; outside a transaction.

    ``None`` when that cannot be told: no head was given, or the repository is not readable.
    """
    if request.head is None:
        return None
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        named = visible.commits(store.shelf.accepted(tx, reach).by_id.values())
        places = checkouts.readable(store, tx, project.repository_id) if named else []
    repository = checkouts.open_first(places, request.head)
    if repository is None:
        return None
    try:
        return repository.ancestors_among(sorted(named), request.head)
    except CodeflowError:
        # A repository that cannot be read leaves the answer unknown; the manifest says so.
        return None


def state(request: Request, rows: Mapping[str, Light], ancestors: frozenset[str] | None) -> str:
    """Say whether the ancestors among the commits that *rows* name are known."""
    if ancestors is not None:
        return "known"
    return "unknown" if request.head is None or visible.commits(rows.values()) else "not-needed"
