"""What changed in a memory: told word by word, also where a decision came too late."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from codeflow_memory.cli import output
from codeflow_memory.cli.client import Client, Request, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import Refusal

_STALE = "revision-conflict"
_MARKS = {"-": ("[-", "-]"), "+": ("{+", "+}"), "=": ("", "")}


def lines_of(diff: Mapping[str, Any]) -> list[str]:
    """Write a diff, a field a line: what went as ``[-this-]``, what came as ``{+that+}``."""
    return [f"{change['field']}: {_told(change)}" for change in diff["fields"]]


def find_change(client: Client, code: str, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what became of a memory since the revision that was decided on.

    ``None`` where the refusal is another one, or where the caller cannot read both revisions.

    Raises:
        UnreachableError: There is no answer.
    """
    since, now = facts.get("expected_revision"), facts.get("current_revision")
    if code != _STALE or "id" not in facts:
        return None
    where = path("memories", str(facts["id"]), "diff")
    try:
        return client.send(Request("GET", where, {"from": since, "to": now}))
    except Refusal:
        return None


def print_change(diff: Mapping[str, Any]) -> None:
    """Print what changed meanwhile, for people."""
    click.echo(f"{diff['memory_id']} was at revision {diff['from']} and is at {diff['to']}:")
    for line in lines_of(diff):
        click.echo(f"  {line}")


@contextmanager
def told(context: Context, client: Client, memory_id: str) -> Iterator[None]:
    """Print what changed where the block is refused because of it; the refusal goes on."""
    try:
        yield
    except Refusal as refusal:
        diff = find_change(client, refusal.code, refusal.facts)
        if diff is not None and context.json:
            output.print_json(refused(memory_id, refusal) | {"changed": diff})
        elif diff is not None:
            print_change(diff)
        raise


def refused(memory_id: str, refusal: Refusal) -> dict[str, Any]:
    """Return a refusal in the form of a result of the batch route."""
    error = {"code": refusal.code, "detail": str(refusal), **refusal.facts}
    return {"id": memory_id, "ok": False, "revision": None, "status": None, "error": error}


def _told(change: Mapping[str, Any]) -> str:
    parts = change.get("words") or [["-", str(change["from"])], ["+", str(change["to"])]]
    return "".join(f"{_MARKS[op][0]}{text}{_MARKS[op][1]}" for op, text in parts)
