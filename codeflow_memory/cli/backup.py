"""``backup``: the command ``codeflow-backup``, which shares no code with the server.

It knows files alone: what a database server has is laid out as files for it, or taken in from them.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from codeflow_memory.cli import output
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import NotThereError, StandsError
from codeflow_memory.storage.home import Home


class _Passed(click.Command):
    """A command that leaves every argument to another program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all of *args* as they are, options too."""
        ctx.args = list(args)
        return []


@dataclass(frozen=True, slots=True)
class _Words:
    """A command line of ``codeflow-backup``, as far as this program has to know it.

    Args:
        home: Of ``--home``.
        database: Of ``--database``, which the other program does not have.
        tenant: Of ``--tenant``.
        replace: Whether what stands may be replaced.
        discard_previous: Whether what was replaced is removed.
        json: Whether JSON is printed.
        others: The rest, in its order: first the command.
    """

    home: str | None
    database: str | None
    tenant: str | None
    replace: bool
    discard_previous: bool
    json: bool
    others: tuple[str, ...]


@click.command("backup", cls=_Passed, add_help_option=False)
@click.pass_context
def backup(ctx: click.Context) -> int:
    """Run codeflow-backup with these arguments: `backup create`, `backup restore` and the others.

    With --database postgresql://… `create` and `restore` are of the tenants there. See
    `codeflow-memory backup --help`.
    """
    context: Context = ctx.obj
    words = _parsed(ctx.args)
    if words.database is not None:
        context.choose("database", words.database)
    if words.home is not None:
        context.choose("home", words.home)
    home = context.home
    if home is not None:
        os.environ["CODEFLOW_HOME"] = str(home.path)
    command = next(iter(words.others), "")
    if home is None or home.server is None or command not in {"create", "restore"}:
        _become(ctx.args if words.database is None else _without_database(words))
    # As Ctrl-C: what lies in the home for a while is taken away before the program ends.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if command == "create":
        return _create(home, words)
    return _restore(home, words, as_json=context.json or words.json)


def _create(home: Home, words: _Words) -> int:
    # Opens databases, which no other command of the backup does.
    from codeflow_memory.services import backups  # noqa: PLC0415 - when it is needed

    if not home.path.is_dir():
        raise NotThereError(f"there is no home {home.path}")
    with backups.laid_out(home, words.tenant, output.watching()) as folder:
        more = [] if words.tenant is None else ["--tenant", words.tenant]
        more += ["--json"] if words.json else []
        sys.stdout.flush()
        return _run(folder.home, [*words.others, *more], folder.lock).returncode


def _restore(home: Home, words: _Words, *, as_json: bool) -> int:
    from codeflow_memory.services import backups, restoration  # noqa: PLC0415 - when it is needed
    from codeflow_memory.storage import staging  # noqa: PLC0415 - as above

    home.make()
    fields: dict[str, Any] = {"home": str(home.path)}
    with home.exclusive():
        restoration.resume(home)
        if words.others[1:]:
            with staging.folder(home, staging.INCOMING) as folder:
                done = _run(folder.home, [*words.others, "--json"], folder.lock, kept=True)
                if done.returncode != 0:
                    return done.returncode
                hindrance = backups.find_hindrance(home, folder.home)
                if hindrance is not None and not words.replace:
                    raise StandsError(hindrance)
                tenants = backups.take_in(home, folder.home, output.watching())
            fields |= json.loads(done.stdout) | fields | {"tenants": list(tenants), "undo": ""}
        elif not words.discard_previous:
            raise click.UsageError("name the backup to restore.")
        if words.discard_previous:
            fields["discarded"] = restoration.discard_all(home)
    if as_json:
        output.print_json(fields)
    else:
        output.print_fields(fields)
    return 0


def _parsed(arguments: Sequence[str]) -> _Words:
    """Read what concerns this program, and leave the rest in its order."""
    options = [
        click.Option(["--home"]),
        click.Option(["--database"]),
        click.Option(["--tenant"]),
        click.Option(["--replace"], is_flag=True),
        click.Option(["--discard-previous"], is_flag=True),
        click.Option(["--json"], is_flag=True),
    ]
    lenient = {"ignore_unknown_options": True, "allow_extra_args": True}
    command = click.Command(
        "backup", params=list(options), context_settings=lenient, add_help_option=False
    )
    # Resilient: what is wrong with them, the other program says.
    found = command.make_context("backup", list(arguments), resilient_parsing=True)
    return _Words(**found.params, others=tuple(found.args))


def _without_database(words: _Words) -> list[str]:
    given = {"--home": words.home, "--tenant": words.tenant}
    flags = {
        "--replace": words.replace,
        "--discard-previous": words.discard_previous,
        "--json": words.json,
    }
    told = [part for name, value in given.items() if value is not None for part in (name, value)]
    return [*words.others, *told, *(name for name, is_set in flags.items() if is_set)]


def _program() -> list[str]:
    isolated = ["-I"] if sys.flags.isolated else []
    return [sys.executable, *isolated, "-m", "codeflow_backup"]


def _run(
    folder: Home, arguments: Sequence[str], lock: int, *, kept: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run it on a folder; it shares the lock, so that nobody sweeps the folder away under it."""
    return subprocess.run(  # noqa: S603 - this interpreter, no shell
        [*_program(), *arguments, "--home", str(folder.path)],
        stdout=subprocess.PIPE if kept else None,
        text=True,
        pass_fds=(lock,),
        check=False,
    )


def _become(arguments: Sequence[str]) -> NoReturn:
    """Go on as the other program, so that its exit code and signals are its own."""
    sys.stdout.flush()
    program = _program()
    os.execv(program[0], [*program, *arguments])  # noqa: S606 - this interpreter, no shell
