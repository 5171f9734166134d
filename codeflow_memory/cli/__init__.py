"""The ``codeflow-memory`` command: data on stdout, talk on stderr, exit codes of `exits`.

A command's module is imported when the command is called, so that light commands stay light.
"""

import gc
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from codeflow_memory.cli import concealment, exits
from codeflow_memory.cli.exits import Refusal, UnreachableError
from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError

PROGRAM = "codeflow-memory"

_COLLECT_AFTER = 50_000
"""New objects, in place of 700."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no refusal shows a traceback."""
    if argv is None:
        concealment.conceal()
    # What a command imports stays: looking through it for garbage took a tenth of a start.
    gc.set_threshold(_COLLECT_AFTER)
    # Whatever is made on the way, of the home or beside it, is its owner's alone.
    os.umask(0o077)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        _escape_unencodable(stream)
    try:
        return _run(argv)
    except BrokenPipeError:
        return _forget_stdout()
    except (CodeflowError, Refusal, UnreachableError, click.ClickException, OSError) as error:
        sentence, code, exit_code = _described(error)
    except (click.Abort, KeyboardInterrupt):
        sentence, code, exit_code = "stopped", "interrupted", exits.INTERRUPTED
    # One line, whatever the sentence holds.
    click.echo(f"{PROGRAM}: {' '.join(sentence.split())} [{code}]", err=True)
    return exit_code


def _run(argv: Sequence[str] | None) -> int:
    from codeflow_memory.cli.commands import root  # noqa: PLC0415 - its errors are told below

    arguments = list(sys.argv[1:] if argv is None else argv)
    for argument in arguments:
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in argument):
            # Bytes of the shell that are no UTF-8 arrive as halves of pairs, and no file or answer
            # could hold them; no file's name holds a NUL.
            raise click.UsageError("arguments must be UTF-8 text without NUL")
    result = root.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    sys.stdout.flush()
    return result if isinstance(result, int) else exits.OK


def _described(error: Exception) -> tuple[str, str, int]:
    """Return what to say of a refusal, its stable word and the exit code."""
    match error:
        case errors.UnreachableError():
            return str(error), UnreachableError.code, exits.UNREACHABLE
        case CodeflowError() | Refusal() | UnreachableError():
            return str(error), error.code, exits.exit_code(error.code)
        case click.UsageError():
            path = PROGRAM if error.ctx is None else error.ctx.command_path
            sentence = f"{error.format_message()} Try `{path} --help`."
            return sentence, "usage", exits.USAGE
        case click.ClickException():
            return error.format_message(), "failed", error.exit_code
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return f"{where}{error.strerror or error}", "failed", exits.FAILED
        case _:
            return str(error), "failed", exits.FAILED


def _open_closed_streams() -> None:
    """Write into nothing where a stream was closed before the start: then Python has none."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Takes the number that is free, so that no other file gets it and what is printed.
            nothing = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nothing, "w", closefd=False))


def _escape_unencodable(stream: TextIO) -> None:
    """Let a terminal of another encoding show what it can, in place of an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _forget_stdout() -> int:
    """Point stdout to nothing: the interpreter's own flush at the end would fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.FAILED
