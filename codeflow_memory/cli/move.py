"""``tenant move``: take a tenant to another engine or home."""

from collections.abc import Mapping

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context, checked_server, home_folder
from codeflow_memory.cli.exits import StandsError
from codeflow_memory.cli.tenant import require_owner
from codeflow_memory.storage.home import Home, check_slug


@click.command("move")
@click.argument("slug")
@click.option(
    "--to", required=True, metavar="URL|DIR", help="postgresql://…, or a home whose files it gets."
)
@click.option("--dry-run", is_flag=True, help="See whether it can be moved, and copy nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def move(context: Context, slug: str, to: str, *, dry_run: bool, yes: bool) -> None:
    """Move a tenant between files and PostgreSQL, or to another home.

    It is copied and compared row by row; what is served stays as it is until that is confirmed.
    Then the source is put aside and kept. A move that was cut off goes on when it is run again; one
    that was done is told as done. A server of a home whose files are in play has to be stopped.
    """
    check_slug(slug)
    home = context.local("tenant move")
    with stores.opened(context, "tenant move") as used:
        require_owner(used.tenants, context.token)
    # Its parts are needed once in the life of a tenant.
    from codeflow_memory.services import moving  # noqa: PLC0415 - when it is needed

    there = _target(home, to)
    done = moving.find_done(home, there, slug)
    if done is not None:
        output.talk("it is there: an earlier run moved it")
        _tell(context, {"tenant": slug, "to": done, "moved": True, "kept": None})
        return
    with moving.opened(home, there, slug, dry_run=dry_run) as held:
        if dry_run:
            _tell(context, {"tenant": slug, "to": held.target.address, "moved": False})
            return
        kept: str | None = None
        if held.cut_off:
            moving.finish(held)
        else:
            prepared = moving.prepare(held, output.watching())
            output.talk(
                "copied, and every row compared"
                if prepared.anew
                else "the copy of an earlier run is still the same"
            )
            output.confirm(f"Serve {slug} from there, and put what is here aside?", yes=yes)
            kept = moving.confirm(held, prepared)
            if kept is None:
                raise StandsError(
                    f"{slug} was written to since it was copied: run it again; it is copied anew"
                )
        place = held.target.address
    _tell(context, {"tenant": slug, "to": place, "moved": True, "kept": kept})


def _target(home: Home, to: str) -> Home:
    if "://" in to:
        return Home(home.path, checked_server(to))
    return Home(home_folder(to))


def _tell(context: Context, fields: Mapping[str, object]) -> None:
    if context.json:
        output.print_json(fields)
        return
    output.print_fields(dict(fields))
    if fields.get("kept"):
        output.talk(
            f"{fields['kept']} holds what was moved, and what is deleted from now on; a server"
            " that runs there removes it after seven days"
        )
