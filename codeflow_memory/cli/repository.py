"""``repo``: register repositories, see and set how they are reviewed, merge them."""

from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.adapters import git
from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.places import get_clone, get_repository

_TITLES = ("ID", "NAME", "IDENTIFIED BY", "REV", "APPROVALS", "CODEOWNERS")
_SETTINGS = ("required_approvals", "codeowners", "allow_own_approval", "capture")


@click.command("list")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_repositories(context: Context, *, jsonl: bool) -> None:
    """List the repositories that you see."""
    with connected(context) as client:
        rows = list(pages(client, Request("GET", path("repositories"))))
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(_TITLES, (_columns(row) for row in rows))


@click.command("register")
@click.argument("folder", metavar="[PATH]", default=".", type=click.Path(path_type=Path))
@click.option("--key", help="What you call it, wherever it is cloned.")
@click.option("--name", help="For people.")
@click.option("--dry-run", is_flag=True, help="Show what identifies it, and register nothing.")
@click.pass_obj
def register(
    context: Context, folder: Path, key: str | None, name: str | None, *, dry_run: bool
) -> None:
    """Register the repository at PATH, or add this clone's facts to the registered one."""
    body = {**facts_of(folder), "key": key, "name": name}
    given = {field: value for field, value in body.items() if value}
    if dry_run:
        output.print_json(given)
        return
    with connected(context) as client:
        row = client.send(Request("POST", path("repositories"), body=given))
    _print(context, row)


@click.command("show")
@click.argument("repo", metavar="[KEY|PATH]", required=False)
@click.pass_obj
def show(context: Context, repo: str | None) -> None:
    """Show a repository, by default that of the current folder."""
    with connected(context) as client:
        found = get_repository(client, repo)
        row = client.send(Request("GET", path("repositories", found)))
    _print(context, row)


@click.command("settings")
@click.argument("repo", metavar="[KEY|PATH]", required=False)
@click.option("--required-approvals", type=click.IntRange(1, 16), help="Of a project's proposals.")
@click.option("--codeowners/--no-codeowners", default=None, help="Owners approve owned paths.")
@click.option(
    "--own-approval/--no-own-approval", "allow_own_approval", default=None,
    help="Whether a reviewer may approve what is their own.",
)  # fmt: skip
@click.option("--capture/--no-capture", default=None, help="Whether hooks may capture.")
@click.option("--revision", type=click.IntRange(1), help="Refuse when it is at another one.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.pass_obj
def settings(
    context: Context,
    /,
    repo: str | None,
    revision: int | None,
    *,
    dry_run: bool,
    **given: Any,  # noqa: ANN401 - the options
) -> None:
    """Show how a repository is reviewed, or change it."""
    body = {name: value for name, value in given.items() if value is not None}
    with connected(context) as client:
        row = client.send(Request("GET", path("repositories", get_repository(client, repo))))
        if body and dry_run:
            row |= body
        elif body:
            where = path("repositories", row["id"])
            base = revision or row["revision"]
            row = client.send(Request("PATCH", where, body=body, revision=base))
    if context.json:
        output.print_json(row)
    else:
        output.print_fields({name: row[name] for name in _SETTINGS})


@click.command("merge")
@click.argument("repo", metavar="KEY|PATH")
@click.option("--into", required=True, metavar="KEY|PATH", help="What it becomes part of.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.pass_obj
def merge(context: Context, repo: str, into: str, *, yes: bool, dry_run: bool) -> None:
    """Make one repository part of another; this cannot be taken back."""
    with connected(context) as client:
        source, target = get_repository(client, repo), get_repository(client, into)
        if dry_run:
            output.talk(f"{source} would become part of {target}")
            return
        output.confirm(f"Make {source} part of {target}?", yes=yes)
        body = {"into": target}
        row = client.send(Request("POST", path("repositories", source, "merge"), body=body))
    _print(context, row)


def facts_of(folder: Path) -> dict[str, Any]:
    """Return what the clone at *folder* says of itself, as a registration takes it.

    Raises:
        NotThereError: There is no repository.
    """
    facts = git.open_repository(get_clone(folder)).facts()
    return {
        "remote": facts.remote,
        "root_commit": facts.root_commits[0] if facts.root_commits else None,
        "common_dir": str(facts.common_dir),
        "paths": [str(facts.toplevel)],
    }


def _print(context: Context, row: dict[str, Any]) -> None:
    if context.json:
        output.print_json(row)
        return
    aliases = row["aliases"]
    output.print_fields({k: v for k, v in row.items() if k != "aliases"} | aliases)


def _columns(row: dict[str, Any]) -> tuple[object, ...]:
    return (
        row["id"], row["name"], row["identified_by"], row["revision"],
        row["required_approvals"], "on" if row["codeowners"] else "off",
    )  # fmt: skip
