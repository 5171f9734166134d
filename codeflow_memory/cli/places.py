"""Which repository and project a command means: named, or those of the current folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.adapters import git
from codeflow_memory.cli.client import Client, Request, pages, path
from codeflow_memory.cli.context import expanded
from codeflow_memory.cli.exits import NotThereError
from codeflow_memory.domain.errors import CodeflowError, NotFoundError
from codeflow_memory.domain.identity import normalise_remote

repo_option = click.option(
    "--repo", "--repository", "repo", metavar="KEY|PATH", help="Else that of the current folder."
)
one_repo_option = click.option(
    "--repo", "--repository", "repo", metavar="KEY|PATH", help="Only this one, else all you see."
)
project_option = click.option(
    "--project", metavar="ID|SLUG", help="Else the repository's only one."
)
one_project_option = click.option(
    "--project", metavar="ID|SLUG", help="Only this one, else all you see."
)


def find_repository(client: Client, repo: str | None) -> str | None:
    """Return the id of the repository that *repo*, or the current folder, is; ``None`` if none.

    A folder is known by the remote of its repository, else by its path, else by its root commit.
    """
    folder = Path.cwd() if repo is None else expanded(Path(repo))
    facts = _facts(folder) if repo is None or folder.is_dir() else None
    if facts is None:
        return None if repo is None else _named(client, repo)
    remote = normalise_remote(facts.remote) if facts.remote else None
    for name in (remote, str(facts.toplevel)):
        found = _named(client, name) if name else None
        if found is not None:
            return found
    return _with_roots(client, set(facts.root_commits))


def get_repository(client: Client, repo: str | None) -> str:
    """Return the id of the repository that is meant.

    Raises:
        click.UsageError: The current folder is no registered repository, and none is named.
        NotThereError: The named one is not there.
    """
    found = find_repository(client, repo)
    if found is not None:
        return found
    if repo is None:
        raise click.UsageError("this folder is no registered repository: name one with --repo.")
    raise NotThereError(f"no repository {repo!r}; `codeflow-memory learn PATH` registers one")


def get_project(client: Client, project: str | None, repo: str | None) -> dict[str, Any]:
    """Return the project that is meant.

    Raises:
        click.UsageError: There is not exactly one, and none is named.
        NotThereError: The named one, or the named repository, is not there.
        Refusal: The application says so.
    """
    where = find_repository(client, repo)
    if where is None and repo is not None:
        where = get_repository(client, repo)
    if project is not None:
        return _project(client, project, where, given=repo is not None)
    found = list(pages(client, Request("GET", path("projects"), {"repo": where})))
    if len(found) != 1:
        slugs = ", ".join(row["slug"] for row in found) or "none yet"
        raise click.UsageError(f"name a project with --project; there are: {slugs}.")
    return found[0]


def get_clone(folder: Path) -> Path:
    """Return the absolute path of a folder that lies in a repository.

    Raises:
        click.UsageError: It is a file.
        NotThereError: There is no such folder, or no repository holds it.
        CodeflowError: The repository cannot be read.
    """
    found = expanded(folder).resolve()
    if not found.exists():
        raise NotThereError(f"there is no folder {folder}")
    if not found.is_dir():
        raise click.UsageError(f"{folder} is a file: name the folder of a repository.")
    try:
        git.open_repository(found)
    except NotFoundError:
        raise NotThereError(
            f"the folder {folder} lies in no git repository: `git init` makes one"
        ) from None
    return found


def _project(client: Client, project: str, where: str | None, *, given: bool) -> dict[str, Any]:
    """Return a named project: of the repository, where that was named or decides."""
    if given:
        return client.send(Request("GET", path("projects", project), {"repo": where}))
    found = list(pages(client, Request("GET", path("projects"))))
    fitting = [row for row in found if project in {row["id"], row["slug"]}]
    here = [row for row in fitting if row["repository_id"] == where]
    match here or fitting:
        case [only]:
            return only
        case []:
            raise NotThereError(f"no project {project!r}")
        case _:
            raise click.UsageError(f"several repositories have {project!r}: name one with --repo.")


def _named(client: Client, repo: str) -> str | None:
    rows: list[Mapping[str, Any]] = list(
        pages(client, Request("GET", path("repositories"), {"repo": repo}))
    )
    return str(rows[0]["id"]) if len(rows) == 1 else None


def _with_roots(client: Client, roots: set[str]) -> str | None:
    if not roots:
        return None
    rows = pages(client, Request("GET", path("repositories")))
    found = [row["id"] for row in rows if roots.intersection(row["aliases"]["root_commit"])]
    return str(found[0]) if len(found) == 1 else None


def _facts(folder: Path) -> git.Facts | None:
    try:
        return git.open_repository(folder.resolve()).facts()
    except CodeflowError:
        return None
