"""``audit``: whether the record of every change still is what was written."""

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import FAILED, OK
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.storage import audit


@click.command("verify")
@click.option("--tenant", metavar="SLUG", help="The tenant; `local` by default.")
@click.pass_obj
def verify(context: Context, tenant: str | None) -> int:
    """Check the chain of audit rows from the first to the last."""
    with stores.opened(context, "audit verify") as home:
        access = stores.caller(home.tenants, context.token, tenant)
        accesses.require(access, Role.OWNER, None, "verify the audit")
        store = home.tenants.get(access.tenant)
        with store.engine.read() as tx:
            fault = audit.first_fault(tx, store.keys.audit_hash)
            count, earlier = audit.count(tx), audit.count_earlier(tx)
    answer = {
        "tenant": access.tenant,
        "rows": count,
        "order_only": earlier,
        "sound": fault is None,
        "fault": None if fault is None else {"sequence": fault[0], "detail": fault[1]},
    }
    if context.json:
        output.print_json(answer)
    elif fault is None:
        click.echo(f"{access.tenant or LOCAL}: {count} rows, unbroken")
        if earlier:
            click.echo(f"rows 1 to {earlier} are from an earlier key: checked for order alone")
    else:
        click.echo(f"{access.tenant}: broken at row {fault[0]}: {fault[1]}")
    return OK if fault is None else FAILED
