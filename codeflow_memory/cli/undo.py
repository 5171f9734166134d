"""``undo``: puts back the last changes, or those that are named."""

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, path
from codeflow_memory.cli.context import Context

_BATCH = "bat_"


@click.command("undo")
@click.argument("named", metavar="[ID|BATCH]", required=False)
@click.option("--dry-run", is_flag=True, help="Show what would be undone; change nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts; nothing is asked.")
@click.pass_obj
def undo(
    context: Context,
    named: str | None,
    *,
    dry_run: bool,
    yes: bool,  # noqa: ARG001 - see its help
) -> None:
    """Undo your last batch, a batch, or the last change of a memory; as new revisions.

    What was changed since is told, and nothing is written then.
    """
    body: dict[str, object] = {"dry_run": True} if dry_run else {}
    if named is not None:
        body["batch" if named.startswith(_BATCH) else "item"] = named
    with connected(context) as client:
        done = client.send(Request("POST", path("undo"), body=body))
    if context.json:
        output.print_json(done)
        return
    rows = [(r["memory_id"], r["from_revision"], r["to_revision"] or "") for r in done["reverted"]]
    output.print_table(("ID", "FROM", "TO"), rows)
    output.talk(f"{'would undo' if dry_run else 'undone as'} {done['batch_id']}")
