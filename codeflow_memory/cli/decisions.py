"""``review accept`` and ``review reject``: decisions on what is named, or on the whole queue."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import rich_click as click

from codeflow_memory.cli import changes, output
from codeflow_memory.cli.client import Client, Request, connected, path
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import Refusal, UnreachableError
from codeflow_memory.cli.memory import TITLES, columns, get_memory
from codeflow_memory.cli.queue import Narrowing, narrowing_options, waiting
from codeflow_memory.domain.errors import NotFoundError

AT_ONCE = 100
"""Memories in one request: so many are decided well within its deadline."""

REASONS = ("wrong", "outdated", "duplicate", "not-durable", "secret")
"""Why something is rejected, in the words that audit and tombstones keep."""

_TITLES = ("ID", "REV", "STATUS", "TITLE", "WHY NOT")
_LONGEST_REVISION = 18
"""Digits; every such number is one that a revision can have."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A memory to be decided at a revision, or why it cannot be asked for."""

    memory_id: str
    revision: int = 0
    title: str = ""
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a command line asks to decide, and how."""

    action: str
    said: dict[str, str]
    memory_ids: tuple[str, ...]
    every: bool
    narrowed: Narrowing
    revision: int | None
    dry_run: bool

    @property
    def alone(self) -> bool:
        return len(self.memory_ids) == 1


def _decision_options(command: _Command) -> _Command:
    for option in reversed(
        (
            click.argument("memory_ids", metavar="[ID[@REVISION]]...", nargs=-1),
            click.option("--all", "every", is_flag=True, help="All that waits, narrowed by:"),
            narrowing_options,
            click.option("--comment", help="Kept with the decision."),
            click.option(
                "--revision", type=click.IntRange(1), help="Refuse what is at another one."
            ),
            click.option(
                "--dry-run", is_flag=True, help="Let the server check each, and change nothing."
            ),
            click.option("--yes", is_flag=True, help="Do not ask for a filter with --all."),
            click.option("--jsonl", is_flag=True, help="Print a JSON document a result."),
        )
    ):
        command = option(command)
    return command


@click.command("accept")
@_decision_options
@click.pass_obj
def accept(context: Context, /, **chosen: Any) -> None:  # noqa: ANN401 - the options
    """Approve proposals, each at the revision that is named or stands now.

    With --all it is the queue, each at the revision that is listed. What is refused leaves the
    others to be decided, and is told with its reason; the exit code is the first refusal's. All of
    it is one batch, which `undo` puts back.
    """
    _decide(context, "approve", **chosen)


@click.command("reject")
@_decision_options
@click.option(
    "--reason",
    metavar="|".join(REASONS),
    help="Kept with the revision; these words also in the audit. Any other text may be given.",
)
@click.pass_obj
def reject(context: Context, /, **chosen: Any) -> None:  # noqa: ANN401 - the options
    """Reject proposals, each at the revision that is named or stands now.

    With --all it is the queue, each at the revision that is listed. What is refused leaves the
    others to be decided, and is told with its reason; the exit code is the first refusal's.
    """
    _decide(context, "reject", **chosen)


def _decide(context: Context, action: str, *, jsonl: bool, **chosen: Any) -> None:  # noqa: ANN401 - the options
    wanted = _wanted(action, **chosen)
    with connected(context) as client:
        if wanted.alone and not wanted.dry_run:
            memory = _decide_one(context, client, wanted)
            if context.json or jsonl:
                output.print_json(memory)
            else:
                output.print_table(
                    (*TITLES, "REASON"), [(*columns(memory), memory.get("review_reason"))]
                )
            return
        results = _Results(wanted)
        try:
            _decide_each(client, wanted, results)
            results.add_changes(client)
        except (Refusal, UnreachableError):
            if results.rows:
                # Decided before the server went away, or would not go on.
                results.show(context, jsonl=jsonl)
            raise
    results.show(context, jsonl=jsonl)
    results.raise_first()


def _wanted(
    action: str,
    *,
    memory_ids: tuple[str, ...],
    every: bool,
    revision: int | None,
    dry_run: bool,
    yes: bool,
    **more: Any,  # noqa: ANN401 - the options
) -> _Wanted:
    said: dict[str, str | None] = {
        name: more.pop(name) for name in ("comment", "reason") if name in more
    }
    narrowed = Narrowing(**more)
    if every and memory_ids:
        raise click.UsageError("name memories, or say --all; not both.")
    if not every and not memory_ids:
        raise click.UsageError("name memories, or say --all for what waits.")
    if not every and narrowed.narrows:
        raise click.UsageError("only --all is narrowed: name memories without a filter.")
    if every and not (narrowed.narrows or yes or dry_run):
        raise click.UsageError(
            "--all without a filter decides the whole queue: narrow it, or repeat with --yes."
        )
    given = {name: text for name, text in said.items() if text is not None}
    return _Wanted(action, given, memory_ids, every, narrowed, revision, dry_run)


def _decide_one(context: Context, client: Client, wanted: _Wanted) -> dict[str, Any]:
    (asked,) = _named(client, wanted)
    if asked.refusal is not None:
        raise asked.refusal
    where = path("memories", asked.memory_id, wanted.action)
    with changes.told(context, client, asked.memory_id):
        return client.send(Request("POST", where, body=wanted.said, revision=asked.revision))


class _Results:
    """One result a memory, in the order in which they were asked for."""

    def __init__(self, wanted: _Wanted) -> None:
        self._wanted = wanted
        self.rows: list[dict[str, Any]] = []
        self.batches: list[str] = []

    def add(self, asked: Sequence[_Asked], answer: dict[str, Any]) -> None:
        """Take the answer of the batch route for those that could be asked for."""
        told = iter(answer["results"])
        for each in asked:
            refusal = each.refusal
            row = next(told) if refusal is None else changes.refused(each.memory_id, refusal)
            self.rows.append(row | {"title": each.title})
        if answer.get("batch_id"):
            self.batches.append(answer["batch_id"])

    def add_changes(self, client: Client) -> None:
        """Find what changed in each that was decided too late."""
        for row in self.rows:
            if row["error"] is not None:
                diff = changes.find_change(client, row["error"]["code"], row["error"])
                row["changed"] = diff

    def show(self, context: Context, *, jsonl: bool) -> None:
        """Print all, unless it is nothing but one refusal, which is told by its error."""
        wanted, rows = self._wanted, self.rows
        refused = sum(not row["ok"] for row in rows)
        if wanted.alone and refused and not rows[0].get("changed"):
            return
        if jsonl:
            output.print_lines(rows)
        elif context.json:
            output.print_json(
                {
                    "results": rows,
                    "applied": bool(self.batches),
                    "dry_run": wanted.dry_run,
                    "batch_id": self.batches[-1] if self.batches else None,
                    "batch_ids": self.batches,
                }
            )
        else:
            output.print_table(_TITLES, map(_columns, rows), whole=True)
            for row in rows:
                if row.get("changed"):
                    changes.print_change(row["changed"])
        would = "would be " if wanted.dry_run else ""
        output.talk(f"{len(rows) - refused} {would}decided, {refused} refused")
        for batch_id in self.batches:
            output.talk(f"to put it back: codeflow-memory undo {batch_id}")

    def raise_first(self) -> None:
        """End with the first refusal.

        Raises:
            Refusal: There is one.
        """
        errors = [(row["id"], row["error"]) for row in self.rows if row["error"] is not None]
        if errors:
            memory_id, first = errors[0]
            detail = str(first.get("detail", first["code"]))
            sentence = detail if self._wanted.alone else f"{memory_id}: {detail}"
            raise Refusal(str(first["code"]), sentence, first)


def _decide_each(client: Client, wanted: _Wanted, results: _Results) -> None:
    """Decide in requests of `AT_ONCE`; each adds what became of it.

    Raises:
        Refusal: A whole request was refused.
        UnreachableError: There was no answer.
    """
    asked = list(_listed(client, wanted) if wanted.every else _named(client, wanted))
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        steps = [
            {"action": wanted.action, "id": a.memory_id, "revision": a.revision, **wanted.said}
            for a in part
            if a.refusal is None
        ]
        body = {"operations": steps, "dry_run": wanted.dry_run}
        answer: dict[str, Any] = {"results": []}
        if steps:
            answer = client.send(Request("POST", path("memories", "batch"), body=body))
        results.add(part, answer)


def _listed(client: Client, wanted: _Wanted) -> Iterable[_Asked]:
    for row in waiting(client, wanted.narrowed).items:
        yield _Asked(row["id"], wanted.revision or row["revision"], row["title"])


def _named(client: Client, wanted: _Wanted) -> Iterable[_Asked]:
    for given in wanted.memory_ids:
        memory_id, revision = _parsed(given)
        try:
            memory = get_memory(client, memory_id)
        except Refusal as refusal:
            if refusal.code != NotFoundError.code:
                raise
            yield _Asked(memory_id, refusal=refusal)
            continue
        base = revision or wanted.revision or memory["revision"]
        yield _Asked(memory_id, base, memory.get("title") or "")


def _parsed(given: str) -> tuple[str, int | None]:
    memory_id, at, revision = given.rpartition("@")
    if not (at and revision.isascii() and revision.isdigit()):
        return given, None
    if len(revision) > _LONGEST_REVISION or int(revision) == 0:
        raise click.UsageError("a revision is a number from 1 on.")
    return memory_id, int(revision)


def _columns(row: dict[str, Any]) -> tuple[object, ...]:
    error = row["error"]
    why = "" if error is None else f"{error.get('detail', '')} [{error['code']}]"
    return row["id"], row["revision"], row["status"] or "refused", row["title"], why
