"""Write docs/reference.md: every command, route, setting, variable and error, from the code itself.

``.venv/bin/python ops/reference.py`` writes it; a test compares.
"""

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from codeflow_backup import exits as backup_exits
from codeflow_backup.tree import root as backup_root
from litestar.openapi.spec import OpenAPI
from pydantic import BaseModel

from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.cli import exits
from codeflow_memory.cli.commands import root
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.http.caller import Stores
from codeflow_memory.http.problems import STATUS
from codeflow_memory.services.store import Store
from codeflow_memory.settings import Settings

PLACE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"

METHODS = ("get", "post", "put", "patch", "delete")

VARIABLES = {
    "CODEFLOW_HOME": "The home, in place of `~/.codeflow`; `--home` wins over it.",
    "CODEFLOW_DATABASE": "Where the tenants are, as `--database`, which wins over it.",
    "CODEFLOW_CONFIG": "The configuration file, in place of `config.toml` in the home.",
    "CODEFLOW_URL": "The server that commands talk to; `--url` wins over it.",
    "CODEFLOW_TOKEN": "The bearer token; `--token-file` wins over it.",
    "CREDENTIALS_DIRECTORY": "Set by systemd; its file `codeflow-key` is the home key, its file "
    "`codeflow-database` the URL of the database that has the tenants.",
    "NO_COLOR": "Commands print without colours.",
}
"""What the program reads of its environment."""

HEAD = """\
# Reference

Written by `ops/reference.py` from the code; a test keeps it true. The API in full, with bodies and
examples, is served at `/schema` and `/schema/openapi.json`.
"""


class Nowhere(Stores):
    """No tenant: nothing is called."""

    def get(self, tenant: str) -> Store:
        """Refuse."""
        raise LookupError(tenant)


def text() -> str:
    """Return the whole page."""
    parts = [HEAD, *commands(), *backups(), *routes(), *settings(), *variables(), *errors()]
    return "\n".join(parts).rstrip() + "\n"


def commands() -> Iterator[str]:
    """Describe each command that has no commands below it, with its own options."""
    shared = {option for param in root.params for option in param.opts}
    yield "## Commands\n"
    yield f"Every command takes {_code(sorted(o for o in shared if o.startswith('--')))};"
    yield "those that work on the files of a home refuse `--url`.\n"
    for name, command in _leaves(root, "codeflow-memory"):
        yield f"### `{name}`\n"
        yield f"{_flat(command.help or '')}\n"
        rows = [_parameter(p) for p in command.params if not shared.intersection(p.opts)]
        yield from _table(("Argument or option", "Meaning"), rows)


def backups() -> Iterator[str]:
    """Describe each command of ``codeflow-backup``, and its refusals by their words."""
    yield "## Commands of backups\n"
    yield "`codeflow-memory backup …` runs the same. `backup/README.md` says more.\n"
    for name, command in _leaves(backup_root, "codeflow-backup"):
        yield f"### `{name}`\n"
        yield f"{_flat(command.help or '')}\n"
        yield from _table(
            ("Argument or option", "Meaning"), [_parameter(p) for p in command.params]
        )
    rows = [
        (f"`{kind.code}`", str(code), _flat(kind.__doc__ or ""))
        for kind, code in sorted(backup_exits.EXIT.items(), key=lambda item: item[0].code)
    ]
    yield from _table(("Code", "Exit", "When"), rows)


def routes() -> Iterator[str]:
    """List the operations of the API by path."""
    app = create_litestar(Wiring(Nowhere(), Settings(), {"local"}, lambda: "req"))
    schema: OpenAPI = app.openapi_schema
    document = schema.to_schema()
    rows = [
        (f"`{method.upper()} {path}`", _flat(item[method].get("description", "")))
        for path, item in sorted(document["paths"].items())
        for method in METHODS
        if method in item
    ]
    rows += [("`POST /mcp`", "A message of the Model Context Protocol.")]
    rows += [("`GET /schema`", "This API as a page."), ("`GET /schema/openapi.json`", "As JSON.")]
    yield "## Routes\n"
    yield from _table(("Route", "What it does"), rows)


def settings() -> Iterator[str]:
    """List the keys of ``config.toml`` with their defaults, table by table."""
    yield "## Settings\n"
    yield "In `config.toml`; an unknown key is refused.\n"
    for name, field in Settings.model_fields.items():
        several = get_args(field.annotation)[:1]
        (table,) = several or (field.annotation,)
        if not (inspect.isclass(table) and issubclass(table, BaseModel)):
            raise TypeError(f"{name} is no table")
        yield f"### `[[{name}]]`\n" if several else f"### `[{name}]`\n"
        yield f"{_flat(table.__doc__ or '')}\n"
        rows = [(f"`{key}`", f"`{_toml(f.default)}`") for key, f in table.model_fields.items()]
        yield from _table(("Key", "Default"), rows)


def variables() -> Iterator[str]:
    """List the environment variables."""
    yield "## Environment\n"
    yield from _table(("Variable", "Meaning"), [(f"`{k}`", v) for k, v in VARIABLES.items()])


def errors() -> Iterator[str]:
    """List the errors by code, with what HTTP and the command line make of them."""
    rows = [
        (
            f"`{kind.code}`",
            str(STATUS[kind].value),
            str(exits.EXIT[kind]),
            _flat(kind.__doc__ or ""),
        )
        for kind in sorted(STATUS, key=lambda kind: kind.code)
        if issubclass(kind, CodeflowError)
    ]
    yield "## Errors\n"
    yield (
        "Over HTTP an error is a problem document (RFC 9457) of the type "
        "`urn:codeflow-memory:problem:<code>`. Commands print one line with the code on stderr; "
        "an import whose file is refused prints its faults, one a line, and exits with 1. The "
        "command line has four codes more: `usage` (exit 2), `failed` (1), `exists` (5) and "
        "`unreachable` (6).\n"
    )
    yield from _table(("Code", "Status", "Exit", "When"), rows)
    yield "## Exit codes\n"
    codes = re.findall(r"^(\d)\s{4}(.+)$", exits.__doc__ or "", re.MULTILINE)
    yield from _table(("Code", "Meaning"), [*codes, ("130", "interrupted")])


def _leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command, info_name=name)
    for below in command.list_commands(context):
        found = command.get_command(context, below)
        if found is not None:
            yield from _leaves(found, f"{name} {below}")


def _parameter(parameter: click.Parameter) -> tuple[str, str]:
    if isinstance(parameter, click.Option):
        names = [*parameter.opts, *parameter.secondary_opts]
        return _code(names), _flat(parameter.help or "")
    name = parameter.make_metavar(click.Context(root)).replace("|", "\\|")
    return f"`{name}`", "Argument."


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _flat(text: str) -> str:
    """Return the first paragraph on one line."""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split()).replace("|", "\\|")


def _toml(value: Any) -> str:  # noqa: ANN401 - a setting's default
    if value is None or value == frozenset():
        return "unset"
    return "[]" if value == () else str(value).lower() if isinstance(value, bool) else str(value)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        lines = [head, ("---",) * len(head), *rows]
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(text(), "utf-8")
