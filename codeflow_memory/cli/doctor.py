"""``doctor``: whether a home is sound; for each thing that is not, what to do."""

from collections.abc import Callable, Iterator

import rich_click as click

from codeflow_memory.cli import checks, output
from codeflow_memory.cli.checks import Check, State
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import FAILED, OK, REVIEW
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.storage.home import Home

_HOME: tuple[Callable[[Home], Iterator[Check]], ...] = (
    checks.folder,
    checks.modes,
    checks.ballast,
    checks.locks,
    checks.configuration,
    checks.git_program,
)


@click.command("doctor")
@click.option("--all", "every", is_flag=True, help="Recompute every entry, not the last few.")
@click.pass_obj
def doctor(context: Context, *, every: bool) -> int:
    """Check a home, beside a running server too; nothing is changed.

    Exit with 1 when something is broken, with 7 when something should be looked at.
    """
    found = list(_found(_home(context), every=every))
    if context.json:
        output.print_json({"checks": [check.fields() for check in found]})
    else:
        rows = ((c.state, c.name, c.detail, c.fix) for c in found)
        output.print_table(("STATE", "CHECK", "FOUND", "FIX"), rows, whole=True)
    states = {check.state for check in found}
    if State.FAULT in states:
        return FAILED
    return REVIEW if State.WARNING in states else OK


def _home(context: Context) -> Home:
    """Return the home; where its configuration cannot be read, which is a finding, its files."""
    folder = context.folder("doctor")
    try:
        return context.local("doctor")
    except InvalidRequestError:
        return folder


def _found(home: Home, *, every: bool) -> Iterator[Check]:
    if not home.path.is_dir():
        detail = f"{home.path} is no folder"
        yield Check("home", State.FAULT, detail, "make it with `codeflow-memory up`")
        return
    for check in _HOME:
        yield from check(home)
    carried = list(checks.engine(home))
    yield from carried
    if any(check.state is State.FAULT for check in carried):
        # Who the tenants are cannot be said either.
        return
    yield from checks.earlier(home)
    yield from checks.key(home)
    yield from checks.document(home)
    yield from checks.databases(home, every=every)
