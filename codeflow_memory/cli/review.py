"""``review``: the queue of what needs a person, and the decisions on it."""

from collections.abc import Iterator
from typing import Any

import rich_click as click

from codeflow_memory.cli import exits, output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import OK, REVIEW, Refusal, UnreachableError
from codeflow_memory.cli.memory import columns, get_memory, print_memory
from codeflow_memory.cli.places import (
    get_project,
    get_repository,
    one_project_option,
    one_repo_option,
)

_TITLES = ("ID", "REV", "STATUS", "KIND", "TITLE", "REASON")


@click.command("list")
@one_repo_option
@one_project_option
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
        output.print_table(_TITLES, ((*columns(row), " ".join(row["reasons"])) for row in rows))
        output.talk(f"{len(rows)} to review")
    return REVIEW if rows and exit_code else OK


@click.command("show")
@click.argument("memory_id", metavar="ID")
@click.pass_obj
def show(context: Context, memory_id: str) -> None:
    """Show one memory, and what it changes in the one that it would supersede."""
    with connected(context) as client:
        memory = get_memory(client, memory_id)
        compared = None
        if memory.get("supersedes"):
            compared = client.send(Request("GET", path("memories", memory_id, "diff")))
    if context.json:
        output.print_json({"memory": memory, "diff": compared})
        return
    print_memory(memory)
    if compared is not None:
        old = memory["supersedes"]["memory_id"]
        click.echo(f"\nin place of {old} at revision {compared['from']}:")
        for change in compared["fields"]:
            click.echo(f"  {change['field']}: {_told(change)}")


def _told(change: dict[str, Any]) -> str:
    """Write a field's change in one text, words between ``[-`` or ``{+`` and the like."""
    marks = {"-": ("[-", "-]"), "+": ("{+", "+}"), "=": ("", "")}
    parts = change.get("words") or [["-", str(change["from"])], ["+", str(change["to"])]]
    return "".join(f"{marks[op][0]}{text}{marks[op][1]}" for op, text in parts)


@click.command("accept")
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--comment", help="Kept with the approval.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts; nothing is asked.")
@click.pass_obj
def accept(
    context: Context,
    memory_ids: tuple[str, ...],
    comment: str | None,
    revision: int | None,
    *,
    dry_run: bool,
    yes: bool,  # noqa: ARG001 - see its help
) -> int:
    """Approve proposals, each at the revision that stands now.

    One that is refused leaves the others to be decided; the exit code is the first refusal's.
    """
    body = {} if comment is None else {"comment": comment}
    return _decide(context, memory_ids, "approve", body, revision=revision, dry_run=dry_run)


@click.command("reject")
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", help="Such as wrong, outdated, secret, not-durable, duplicate.")
@click.option("--comment", help="Kept with the rejection.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts; nothing is asked.")
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
) -> int:
    """Reject proposals, each at the revision that stands now.

    One that is refused leaves the others to be decided; the exit code is the first refusal's.
    """
    body = {name: value for name, value in said.items() if value is not None}
    return _decide(context, memory_ids, "reject", body, revision=revision, dry_run=dry_run)


def _decide(
    context: Context,
    memory_ids: tuple[str, ...],
    action: str,
    body: dict[str, Any],
    *,
    revision: int | None,
    dry_run: bool,
) -> int:
    """Carry out one decision on each memory, and return the exit code of the first refusal.

    Raises:
        Refusal: The only one was refused.
        UnreachableError: The same.
    """
    done, refused = list[dict[str, Any]](), list[Refusal | UnreachableError]()
    with connected(context) as client:
        for memory_id in memory_ids:
            try:
                base = revision or get_memory(client, memory_id)["revision"]
                if dry_run:
                    output.talk(f"{action} {memory_id} at revision {base}")
                    continue
                where = path("memories", memory_id, action)
                done.append(client.send(Request("POST", where, body=body, revision=base)))
            except (Refusal, UnreachableError) as error:
                if len(memory_ids) == 1:
                    raise
                output.talk(f"{memory_id}: {error} [{error.code}]")
                refused.append(error)
                if isinstance(error, UnreachableError):
                    break
    _print(context, done, alone=len(memory_ids) == 1)
    return exits.exit_code(refused[0].code) if refused else OK


def _print(context: Context, done: list[dict[str, Any]], *, alone: bool) -> None:
    if context.json:
        output.print_json(done[0] if alone and done else {"items": done})
    else:
        output.print_table(_TITLES, ((*columns(m), m.get("review_reason")) for m in done))


def _waiting(client: Client, repo: str | None, project: str | None) -> Iterator[dict[str, Any]]:
    asked: dict[str, object] = {}
    if project is not None:
        asked["project_id"] = get_project(client, project, repo)["id"]
    elif repo is not None:
        asked["repo"] = get_repository(client, repo)
    yield from pages(client, Request("GET", path("review"), asked))
