"""``project``: the named parts of repositories, with their limits."""

from typing import Any

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.places import (
    get_project,
    get_repository,
    one_repo_option,
    repo_option,
)

_TITLES = ("ID", "SLUG", "NAME", "REPOSITORY")


@click.command("list")
@one_repo_option
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_projects(context: Context, repo: str | None, *, jsonl: bool) -> None:
    """List the projects that you see, of one repository or of all."""
    with connected(context) as client:
        where = None if repo is None else get_repository(client, repo)
        rows = list(pages(client, Request("GET", path("projects"), {"repo": where})))
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(_TITLES, (_columns(row) for row in rows))


@click.command("show")
@click.argument("project", metavar="[ID|SLUG]", required=False)
@repo_option
@click.pass_obj
def show(context: Context, project: str | None, repo: str | None) -> None:
    """Show a project with its limits and their use."""
    with connected(context) as client:
        found = get_project(client, project, repo)
        # A list has projects without their limits.
        row = client.send(Request("GET", path("projects", found["id"])))
    if context.json:
        output.print_json(row)
        return
    limits = {f"{u['limit']} ({u['audience']})": _use(u) for u in row["limits"]}
    output.print_fields({k: v for k, v in row.items() if k != "limits"} | limits)


def _columns(row: dict[str, Any]) -> tuple[object, ...]:
    return row["id"], row["slug"], row["name"], row["repository_id"]


def _use(use: dict[str, Any]) -> str:
    return f"{use['value']} of {use['maximum']}"
