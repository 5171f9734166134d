"""``memory trust``: what became of the memories that were accepted with each trust."""

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.places import (
    get_project,
    get_repository,
    one_project_option,
    one_repo_option,
)

_COUNTS = ("accepted", "rejected", "corrected", "confirmed", "unresolved")


@click.command("report")
@one_repo_option
@one_project_option
@click.option("--jsonl", is_flag=True, help="Print a JSON document a band.")
@click.pass_obj
def report(context: Context, repo: str | None, project: str | None, *, jsonl: bool) -> None:
    """Show, for each band of trust, what became of the memories accepted with it.

    Trust is in basis points. One memory may have been rejected, corrected and confirmed.
    """
    with connected(context) as client:
        asked: dict[str, object] = {}
        if project is not None:
            asked["project_id"] = get_project(client, project, repo)["id"]
        elif repo is not None:
            asked["repo"] = get_repository(client, repo)
        answer = client.send(Request("GET", path("trust"), asked))
    if jsonl:
        output.print_lines(answer["bands"])
        return
    if context.json:
        output.print_json(answer)
        return
    rows = [
        (f"{band['least']}-{band['most']}", *(band[name] for name in _COUNTS))
        for band in answer["bands"]
    ]
    output.print_table(("TRUST", *map(str.upper, _COUNTS)), rows)
