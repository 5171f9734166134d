"""The ``codeflow-backup`` command: data on stdout, talk on stderr, exit codes of `exits`."""

import errno
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from codeflow_backup import exits
from codeflow_backup.errors import BackupError, NoRoomError, UnusableError
from codeflow_backup.terminal import talk

PROGRAM = "codeflow-backup"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no refusal shows a traceback."""
    # Whatever is made on the way, of the home or beside it, is its owner's alone.
    os.umask(0o077)
    # What was decrypted, and the keys, would stand in it.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # As Ctrl-C: what lies half-made is taken away before the program ends.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        _escape_unencodable(stream)
    try:
        # Ctrl-C may come while these are loaded: they take longer than most commands.
        from codeflow_backup.tree import root  # noqa: PLC0415 - see above

        root.main(
            list(sys.argv[1:] if argv is None else argv),
            prog_name=PROGRAM,
            standalone_mode=False,
        )
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter's own flush at the end would fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED
    except (BackupError, click.ClickException, OSError, MemoryError) as error:
        sentence, code, exit_code = _described(error)
    except (click.Abort, KeyboardInterrupt):
        sentence, code, exit_code = "stopped", "interrupted", exits.INTERRUPTED
    else:
        return exits.OK
    talk(f"{PROGRAM}: {' '.join(sentence.split())} [{code}]")
    return exit_code


def _described(error: Exception) -> tuple[str, str, int]:
    """Return what to say of a refusal, its stable word and the exit code."""
    match error:
        case BackupError():
            return str(error), error.code, exits.EXIT[type(error)]
        case click.UsageError():
            path = PROGRAM if error.ctx is None else error.ctx.command_path
            return f"{error.format_message()} Try `{path} --help`.", "usage", exits.USAGE
        case click.ClickException():
            return error.format_message(), "failed", error.exit_code
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            code = NoRoomError.code if full else UnusableError.code
            return f"{where}{error.strerror or error}", code, exits.FAILED
        case _:
            return "this machine does not have the memory", UnusableError.code, exits.FAILED


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
