"""``review``: the queue of what needs a person, and the decisions on it."""

from collections.abc import Iterator
from typing import Any

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import OK, REVIEW
from codeflow_memory.cli.memory import columns, get_memory
from codeflow_memory.cli.places import find_repository, project_option, repo_option

_TITLES = ("ID", "REV", "STATUS", "KIND", "TITLE", "REASON")


@click.command("list")
@repo_option
@project_option
@click.option("--exit-code", is_flag=True, help="Exit with 7 when something waits.")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def queue(
    context: Context, repo: str | None, project: str | None, *, exit_code: bool, jsonl: bool
) -> int:
    """Show proposals, and accepted memories that something speaks against."""
    with connected(context) as client:
        rows = list(_waiting(client, repo, project))
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(_TITLES, ((*columns(row), row["review_reason"]) for row in rows))
        output.talk(f"{len(rows)} to review")
    return REVIEW if rows and exit_code else OK


@click.command("accept")
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--comment", help="Kept with the approval.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts; a decision can be taken back.")
@click.pass_obj
def accept(
    context: Context,
    memory_ids: tuple[str, ...],
    comment: str | None,
    revision: int | None,
    *,
    dry_run: bool,
    yes: bool,  # noqa: ARG001 - see its help
) -> None:
    """Approve proposals, each at the revision that stands now."""
    body = {} if comment is None else {"comment": comment}
    _decide(context, memory_ids, "approve", body, revision=revision, dry_run=dry_run)


@click.command("reject")
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", help="Such as wrong, outdated, secret, not-durable, duplicate.")
@click.option("--comment", help="Kept with the rejection.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts.")
@click.pass_obj
def reject(
    context: Context,
    /,
    memory_ids: tuple[str, ...],
    revision: int | None,
    *,
    dry_run: bool,
    yes: bool,  # noqa: ARG001 - see its help
    **said: Any,  # noqa: ANN401 - reason and comment
) -> None:
    """Reject proposals, each at the revision that stands now."""
    body = {name: value for name, value in said.items() if value is not None}
    _decide(context, memory_ids, "reject", body, revision=revision, dry_run=dry_run)


def _decide(
    context: Context,
    memory_ids: tuple[str, ...],
    action: str,
    body: dict[str, Any],
    *,
    revision: int | None,
    dry_run: bool,
) -> None:
    """Carry out one decision on each memory; the first refusal ends it."""
    done = []
    with connected(context) as client:
        for memory_id in memory_ids:
            base = revision or get_memory(client, memory_id)["revision"]
            if dry_run:
                output.talk(f"{action} {memory_id} at revision {base}")
                continue
            where = path("memories", memory_id, action)
            done.append(client.send(Request("POST", where, body=body, revision=base)))
    if context.json:
        output.print_json(done[0] if len(memory_ids) == 1 and done else {"items": done})
    else:
        output.print_table(_TITLES, ((*columns(m), m.get("review_reason")) for m in done))


def _waiting(client: Client, repo: str | None, project: str | None) -> Iterator[dict[str, Any]]:
    for row in _projects(client, repo, project):
        where = path("projects", row["id"], "memories")
        yield from pages(client, Request("GET", where, {"status": "proposed"}))
        for memory in pages(client, Request("GET", where, {"status": "accepted"})):
            if memory.get("review_reason"):
                yield memory


def _projects(client: Client, repo: str | None, project: str | None) -> list[dict[str, Any]]:
    """List the projects whose queue is meant: all that the caller sees, unless one is named."""
    where = None if repo is None and project is None else find_repository(client, repo)
    found = list(pages(client, Request("GET", path("projects"), {"repo": where})))
    if project is None:
        return found
    return [row for row in found if project in {row["id"], row["slug"]}]
