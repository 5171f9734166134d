"""A team: who shares the entries of a team collection."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Team:
    """A named group of principals."""

    team_id: str
    slug: str
    name: str
    created_at: int
