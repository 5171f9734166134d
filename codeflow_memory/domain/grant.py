"""A grant: a role that a principal holds, and who gave it."""

from dataclasses import dataclass

from codeflow_memory.domain.access import Role


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """A role that was given; ``repository_id`` is ``None`` for the whole tenant."""

    grant_id: str
    principal_id: str
    role: Role
    repository_id: str | None
    granted_by: str
    granted_at: int
