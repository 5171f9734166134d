"""The review queue as commands ask for it: narrowed, and read to its end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import rich_click as click

from codeflow_memory.cli.client import Client, Request, path
from codeflow_memory.cli.places import (
    get_project,
    get_repository,
    one_project_option,
    one_repo_option,
)
from codeflow_memory.domain.memory import Collection

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MOST = 100


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which part of the queue is meant; nothing given is all of it."""

    repo: str | None = None
    project: str | None = None
    because: str | None = None
    collection: str | None = None

    @property
    def narrows(self) -> bool:
        """Whether anything is given."""
        return any((self.repo, self.project, self.because, self.collection))


@dataclass(frozen=True, slots=True)
class Queue:
    """All that waits, the riskiest first, and how much of it there is by field and value."""

    items: list[dict[str, Any]]
    facets: dict[str, dict[str, int]]


def narrowing_options(command: _Command) -> _Command:
    """Add the options of a `Narrowing`."""
    for option in reversed(
        (
            one_repo_option,
            one_project_option,
            click.option(
                "--because",
                metavar="REASON",
                help="What waits for this reason: new, successor, conflict, flagged, sensitive, …",
            ),
            click.option(
                "--collection",
                type=click.Choice([str(collection) for collection in Collection]),
                help="Who may see it.",
            ),
        )
    ):
        command = option(command)
    return command


def waiting(client: Client, narrowed: Narrowing) -> Queue:
    """Read the queue to its end.

    Raises:
        Refusal: No such project or repository.
    """
    query: dict[str, object] = {"reason": narrowed.because, "collection": narrowed.collection}
    if narrowed.project is not None:
        query["project_id"] = get_project(client, narrowed.project, narrowed.repo)["id"]
    elif narrowed.repo is not None:
        query["repo"] = get_repository(client, narrowed.repo)
    query["limit"] = _MOST
    first = answer = client.send(Request("GET", path("review"), query))
    items: list[dict[str, Any]] = list(first["items"])
    while answer["next_cursor"]:
        query["cursor"] = answer["next_cursor"]
        answer = client.send(Request("GET", path("review"), query))
        items += answer["items"]
    return Queue(items, first["facets"])


def find_waiting(client: Client, memory_id: str) -> dict[str, Any] | None:
    """Return one entry of the queue; ``None`` where it does not wait for the caller."""
    answer = client.send(Request("GET", path("review"), {"memory_id": memory_id}))
    found: list[dict[str, Any]] = answer["items"]
    return found[0] if found else None
