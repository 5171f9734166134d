"""Who may administer a tenant, and how the people and repositories in a request are found."""

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import ForbiddenError, NotFoundError
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.team import Team
from codeflow_memory.services import access as accesses
from codeflow_memory.services.repositories import get_visible
from codeflow_memory.storage import principals, teams
from codeflow_memory.storage.engine import Transaction


def require_owner(access: Access, to: str) -> None:
    """Refuse a caller that does not own the whole tenant, or is no person outside a run.

    An agent never approves, whatever its role; one that could make people's tokens would.

    Raises:
        ForbiddenError: With *to* in its sentence.
    """
    accesses.require(access, Role.OWNER, None, to)
    if not access.administers:
        raise ForbiddenError(f"to {to}, a person is required")


def get_principal(tx: Transaction, principal: str) -> Principal:
    """Return the principal of an id or a name that may act.

    Raises:
        NotFoundError: There is none.
    """
    found = principals.named(tx, principal)
    if found is None or found.removed_at is not None:
        raise NotFoundError("principal", principal)
    return found


def get_team(tx: Transaction, team: str) -> Team:
    """Return the team of an id or a slug.

    Raises:
        NotFoundError: There is none.
    """
    found = teams.named(tx, team)
    if found is None:
        raise NotFoundError("team", team)
    return found


def get_repository_id(tx: Transaction, access: Access, repo: str) -> str:
    """Return the id of the one repository that *repo* names and the caller sees.

    Raises:
        NotFoundError: None, or several.
    """
    return get_visible(tx, access, repo).repository_id
