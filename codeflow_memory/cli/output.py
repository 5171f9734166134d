"""What commands print: JSON, JSON lines, or columns for people."""

import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import click

from codeflow_memory.domain.ports import T, Watch, unwatched

_GAP = "  "
_WIDEST = 72
"""Characters of a line of a cell."""


def to_json(value: object) -> str:
    """Write one line of JSON: text as it is, or escaped where stdout cannot have it."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(to_json(value))


def print_lines(rows: Iterable[object]) -> None:
    """Print each row as a JSON document on a line of its own, as it comes."""
    for row in rows:
        click.echo(to_json(row))


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[object]], *, whole: bool = False
) -> None:
    """Print rows under their titles, in columns; nothing where there is no row.

    Args:
        titles: Of the columns.
        rows: A value for each column.
        whole: Whether a long value goes on in the next line; else it is cut, for JSON has it whole.
    """
    lines_of = _wrapped if whole else _cut
    cells = [[lines_of(value) for value in row] for row in rows]
    if not cells:
        return
    table = [[[title] for title in titles], *cells]
    widths = [max(len(line) for row in table for line in row[i]) for i in range(len(titles))]
    for row in table:
        for parts in zip_longest(*row, fillvalue=""):
            line = _GAP.join(text.ljust(width) for text, width in zip(parts, widths, strict=True))
            click.echo(line.rstrip())


def print_fields(fields: dict[str, Any]) -> None:
    """Print names and values, one a line; what is absent or empty is left out."""
    shown = {name: value for name, value in fields.items() if value not in (None, [], "")}
    width = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        click.echo(f"{name.ljust(width)}{_GAP}{text}")


def watching() -> Watch:
    """Return what shows how far long work has come: a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return unwatched
    # Drawing a bar takes a library that no other output needs.
    from rich.console import Console  # noqa: PLC0415 - when it is needed
    from rich.progress import track  # noqa: PLC0415 - when it is needed

    console = Console(stderr=True)

    def shown(items: Sequence[T], label: str, /) -> Iterable[T]:
        return track(items, description=label, console=console, transient=True)

    return shown


def talk(sentence: str) -> None:
    """Tell people something that is no data."""
    click.echo(sentence, err=True)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back.

    Raises:
        click.UsageError: Nobody is there to answer.
        click.Abort: The answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("nobody is there to confirm: repeat with --yes.")
    click.confirm(question, abort=True, err=True)


def _cut(value: object) -> list[str]:
    text = _text(value)
    return [text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"]


def _wrapped(value: object) -> list[str]:
    # A path or a statement's word that is longer than a line stays in one piece, to be copied.
    return textwrap.wrap(_text(value), _WIDEST, break_long_words=False, break_on_hyphens=False) or [
        ""
    ]


def _text(value: object) -> str:
    return " ".join(str("" if value is None else value).split())
