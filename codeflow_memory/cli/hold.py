"""``retention hold``: what no deletion may take."""

from collections.abc import Callable
from typing import Any

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.retention import tenant_option
from codeflow_memory.domain.hold import Hold
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import holds
from codeflow_memory.services.holds import Target
from codeflow_memory.services.mutation import Operation

_TITLES = ("MEMORY", "PROJECT", "REPOSITORY", "REASON", "PLACED BY", "PLACED AT")


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what names the target of a hold."""
    for option in (
        click.option("--repo", "--repository", "repo", metavar="KEY", help="The project's."),
        click.option("--project", metavar="ID|SLUG", help="A whole project, not one memory."),
        click.argument("memory", metavar="[ID]", required=False),
    ):
        command = option(command)
    return command


@click.command("add")
@target_options
@click.option("--reason", required=True, metavar="TEXT", help="For people; a line of text.")
@tenant_option
@click.option("--dry-run", is_flag=True, help="Check the options, and hold nothing.")
@click.pass_obj
def add(
    context: Context, /, reason: str, tenant: str | None, *, dry_run: bool, **named: str | None
) -> None:
    """Keep a memory, or every memory of a project, from being deleted; role owner."""
    target = _target(**named)
    with stores.opened(context, "retention hold add") as opened:
        access = stores.caller(opened.tenants, context.token, tenant)
        if dry_run:
            output.talk("nothing was held")
            return
        store = opened.tenants.get(access.tenant)
        made = holds.add(store, access, target, reason, Operation(None, ()))
    if context.json:
        output.print_json(_row(made))
    else:
        output.talk(f"{made.memory_id or made.project_id} is held")


@click.command("remove")
@target_options
@tenant_option
@click.option("--dry-run", is_flag=True, help="Check the options, and release nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(
    context: Context, /, tenant: str | None, *, dry_run: bool, yes: bool, **named: str | None
) -> None:
    """Release a hold; what it kept can be deleted again; role owner."""
    target = _target(**named)
    with stores.opened(context, "retention hold remove") as opened:
        access = stores.caller(opened.tenants, context.token, tenant)
        if dry_run:
            output.talk("nothing was released")
            return
        output.confirm("Release the hold?", yes=yes)
        store = opened.tenants.get(access.tenant)
        repository_id, released = holds.remove(store, access, target, Operation(None, ()))
    if context.json:
        output.print_json({"repository_id": repository_id, "released": released})
    else:
        output.talk(f"{released} is released")


@click.command("list")
@tenant_option
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_holds(context: Context, tenant: str | None, *, jsonl: bool) -> None:
    """List the holds; role owner."""
    with stores.opened(context, "retention hold list") as opened:
        access = stores.caller(opened.tenants, context.token, tenant)
        rows = [_row(hold) for hold in holds.list_all(opened.tenants.get(access.tenant), access)]
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        names = ("memory_id", "project_id", "repository_id", "reason", "placed_by", "placed_at")
        output.print_table(_TITLES, ([row[name] for name in names] for row in rows))


def _target(memory: str | None, project: str | None, repo: str | None) -> Target:
    """Return what is named.

    Raises:
        click.UsageError: Neither a memory nor a project, or both.
    """
    if (memory is None) == (project is None):
        raise click.UsageError("name a memory by its id, or a project with --project.")
    if memory is not None and repo is not None:
        raise click.UsageError("a memory's id is enough: leave out --repo.")
    return Target(memory, project, repo)


def _row(hold: Hold) -> dict[str, Any]:
    return hold.fields() | {"placed_at": to_rfc3339(hold.placed_at)}
