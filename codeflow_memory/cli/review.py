"""``review``: the queue of what needs a person, and what a decision on one entry rests on."""

import time
from typing import Any

import rich_click as click

from codeflow_memory.cli import changes, output
from codeflow_memory.cli.client import Client, Request, connected, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import OK, REVIEW, Refusal
from codeflow_memory.cli.memory import columns, get_memory, print_memory
from codeflow_memory.cli.queue import Narrowing, find_waiting, narrowing_options, waiting
from codeflow_memory.domain.times import DAY, HOUR, MINUTE, parse_rfc3339

_TITLES = ("ID", "REV", "STATUS", "KIND", "TITLE", "RISK", "WAITS", "REASON")
_SETTLED: dict[str, Any] = {
    "reasons": [],
    "risk": None,
    "waiting_since": None,
    "near_duplicates": [],
    "diff": None,
    "conflicts": [],
    "evidence": [],
    "stale_decisions": [],
}
"""What an entry that does not wait has in place of reasons."""


@click.command("list")
@narrowing_options
@click.option("--exit-code", is_flag=True, help="Exit with 7 when something waits.")
@click.option("--jsonl", is_flag=True, help="Print a JSON document a line.")
@click.pass_obj
def queue(context: Context, /, *, exit_code: bool, jsonl: bool, **narrowed: Any) -> int:  # noqa: ANN401 - the options
    """Show proposals, and accepted memories that something speaks against; the riskiest first."""
    with connected(context) as client:
        found = waiting(client, Narrowing(**narrowed))
    if jsonl:
        output.print_lines(found.items)
    elif context.json:
        output.print_json({"items": found.items, "next_cursor": None, "facets": found.facets})
    else:
        output.print_table(_TITLES, map(_columns, found.items))
        counts = (f"{count} {reason}" for reason, count in found.facets["reason"].items())
        output.talk(": ".join(filter(None, (f"{len(found.items)} to review", ", ".join(counts)))))
    return REVIEW if found.items and exit_code else OK


@click.command("show")
@click.argument("memory_id", metavar="ID")
@click.pass_obj
def show(context: Context, memory_id: str) -> None:
    """Show one memory, why it waits, and what a decision on it rests on.

    That is: its citations with their results, what says nearly the same, what contradicts it, what
    it changes in the one that it would supersede, and decisions that no longer count.
    """
    with connected(context) as client:
        found = _shown(client, memory_id)
    if context.json:
        output.print_json(found)
        return
    print_memory(found)
    if found["reasons"]:
        output.print_fields(
            {
                "reasons": found["reasons"],
                "risk": found["risk"],
                "waits": f"{_age(found['waiting_since'])}, since {found['waiting_since']}",
            }
        )
    _print_grounds(found)


def _shown(client: Client, memory_id: str) -> dict[str, Any]:
    memory = get_memory(client, memory_id)
    item = find_waiting(client, memory["id"])
    if item is not None:
        return item
    settled = memory | _SETTLED
    if memory.get("supersedes"):
        try:
            settled["diff"] = client.send(Request("GET", path("memories", memory["id"], "diff")))
        except Refusal:
            # What it took the place of is deleted, or not the caller's to read.
            settled["diff"] = None
    return settled


def _print_grounds(item: dict[str, Any]) -> None:
    """Print what a decision rests on, each part under its heading; nothing where there is none."""
    results = {found["source"]: found["result"] for found in item["evidence"]}
    _part("evidence", (f"{results.get(s) or 'not checked'}  {s}" for s in item.get("sources", ())))
    _part(
        "nearly the same",
        (f"{n['similarity']:.3f}  {_named(n)}" for n in item["near_duplicates"]),
    )
    for other in item["conflicts"]:
        _part(f"in conflict with {_named(other)}", other["body"].splitlines())
    _part(
        "decided earlier, and no longer counted",
        (
            "  ".join(filter(None, (d["at"], d["decision"], d["principal"], d["comment"])))
            for d in item["stale_decisions"]
        ),
    )
    if item["diff"] is not None:
        old = item["supersedes"]["memory_id"]
        _part(
            f"in place of {old} at revision {item['diff']['from']}", changes.lines_of(item["diff"])
        )


def _part(heading: str, lines: Any) -> None:  # noqa: ANN401 - any lines
    found = list(lines)
    if found:
        click.echo(f"\n{heading}:")
        for line in found:
            click.echo(f"  {line}")


def _named(other: dict[str, Any]) -> str:
    return f"{other['id']}  {other['status']}  {other['title']}"


def _columns(item: dict[str, Any]) -> tuple[object, ...]:
    waits = _age(item["waiting_since"])
    return (*columns(item), item["risk"], waits, " ".join(item["reasons"]))


def _age(since: str) -> str:
    """Write how long ago a time is: ``3 d``, ``5 h``, ``12 min``."""
    passed = max(0, time.time_ns() // 1_000 - parse_rfc3339(since))
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if passed >= unit:
            return f"{passed // unit} {name}"
    return "now"
