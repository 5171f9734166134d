"""``audit verify``: whether the record of every change still is what was written."""

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import FAILED, OK
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import access as accesses
from codeflow_memory.services import audits, checkpoints
from codeflow_memory.services.checkpoints import Report


@click.command("verify")
@click.option("--tenant", metavar="SLUG", help="The tenant; `local` by default.")
@click.pass_obj
def verify(context: Context, tenant: str | None) -> int:
    """Check the chain of audit rows from the first to the last, and the checkpoints of it.

    Rows that are younger than the last checkpoint could be cut off unseen; how many there are is
    said.
    """
    with stores.opened(context, "audit verify") as home:
        access = stores.caller(home.tenants, context.token, tenant)
        accesses.require(access, Role.OWNER, None, "verify the audit")
        report = checkpoints.verify(home.tenants.get(access.tenant))
    if context.json:
        output.print_json({"tenant": access.tenant, **audits.describe(report)})
    else:
        for line in told(report):
            click.echo(f"{access.tenant or LOCAL}: {line}")
    return OK if report.sound else FAILED


def told(report: Report) -> list[str]:
    """Say in sentences what was found: first whether it is sound."""
    lines = [] if report.sound else faults(report)
    if report.sound:
        lines.append(f"{report.rows} rows, unbroken; {report.checkpoints} checkpoints agree")
    if report.order_only:
        lines.append(f"rows 1 to {report.order_only} are from an earlier key: checked for order")
    if report.last_at is None:
        lines.append("no checkpoint yet: rows cut off at the end would not be seen")
    else:
        lines.append(
            f"{report.rows_since} rows are younger than the last checkpoint,"
            f" of {to_rfc3339(report.last_at)}"
        )
    if report.torn:
        lines.append(
            "the last line of the checkpoints was never finished; the next one replaces it"
        )
    return lines


def faults(report: Report) -> list[str]:
    """Say what is broken: in the chain, then in the checkpoints."""
    lines = []
    if report.broken is not None:
        lines.append(f"broken at row {report.broken[0]}: {report.broken[1]}")
    found = report.disagreement
    if found is not None:
        where = "checkpoints" if found.number is None else f"checkpoint {found.number}"
        lines.append(f"{where}: {found.detail}")
    return lines
