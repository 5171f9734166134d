"""``status``: what a home or server holds, and what waits for a person."""

from typing import Any

import rich_click as click

from codeflow_memory import __version__
from codeflow_memory.cli import output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context, served_url

_TITLES = ("PROJECT", "ACCEPTED", "PROPOSED", "ID")


@click.command("status")
@click.pass_obj
def status(context: Context) -> None:
    """Show the projects that you see, with how many memories stand and wait."""
    with connected(context) as client:
        projects = [_counted(client, row) for row in pages(client, _PROJECTS)]
    home = context.home
    answer = {
        "version": __version__,
        "home": None if home is None else str(home.path),
        "url": context.url if home is None else served_url(home),
        "projects": projects,
    }
    if context.json:
        output.print_json(answer)
        return
    output.print_fields({k: v for k, v in answer.items() if k != "projects"})
    rows = ((p["slug"], p["accepted"], p["proposed"], p["id"]) for p in projects)
    output.print_table(_TITLES, rows)


_PROJECTS = Request("GET", path("projects"))


def _counted(client: Client, project: dict[str, Any]) -> dict[str, Any]:
    where = path("projects", project["id"], "memories")
    counts = {}
    for name in ("accepted", "proposed"):
        answer = client.send(Request("GET", where, {"status": name, "limit": 1}))
        counts[name] = answer["facets"]["status"].get(name, 0)
    return {"id": project["id"], "slug": project["slug"], **counts}
