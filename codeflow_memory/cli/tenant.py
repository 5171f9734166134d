"""``tenant``: make and list the tenants of a local home."""

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import StandsError
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import check_slug


@click.command("create")
@click.argument("slug")
@click.option("--dry-run", is_flag=True, help="Check, and make nothing.")
@click.pass_obj
def create(context: Context, slug: str, *, dry_run: bool) -> None:
    """Make a tenant with its first owner."""
    check_slug(slug)
    with stores.opened(context, "tenant create", making=True) as home:
        _require_owner(home.tenants, context.token)
        if home.tenants.exists(slug):
            raise StandsError(f"the tenant {slug} exists already")
        if not dry_run:
            home.tenants.create(slug)
    if context.json:
        output.print_json({"tenant": slug, "created": not dry_run})
    else:
        output.talk(f"tenant {slug} {'can be' if dry_run else 'is'} made")


@click.command("list")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_tenants(context: Context, *, jsonl: bool) -> None:
    """List the tenants of the home."""
    with stores.opened(context, "tenant list") as home:
        _require_owner(home.tenants, context.token)
        rows = [{"tenant": slug} for slug in home.tenants.slugs()]
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(("TENANT",), ((row["tenant"],) for row in rows))


def _require_owner(tenants: Tenants, token: str | None) -> None:
    """Let who owns the home's files, or the tenant `local`, go on.

    Raises:
        ForbiddenError: The given token is no owner's.
    """
    if token is None:
        return
    access = stores.caller(tenants, token)
    if access.tenant != "local" or not access.may(Role.OWNER, None):
        raise ForbiddenError("tenants are for an owner of the tenant local")
