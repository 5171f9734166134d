"""``tenant``: make and list the tenants of a local home."""

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import NotThereError, StandsError
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.settings import load
from codeflow_memory.storage.home import check_slug


@click.command("create")
@click.argument("slug")
@click.option("--dry-run", is_flag=True, help="Check, and make nothing.")
@click.pass_obj
def create(context: Context, slug: str, *, dry_run: bool) -> None:
    """Make a tenant with its first owner."""
    check_slug(slug)
    with stores.opened(context, "tenant create", making=True) as home:
        require_owner(home.tenants, context.token)
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
        require_owner(home.tenants, context.token)
        rows = [{"tenant": slug} for slug in home.tenants.slugs()]
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": rows, "next_cursor": None})
    else:
        output.print_table(("TENANT",), ((row["tenant"],) for row in rows))


@click.command("rekey")
@click.pass_obj
def rekey(context: Context) -> None:
    """Bring every tenant of a PostgreSQL database under this home's key: all tokens end.

    No server may use the database meanwhile. Files in a home come under its key by themselves.
    """
    home = context.local("tenant rekey")
    if not home.path.is_dir():
        raise NotThereError(f"there is no home {home.path}")
    with home.exclusive():
        tenants = stores.tenants_of(home, load(home.path), rekeying=True)
        try:
            slugs = tenants.slugs()
            for slug in slugs:
                tenants.get(slug)
        finally:
            stores.close(tenants)
    if context.json:
        output.print_json({"tenants": slugs})
    else:
        output.talk(f"under this home's key: {', '.join(slugs) or 'no tenant'}")


def require_owner(tenants: Tenants, token: str | None) -> None:
    """Let who owns the home's files, or the tenant `local`, go on.

    Raises:
        ForbiddenError: The given token is no owner's.
    """
    if token is None:
        return
    access = stores.caller(tenants, token)
    if access.tenant != "local" or not access.may(Role.OWNER, None):
        raise ForbiddenError("tenants are for an owner of the tenant local")
