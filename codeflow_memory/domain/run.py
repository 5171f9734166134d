"""A run: a single execution of a coding agent, bound to one project."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """A run of one principal; ``ended_at`` is ``None`` while it goes on.

    ``live_entries`` counts its private and team entries.
    """

    repository_id: str
    run_id: str
    project_id: str
    principal_id: str
    branch: str | None
    agent: str
    team_id: str | None
    live_entries: int
    started_at: int
    ended_at: int | None
