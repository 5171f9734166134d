"""``undo``: puts back the last changes, or those that are named."""

import rich_click as click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Request, connected, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import Refusal

_BATCH = "bat_"


@click.command("undo")
@click.argument("named", metavar="[ID|BATCH]", required=False)
@click.option("--dry-run", is_flag=True, help="Let the server check it, and change nothing.")
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
        try:
            done = client.send(Request("POST", path("undo"), body=body))
        except Refusal as refusal:
            _tell_later(context, refusal)
            raise
    if context.json:
        output.print_json(done)
        return
    rows = [(r["memory_id"], r["from_revision"], r["to_revision"] or "") for r in done["reverted"]]
    output.print_table(("ID", "FROM", "TO"), rows)
    output.talk(f"{'would undo' if dry_run else 'undone as'} {done['batch_id']}")


def _tell_later(context: Context, refusal: Refusal) -> None:
    """Print the changes that are in the way, where there are any."""
    later = refusal.facts.get("later_changes")
    if not isinstance(later, list):
        return
    if context.json:
        output.print_json({"later_changes": later})
        return
    rows = [
        [change[name] for name in ("memory_id", "revision", "action", "at")] for change in later
    ]
    output.print_table(("ID", "REV", "ACTION", "AT"), rows)
