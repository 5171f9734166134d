"""``backup``: the command ``codeflow-backup``, which shares no code with the server."""

import os
import sys

import click

from codeflow_memory.cli.context import Context


class _Passed(click.Command):
    """A command that leaves every argument to another program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all of *args* as they are, options too."""
        ctx.args = list(args)
        return []


@click.command("backup", cls=_Passed, add_help_option=False)
@click.pass_context
def backup(ctx: click.Context) -> None:
    """Run codeflow-backup with these arguments: `backup create`, `backup restore` and the others.

    See `codeflow-memory backup --help`.
    """
    context: Context = ctx.obj
    home = context.home
    if home is not None:
        os.environ["CODEFLOW_HOME"] = str(home.path)
    sys.stdout.flush()
    isolated = ["-I"] if sys.flags.isolated else []
    # In the place of this process, so that its exit code and signals are the other's own.
    os.execv(  # noqa: S606 - this interpreter, no shell
        sys.executable, [sys.executable, *isolated, "-m", "codeflow_backup", *ctx.args]
    )
