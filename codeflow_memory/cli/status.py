"""``status``: what a home or server holds, and what waits for a person."""

from typing import Any

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context, served_url

_TITLES = ("PROJECT", "ACCEPTED", "PROPOSED", "ID")


@click.command("status")
@click.pass_obj
def status(context: Context) -> None:
    """Show the projects that you see, with how many memories stand and wait.

    Operators and owners are also shown how the tenant is run: sizes, audit, jobs, limits, the last
    backup and restore drill, and what may still hold deleted texts.
    """
    with connected(context) as client:
        projects = [_counted(client, row) for row in pages(client, _PROJECTS)]
        told = client.send(Request("GET", path("status")))
    home = context.home
    answer = {
        "version": told["version"],
        "home": None if home is None else str(home.path),
        "url": context.url if home is None else served_url(home),
        "projects": projects,
    }
    if told["operations"] is not None:
        answer["operations"] = told["operations"]
    if context.json:
        output.print_json(answer)
        return
    shown = {k: v for k, v in answer.items() if k not in {"projects", "operations"}}
    output.print_fields(shown | _sentences(answer.get("operations")))
    rows = ((p["slug"], p["accepted"], p["proposed"], p["id"]) for p in projects)
    output.print_table(_TITLES, rows)


def _sentences(operations: Any) -> dict[str, Any]:  # noqa: ANN401 - an answer, or None
    """Say in few words how the tenant is run."""
    if operations is None:
        return {}
    audit, jobs = operations["audit"], operations["jobs"]
    return {
        "schema": operations["schema_version"],
        "database": f"{operations['database_bytes']} bytes",
        "audit": f"{audit['rows']} rows, {audit['rows_since']} after the last checkpoint",
        "jobs": f"{jobs['waiting']} waiting, {jobs['dead']} given up",
        "limits": [f"{u['limit']} {u['value']} of {u['maximum']}" for u in operations["limits"]],
        "last backup": _words(operations["last_backup"]),
        "last drill": _words(operations["last_drill"]),
        "may hold deleted text": operations["earlier_states"],
    }


def _words(last: dict[str, str] | None) -> list[str]:
    return ["none known"] if last is None else [last[name] for name in sorted(last)]


_PROJECTS = Request("GET", path("projects"))


def _counted(client: Client, project: dict[str, Any]) -> dict[str, Any]:
    where = path("projects", project["id"], "memories")
    counts = {}
    for name in ("accepted", "proposed"):
        answer = client.send(Request("GET", where, {"status": name, "limit": 1}))
        counts[name] = answer["facets"]["status"].get(name, 0)
    return {"id": project["id"], "slug": project["slug"], **counts}
