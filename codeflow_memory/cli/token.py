"""``token``: make, list and revoke bearer tokens; a local home needs no running server for it."""

from collections.abc import Iterator
from typing import Any

import rich_click as click

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.cli import output
from codeflow_memory.cli.client import RemoteClient, Request, pages, path
from codeflow_memory.cli.context import Context
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.domain.times import to_rfc3339

_PAGE = 100
ROLES = tuple(str(role) for role in Role)
_ADMIN = path("admin", "tokens")
_TITLES = ("ID", "PRINCIPAL", "KIND", "ROLES", "EXPIRES", "REVOKED", "LAST USED")

tenant_option = click.option("--tenant", metavar="SLUG", help="The tenant; `local` by default.")


@click.command("create")
@tenant_option
@click.option("--principal", required=True, metavar="NAME", help="Whom it acts for; made if new.")
@click.option("--kind", type=click.Choice(["user", "agent"]), help="Of a principal that is new.")
@click.option(
    "--role", required=True, type=click.Choice([str(role) for role in Role]), help="What it may do."
)
@click.option("--repository", "--repo", metavar="KEY", help="The one repository that it is for.")
@click.option("--ttl", metavar="TIME", help="Seconds, or 30m, 12h, 7d; without it no end.")
@click.option("--background", is_flag=True, help="It can write background sessions only.")
@click.option("--dry-run", is_flag=True, help="Check, and make nothing.")
@click.pass_obj
def create(context: Context, /, tenant: str | None, *, dry_run: bool, **wanted: Any) -> None:  # noqa: ANN401 - the options
    """Make a token; it is shown this once."""
    if wanted["ttl"] is not None:
        _check_ttl(wanted["ttl"])
    if dry_run:
        output.talk("nothing was made")
        return
    if context.url is not None:
        made = _create_remote(context, tenant, wanted)
    else:
        made = _create_local(context, tenant, wanted)
    if context.json:
        output.print_json(made)
    else:
        click.echo(made["token"])
        output.talk(f"{made['name']} until {made['expires_at'] or 'it is revoked'}")


@click.command("list")
@tenant_option
@click.option("--principal", metavar="NAME", help="Only those of one principal.")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def list_tokens(
    context: Context, tenant: str | None, principal: str | None, *, jsonl: bool
) -> None:
    """List tokens, without their secrets."""
    rows = _rows(context, tenant, principal)
    if jsonl:
        output.print_lines(rows)
    elif context.json:
        output.print_json({"items": list(rows), "next_cursor": None})
    else:
        output.print_table(_TITLES, (_columns(row) for row in rows))


@click.command("revoke")
@tenant_option
@click.argument("token_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Change nothing.")
@click.pass_obj
def revoke(
    context: Context, tenant: str | None, token_id: str, *, yes: bool, dry_run: bool
) -> None:
    """Revoke a token, by its id or by itself; it names nobody from then on."""
    parts = parse_token(token_id)
    token_id = token_id if parts is None else parts.token_id
    if dry_run:
        output.talk(f"{token_id} would be revoked")
        return
    output.confirm(f"Revoke {token_id}?", yes=yes)
    if context.url is not None:
        _same_tenant(context, tenant)
        client = RemoteClient(context.url, context.token)
        row = client.send(Request("DELETE", path("admin", "tokens", token_id)))
    else:
        row = _revoke_local(context, tenant, token_id)
    if context.json:
        output.print_json(row)
    else:
        output.talk(f"{row['id']} is revoked")


def _create_local(context: Context, tenant: str | None, wanted: dict[str, Any]) -> dict[str, Any]:
    from codeflow_memory.cli import stores  # noqa: PLC0415 - opens databases
    from codeflow_memory.services import tokens  # noqa: PLC0415 - when it is needed
    from codeflow_memory.services.mutation import Operation  # noqa: PLC0415 - when it is needed

    ttl = wanted["ttl"]
    new = tokens.NewToken(
        principal=wanted["principal"],
        kind=wanted["kind"],
        role=Role(wanted["role"]),
        repo=wanted["repository"],
        ttl_seconds=None if ttl is None else tokens.parse_ttl("--ttl", ttl),
        background=wanted["background"],
    )
    with stores.opened(context, "token create", making=True) as home:
        access = stores.caller(home.tenants, context.token, tenant)
        store = home.tenants.get(access.tenant)
        issued = tokens.create(store, access, new, Operation(None, ("token create",)))
    return _made(_row(issued))


