"""What commands print: one JSON document, or lines for people."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence

import click

from codeflow_backup.files import naming
from codeflow_backup.header import Core
from codeflow_backup.slots import Slot
from codeflow_backup.terminal import shown
from codeflow_backup.times import rfc3339

_GAP = "  "


def show(fields: Mapping[str, object], *, as_json: bool) -> None:
    """Print names and values, one a line; for people what is absent or empty is left out."""
    if as_json:
        print_json(fields)
        return
    given = {name: value for name, value in fields.items() if value not in (None, [], "")}
    width = max((len(name) for name in given), default=0)
    for name, value in given.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        _print(f"{name.replace('_', ' ').ljust(width)}{_GAP}{shown(text)}")


def print_json(value: object) -> None:
    """Print one JSON document: text as it is, or escaped where stdout cannot have it."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value)
    _print(text)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their titles, in columns; nothing where there is no row."""
    cells = [[shown(" ".join(str(value).split())) for value in row] for row in rows]
    if not cells:
        return
    table = [list(titles), *cells]
    widths = [max(len(row[i]) for row in table) for i in range(len(titles))]
    for row in table:
        line = _GAP.join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        _print(line.rstrip())


def core_fields(core: Core) -> dict[str, object]:
    """Return what a backup says of itself."""
    return {
        "backup_id": core.backup_id,
        "created_at": rfc3339(core.created_at),
        "instance_id": core.instance_id,
        "generation": core.generation,
        "schema_version": core.schema_version,
        "app_version": core.app_version,
    }


def slot_fields(slots: Iterable[Slot]) -> list[dict[str, object]]:
    """Return which keys a backup has."""
    return [{"slot": slot.number, **slot.derivation.members()} for slot in slots]


def slot_words(slots: Iterable[Slot]) -> str:
    """Return the same in a few words."""
    return ", ".join(f"{slot.number} {slot.kind}" for slot in slots)


def _print(line: str) -> None:
    with naming("stdout"):
        click.echo(line)
