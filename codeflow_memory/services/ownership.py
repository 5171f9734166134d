"""Ownership: whose approval a repository's CODEOWNERS file asks for.

The file is read at the default branch's head before the transaction; where it cannot be read,
approval is refused within it, so that an approval given before is still answered.
"""

from dataclasses import dataclass

from codeflow_memory.adapters.codeowners import read_codeowners
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.codeowners import owned_paths
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.memory import Collection
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkouts, repositories, views
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals, teams
from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Owners:
    """For one revision of a memory: the owners of each owned path, as the file names them."""

    revision: int
    of_paths: tuple[tuple[str, tuple[str, ...]], ...]


def read(store: Store, access: Access, memory_id: str) -> Owners | None:
    """Read who owns the paths of a project memory.

    Returns:
        ``None`` where nobody asks (the repository does not, or the memory is no project's) and
        where the file cannot be read: the review then refuses what the repository asks for.

    Raises:
        NotFoundError: No such memory for the caller.
    """
    with store.engine.read() as tx:
        memory = views.seen(tx, accesses.reach_everywhere(tx, access), memory_id).memory
        asked = (
            memory.collection is Collection.PROJECT
            and memory.content is not None
            and repositories.get(tx, memory.repository_id).codeowners
        )
        places = checkouts.readable(store, tx, memory.repository_id) if asked else []
    repository = checkouts.open_first(places)
    if repository is None:
        return None
    try:
        rules = read_codeowners(repository)
    except CodeflowError:
        # Not to be told from "nothing is owned" would be worse than no answer.
        return None
    paths = () if memory.content is None else memory.content.paths
    return Owners(memory.revision, tuple(owned_paths(rules, paths).items()))


def satisfied(tx: Transaction, owners: Owners, given: set[str]) -> bool:
    """Tell whether one owner of every owned path is among the principals *given*."""
    return all(
        any(_is_owner(tx, name, principal_id) for name in names for principal_id in sorted(given))
        for _, names in owners.of_paths
    )


def _is_owner(tx: Transaction, name: str, principal_id: str) -> bool:
    """Tell whether an owner's name means this principal: ``@name``, ``@org/team`` or an address."""
    if name.startswith("@") and "/" in name:
        team = teams.find_by_slug(tx, name.partition("/")[2])
        return team is not None and team.team_id in teams.of_principal(tx, principal_id)
    principal = principals.find_by_name(tx, name.removeprefix("@"))
    return principal is not None and principal.principal_id == principal_id
