"""``doctor``: whether a home or a server is sound; for each thing that is not, what to do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import rich_click as click

from codeflow_memory.cli import machine_checks, output, server_checks
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import FAILED, OK, REVIEW
from codeflow_memory.cli.findings import Check, State
from codeflow_memory.domain.errors import InvalidRequestError

if TYPE_CHECKING:
    from codeflow_memory.storage.home import Home


@click.command("doctor")
@click.option("--all", "every", is_flag=True, help="Recompute every entry, not the last few.")
@click.pass_obj
def doctor(context: Context, *, every: bool) -> int:
    """Check a home, beside a running server too, or a server from outside; nothing is changed.

    Exit with 1 when something is broken, with 7 when something should be looked at.
    """
    if context.url is None:
        found = list(_of_home(_home(context), every=every, token=context.token))
    else:
        found = list(_of_server(context.url, context.token))
    if context.json:
        output.print_json({"checks": [check.fields() for check in found]})
    else:
        rows = ((c.state, c.name, c.detail, c.fix) for c in found)
        output.print_table(("STATE", "CHECK", "FOUND", "FIX"), rows, whole=True)
    states = {check.state for check in found}
    if State.FAULT in states:
        return FAILED
    return REVIEW if State.WARNING in states else OK


def _home(context: Context) -> "Home":
    """Return the home; where its configuration cannot be read, which is a finding, its files."""
    folder = context.folder("doctor")
    try:
        return context.local("doctor")
    except (InvalidRequestError, PermissionError):
        return folder


def _of_server(url: str, token: str | None) -> Iterator[Check]:
    reached = list(server_checks.answers(url))
    yield from reached
    if all(check.state is not State.FAULT for check in reached):
        yield from server_checks.ready(url)
        yield from server_checks.credential(url, token)
    yield from machine_checks.git_program()


def _of_home(home: "Home", *, every: bool, token: str | None) -> Iterator[Check]:
    # Imports what reads databases, which no server's client needs.
    from codeflow_memory.cli import checks  # noqa: PLC0415 - when it is needed

    missing = list(machine_checks.presence(home.path))
    if missing:
        yield from missing
        return
    yield from checks.folder(home)
    usable = list(checks.machine(home))
    yield from usable
    yield from machine_checks.git_program()
    forbidden = any(c.name == "permissions" and c.state is State.FAULT for c in usable)
    if forbidden or machine_checks.is_read_only(home.path):
        # A database is not even read without its lock.
        return
    for check in (checks.modes, checks.ballast, checks.locks, checks.configuration):
        yield from check(home)
    carried = list(checks.engine(home))
    yield from carried
    if any(check.state is State.FAULT for check in carried):
        # Who the tenants are cannot be said either.
        return
    yield from checks.earlier(home)
    yield from checks.key(home)
    yield from checks.document(home)
    yield from checks.databases(home, every=every, token=token)
