"""``erase``: a principal's own data goes, and what the team shares names it no more."""

from typing import Any

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.retention import tenant_option
from codeflow_memory.domain.erasure import Erasure
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import erasure


@click.command("erase")
@click.option("--principal", required=True, metavar="NAME|ID", help="Whose data.")
@tenant_option
@click.option("--dry-run", is_flag=True, help="Count what there is, and erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def erase(
    context: Context, principal: str, tenant: str | None, *, dry_run: bool, yes: bool
) -> None:
    """Erase a principal for good, and print the receipt; role owner.

    Its private memories, secrets, selections and tokens go. Shared memories, approvals and feedback
    stay under a pseudonym. One that was cut off is brought to its end by asking again.
    """
    with stores.opened(context, "erase") as opened:
        access = stores.caller(opened.tenants, context.token, tenant)
        store = opened.tenants.get(access.tenant)
        counts = erasure.preview(store, access, principal)
        if dry_run:
            _tell(context, {"counts": counts, "dry_run": True})
            return
        output.confirm("Erase the principal for good?", yes=yes)
        done = erasure.run(store, access, principal)
    _tell(context, _fields(done))


def _fields(done: Erasure) -> dict[str, Any]:
    return {
        "id": done.erasure_id,
        "pseudonym": done.pseudonym_id,
        "erased_by": done.erased_by,
        "begun_at": to_rfc3339(done.begun_at),
        "erased_at": None if done.erased_at is None else to_rfc3339(done.erased_at),
        "counts": dict(done.counts),
    }


def _tell(context: Context, fields: dict[str, Any]) -> None:
    if context.json:
        output.print_json(fields)
        return
    output.print_fields({k: v for k, v in fields.items() if k != "counts"} | fields["counts"])
