"""``verify``: whether the files and lines that memories cite still say what they said."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.adapters import git
from codeflow_memory.cli import output
from codeflow_memory.cli.client import Client, Request, connected, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import OK, REVIEW
from codeflow_memory.cli.places import get_clone, get_repository
from codeflow_memory.cli.repository import facts_of
from codeflow_memory.domain.errors import InvalidRequestError

_SUSPECT = frozenset({"changed", "missing"})
_UNKNOWN = "unknown"
_TITLES = ("RESULT", "MEMORY", "CITATION", "NEW PLACE")


@click.command("verify")
@click.option(
    "--repo", "--repository", "folder", metavar="PATH", default=".",
    type=click.Path(path_type=Path), help="A clone; the current folder by default.",
)  # fmt: skip
@click.option("--commit", help="To check against; what is checked out by default.")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def verify(context: Context, folder: Path, commit: str | None, *, jsonl: bool) -> int:
    """Check citations against a commit; exit with 7 when one changed or is missing.

    The same where not one could be checked, as on a server that may not read the repository.
    """
    folder = get_clone(folder)
    head = _commit(folder, commit)
    with _reading(context, folder) as client:
        results = list(_results(client, folder, head, at_home=context.url is None))
    outcomes = {row["result"] for row in results}
    if jsonl:
        output.print_lines(results)
    elif context.json:
        output.print_json({"commit": head, "results": results})
    else:
        output.print_table(
            _TITLES,
            ((r["result"], r["memory_id"], r["citation"], r.get("new_place")) for r in results),
        )
        output.talk(f"{len(results)} citations at {head[:12]}")
    if outcomes == {_UNKNOWN}:
        output.talk(_unchecked(context, head))
        return REVIEW
    return REVIEW if outcomes & _SUSPECT else OK


def _unchecked(context: Context, head: str) -> str:
    """Say why no citation could be checked."""
    if context.url is None:
        return f"nothing could be checked: git cannot read {head[:12]} in this repository"
    return (
        f"nothing could be checked: the server may not read this repository, or has no {head[:12]} "
        "in it; its operator lists a folder above the clone in repositories.roots of config.toml"
    )


def _commit(folder: Path, wanted: str | None) -> str:
    repository = git.open_repository(folder)
    found = repository.head().commit if wanted is None else repository.resolve(wanted)
    if found is None:
        raise InvalidRequestError.at("--commit", "no such commit in this repository")
    return found


@contextmanager
def _reading(context: Context, folder: Path) -> Iterator[Client]:
    """Give the client; at home it may read the folder that the user named."""
    if context.url is not None:
        with connected(context) as client:
            yield client
        return
    # Imports the whole application.
    from codeflow_memory.cli import stores  # noqa: PLC0415 - when it is needed
    from codeflow_memory.cli.local import LocalClient  # noqa: PLC0415 - when it is needed

    top = git.open_repository(folder).facts().toplevel
    with (
        stores.opened(context, "verify", roots=(top,)) as home,
        LocalClient.of(home, context.token) as client,
    ):
        yield client


def _results(
    client: Client, folder: Path, commit: str, *, at_home: bool
) -> Iterator[dict[str, Any]]:
    """Check every project of the repository."""
    found = get_repository(client, str(folder))
    if at_home:
        # This clone becomes known by its path, so that it may be read.
        given = {name: value for name, value in facts_of(folder).items() if value}
        client.send(Request("POST", path("repositories"), body=given))
    for project in pages(client, Request("GET", path("projects"), {"repo": found})):
        where = path("projects", project["id"], "memory", "verify")
        yield from client.send(Request("POST", where, body={"commit": commit}))["results"]