def _create_remote(context: Context, tenant: str | None, wanted: dict[str, Any]) -> dict[str, Any]:
    _same_tenant(context, tenant)
    client = RemoteClient(str(context.url), context.token)
    body = {name: value for name, value in wanted.items() if value is not None}
    return _made(client.send(Request("POST", _ADMIN, body=body)))


def _revoke_local(context: Context, tenant: str | None, token_id: str) -> dict[str, Any]:
    from codeflow_memory.cli import stores  # noqa: PLC0415 - opens databases
    from codeflow_memory.services import tokens  # noqa: PLC0415 - when it is needed
    from codeflow_memory.services.mutation import Operation  # noqa: PLC0415 - when it is needed

    with stores.opened(context, "token revoke") as home:
        access = stores.caller(home.tenants, context.token, tenant)
        store = home.tenants.get(access.tenant)
        gone = tokens.revoke(store, access, token_id, Operation(None, ("token revoke",)))
    return _row(gone)


def _rows(context: Context, tenant: str | None, principal: str | None) -> Iterator[dict[str, Any]]:
    if context.url is not None:
        _same_tenant(context, tenant)
        client = RemoteClient(context.url, context.token)
        yield from pages(client, Request("GET", _ADMIN, {"principal": principal}))
        return
    from codeflow_memory.cli import stores  # noqa: PLC0415 - opens databases
    from codeflow_memory.services import tokens  # noqa: PLC0415 - when it is needed

    with stores.opened(context, "token list") as home:
        access = stores.caller(home.tenants, context.token, tenant)
        store, after = home.tenants.get(access.tenant), None
        while True:
            page = tokens.page(store, access, principal=principal, after=after, limit=_PAGE)
            yield from (_row(issued) for issued in page.items)
            after = page.after
            if after is None:
                return


def _same_tenant(context: Context, tenant: str | None) -> None:
    """Refuse another tenant than the token's: no server answers for two with one token.

    Raises:
        NotFoundError: As for a tenant that is not there.
    """
    parts = parse_token(context.token or "")
    if tenant is not None and parts is not None and parts.tenant != tenant:
        raise NotFoundError("tenant", tenant)


def _check_ttl(text: str) -> None:
    from codeflow_memory.services.tokens import parse_ttl  # noqa: PLC0415 - the store's libraries

    try:
        parse_ttl("--ttl", text)
    except InvalidRequestError as error:
        raise click.UsageError(f"{error}.") from None


def _row(issued: Any) -> dict[str, Any]:  # noqa: ANN401 - `services.tokens.Issued`, imported late
    """Write a token as the server does."""
    row = issued.token
    times = {
        name: None if at is None else to_rfc3339(at)
        for name, at in (
            ("created_at", row.created_at),
            ("expires_at", row.expires_at),
            ("revoked_at", row.revoked_at),
            ("last_used_at", row.last_used_at),
        )
    }
    return {
        "id": row.token_id,
        "token": issued.text,
        "principal": row.principal_id,
        "name": issued.principal.name,
        "kind": issued.principal.kind,
        "roles": [{"role": str(r.role), "repository_id": r.repository_id} for r in issued.roles],
        "background": row.background,
        "run_id": row.run_id,
        **times,
    }


def _made(row: dict[str, Any]) -> dict[str, Any]:
    """Keep what the maker of a token needs; ``principal`` is the id that answers show."""
    return {
        "token": row["token"],
        "principal": row["principal"],
        "expires_at": row["expires_at"],
        "id": row["id"],
        "name": row["name"],
    }


def _columns(row: dict[str, Any]) -> tuple[object, ...]:
    roles = ", ".join(
        r["role"] + (f" of {r['repository_id']}" if r["repository_id"] else "")
        for r in row["roles"]
    )
    return (
        row["id"], row["name"], row["kind"], roles, row["expires_at"], row["revoked_at"],
        row["last_used_at"],
    )  # fmt: skip
