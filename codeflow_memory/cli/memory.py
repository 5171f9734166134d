"""``memory``: list, show, search and judge memories."""

from typing import Any

import rich_click as click

from codeflow_memory.cli import changes, output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import Refusal
from codeflow_memory.cli.places import get_project, project_option, repo_option
from codeflow_memory.domain.memory import Collection, Kind, Status

TITLES = ("ID", "REV", "STATUS", "KIND", "TITLE")
_COLLECTIONS = tuple(map(str, Collection))
_KINDS = tuple(map(str, Kind))
_STATUSES = tuple(map(str, Status))

limit_option = click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Items at most."
)


@click.command("list")
@repo_option
@project_option
@click.option("--status", type=click.Choice(_STATUSES), default="accepted", show_default=True)
@click.option("--collection", type=click.Choice(_COLLECTIONS), help="Who may see them.")
@click.option("--kind", type=click.Choice(_KINDS), help="What they are.")
@click.option("--tag", help="With this tag.")
@click.option("--path", metavar="PATH", help="Which apply to this path.")
@click.option("--cursor", help="Go on where an answer's next_cursor says.")
@click.option("--jsonl", is_flag=True, help="Print all, a JSON document a line.")
@limit_option
@click.pass_obj
def list_memories(
    context: Context,
    /,
    repo: str | None,
    project: str | None,
    *,
    jsonl: bool,
    **query: Any,  # noqa: ANN401 - the options
) -> None:
    """List a project's memories, newest change first."""
    with connected(context) as client:
        found = get_project(client, project, repo)
        request = Request("GET", path("projects", found["id"], "memories"), query)
        if jsonl:
            output.print_lines(pages(client, request))
            return
        answer = client.send(request)
    if context.json:
        output.print_json(answer)
        return
    output.print_table(TITLES, map(columns, answer["items"]))
    if answer["next_cursor"]:
        output.talk(f"more: --cursor {answer['next_cursor']}")


@click.command("show")
@click.argument("memory_id", metavar="ID")
@click.option("--revision", type=click.IntRange(1), help="As it was then.")
@click.pass_obj
def show(context: Context, memory_id: str, revision: int | None) -> None:
    """Show one memory."""
    at = () if revision is None else ("revisions", str(revision))
    with connected(context) as client:
        memory = client.send(Request("GET", path("memories", memory_id, *at)))
    if context.json:
        output.print_json(memory)
        return
    print_memory(memory)


@click.command("search")
@click.argument("query", metavar="QUERY")
@repo_option
@project_option
@click.option("--match", type=click.Choice(["literal"]), help="Exact words only.")
@click.option("--kind", type=click.Choice(_KINDS), help="What they are.")
@click.option("--collection", type=click.Choice(_COLLECTIONS), help="Who may see them.")
@click.option("--path", metavar="PATH", help="Which apply to this path.")
@click.option("--branch", metavar="NAME", help="Which apply to this branch.")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@limit_option
@click.pass_obj
def search(
    context: Context,
    /,
    query: str,
    repo: str | None,
    project: str | None,
    *,
    jsonl: bool,
    **narrowed: Any,  # noqa: ANN401 - the options
) -> None:
    """Find a project's accepted memories by their words."""
    with connected(context) as client:
        found = get_project(client, project, repo)
        where = path("projects", found["id"], "memory", "search")
        answer = client.send(Request("GET", where, {"q": query, **narrowed}))
    if jsonl:
        output.print_lines(answer["results"])
    elif context.json:
        output.print_json(answer)
    else:
        titles = ("ID", "REV", "SCORE", "TITLE")
        output.print_table(
            titles,
            ((r["memory_id"], r["revision"], r["score"], r["title"]) for r in answer["results"]),
        )


@click.command("feedback")
@click.argument("memory_id", metavar="ID")
@click.option("--helpful/--unhelpful", required=True, default=None, help="Whether it helped.")
@click.option("--note", help="Why.")
@click.option("--selection", metavar="ID", help="The selection that gave it.")
@click.option("--dry-run", is_flag=True, help="Let the server check it, and change nothing.")
@click.pass_obj
def feedback(
    context: Context,
    memory_id: str,
    note: str | None,
    selection: str | None,
    *,
    helpful: bool,
    dry_run: bool,
) -> None:
    """Say whether a memory helped; its trust follows."""
    body = {"helpful": helpful, "note": note, "selection_id": selection}
    given = {name: value for name, value in body.items() if value is not None}
    if dry_run:
        given["dry_run"] = True
    with connected(context) as client:
        where = path("memories", memory_id, "feedback")
        answer = client.send(Request("POST", where, body=given))
    if context.json:
        output.print_json(answer)
        return
    verb = "would have" if dry_run else "has"
    output.talk(f"{memory_id} {verb} trust {answer['trust']} and is {answer['status']}")
    if not answer["counted"]:
        output.talk("you have judged this revision before: it does not count again")


@click.command("correct")
@click.argument("memory_id", metavar="ID")
@click.argument("text")
@click.option("--title", help="Another title, too.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Let the server check it, and change nothing.")
@click.pass_obj
def correct(
    context: Context,
    memory_id: str,
    text: str,
    title: str | None,
    revision: int | None,
    *,
    dry_run: bool,
) -> None:
    """Put another text in place of a memory's; accepted project guidance goes back to review."""
    body = {"body": text} | ({} if title is None else {"title": title})
    with connected(context) as client:
        base = revision or get_memory(client, memory_id)["revision"]
        with changes.told(context, client, memory_id):
            if dry_run:
                answer = _rehearsed(client, memory_id, base, body)
            else:
                asked = Request("PATCH", path("memories", memory_id), body=body, revision=base)
                answer = client.send(asked)
    if context.json:
        output.print_json(answer)
        return
    verb = "would be" if dry_run else "is"
    output.talk(f"{memory_id} {verb} {answer['status']} at revision {answer['revision']}")


def _rehearsed(client: Client, memory_id: str, base: int, body: dict[str, str]) -> dict[str, Any]:
    """Let the server try a correction; return its result.

    Raises:
        Refusal: It would be refused.
    """
    step = {"action": "update", "id": memory_id, "revision": base, "changes": body}
    asked = Request("POST", path("memories", "batch"), body={"operations": [step], "dry_run": True})
    (result,) = client.send(asked)["results"]
    error = result["error"]
    if error is not None:
        raise Refusal(str(error["code"]), str(error["detail"]), error)
    return dict(result)


def get_memory(client: Client, memory_id: str) -> dict[str, Any]:
    """Return a memory as the caller sees it."""
    return client.send(Request("GET", path("memories", memory_id)))


def columns(memory: dict[str, Any]) -> tuple[object, ...]:
    """Return a memory's row under `TITLES`."""
    return (
        memory["id"], memory["revision"], memory["status"], memory.get("kind"),
        memory.get("title"),
    )  # fmt: skip


def print_memory(memory: dict[str, Any]) -> None:
    """Print a memory for people: its title, its text, then what is known about it."""
    click.echo(memory.get("title") or f"{memory['id']} was deleted")
    if memory.get("body"):
        click.echo(f"\n{memory['body']}\n")
    shown = (
        "id", "revision", "status", "collection", "kind", "trust", "tags", "paths", "branches",
        "sources", "review_reason", "superseded_by", "author", "origin", "updated_at",
    )  # fmt: skip
    output.print_fields({name: memory.get(name) for name in shown})
    for found in memory.get("findings") or []:
        place = f"{found['field']} {found['start']}-{found['end']}"
        click.echo(f"finding: {found['rule']} ({found['severity']}) at {place}")
