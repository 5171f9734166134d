"""Options that several commands have: where the home is, and what opens a backup."""

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click

from codeflow_backup.home import Home
from codeflow_backup.keys import Secret, read_key_file, read_passphrase

F = TypeVar("F", bound=Callable[..., Any])


class _PathType(click.Path):
    """A path; an empty one, as a variable that is not set gives it, is none."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's own
        """Refuse an empty path, which would be the current folder."""
        if value == "":
            self.fail("an empty path would be the current folder.", param, ctx)
        return super().convert(value, param, ctx)


path_type = _PathType(path_type=Path)

file_argument = click.argument("file", type=path_type)
folder_argument = click.argument("folder", metavar="DIR", type=path_type)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
home_option = click.option(
    "--home", type=path_type, metavar="DIR", help="The home (else CODEFLOW_HOME, ~/.codeflow)."
)


def merged(name: str, make: Callable[..., object], *options: Callable[[F], F]) -> Callable[[F], F]:
    """Give a command *options* whose values arrive as one argument.

    Args:
        name: Of the argument.
        make: Makes it; its parameters are named as the options are.
        options: As `click.option` makes them.
    """
    taken = tuple(inspect.signature(make).parameters)

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def called(**values: Any) -> Any:  # noqa: ANN401 - click's own
            given = {option: values.pop(option) for option in taken}
            return command(**values, **{name: make(**given)})

        for option in reversed(options):
            called = option(called)
        return called  # type: ignore[return-value]  # as above

    return decorate


def _secrets(passphrase_files: Sequence[Path], key_files: Sequence[Path]) -> list[Secret]:
    """Read the keys that were named.

    Raises:
        InvalidKeyError: A file cannot be read or holds none.
    """
    secrets: list[Secret] = [read_passphrase(path) for path in passphrase_files]
    return [*secrets, *(read_key_file(path) for path in key_files)]


key_options = merged(
    "secrets",
    _secrets,
    click.option(
        "--passphrase-file",
        "passphrase_files",
        type=path_type,
        multiple=True,
        metavar="FILE",
        help="Holds a passphrase; a newline at its end is no part of it.",
    ),
    click.option(
        "--keyfile",
        "key_files",
        type=path_type,
        multiple=True,
        metavar="FILE",
        help="A key file as `keygen` makes it.",
    ),
)
"""The keys of a backup, each given as often as there are; they arrive as ``secrets``."""


def needed(secrets: Sequence[Secret]) -> Sequence[Secret]:
    """Return keys of which there is one at least.

    Raises:
        click.UsageError: There is none.
    """
    if not secrets:
        raise click.UsageError("name a key: --passphrase-file FILE or --keyfile FILE.")
    return secrets


def home_of(path: Path | None) -> Home:
    """Return the home that is meant.

    Raises:
        click.UsageError: It begins with the folder of a user whom nobody knows.
    """
    given = path or os.environ.get("CODEFLOW_HOME") or Path("~/.codeflow")
    try:
        return Home(Path(given).expanduser().absolute())
    except RuntimeError:
        raise click.UsageError(f"{given}: no user has that folder; give --home.") from None
