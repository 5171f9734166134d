"""A project: what entries and runs belong to within a repository."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Project:
    """A named part of a repository; ``path_prefix`` is its folder, ``None`` for the whole."""

    repository_id: str
    project_id: str
    slug: str
    name: str
    path_prefix: str | None
    created_at: int
