"""``audit list``: who changed what. Apart from ``audit verify``, which imports the databases."""

from itertools import islice

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, pages, path
from codeflow_memory.cli.context import Context


@click.command("list")
@click.option("--batch", metavar="BATCH", help="Only of this batch.")
@click.option("--item", metavar="ID", help="Only of this memory, token or the like.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), default=50, show_default=True, help="At most."
)
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_changes(
    context: Context, batch: str | None, item: str | None, limit: int, *, jsonl: bool
) -> None:
    """List changes of what you see, newest first; alone, `audit` does so too."""
    asked = Request("GET", path("audit"), {"batch": batch, "item": item})
    with connected(context) as client:
        rows = list(islice(pages(client, asked), limit))
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(_TITLES, ([row[name] for name in _COLUMNS] for row in rows))


_COLUMNS = ("at", "action", "item", "to_revision", "to_status", "principal", "batch_id")
_TITLES = ("AT", "ACTION", "ITEM", "REV", "STATUS", "BY", "BATCH")
