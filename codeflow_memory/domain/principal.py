"""A principal: who acts in a tenant."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """A person (``user``) or an agent.

    ``sponsor_id`` is who made an agent; ``removed_at`` is ``None`` while the principal may act.
    """

    principal_id: str
    name: str
    kind: str
    sponsor_id: str | None
    created_at: int
    removed_at: int | None
