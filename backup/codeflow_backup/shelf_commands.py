"""``list`` and ``prune``: a folder of backups."""

from collections.abc import Callable, Sequence
from pathlib import Path

import rich_click as click

from codeflow_backup import pruning, shelf
from codeflow_backup.keys import Secret
from codeflow_backup.options import F, folder_argument, json_option, key_options, merged
from codeflow_backup.output import (
    core_fields,
    print_json,
    print_table,
    slot_fields,
    slot_words,
)
from codeflow_backup.pruning import Plan, Policy
from codeflow_backup.shelf import Entry, Other
from codeflow_backup.terminal import talk
from codeflow_backup.times import rfc3339
from codeflow_backup.verifying import Level

_SHOWN_ID = 12


def _counted(rule: str, text: str) -> Callable[[F], F]:
    return click.option(
        f"--keep-{rule}", rule, type=click.IntRange(0), default=0, metavar="N", help=text
    )


@click.command("list")
@folder_argument
@json_option
def list_backups(folder: Path, as_json: bool) -> None:  # noqa: FBT001 - click's
    """List the backups of a folder, the oldest first: what each says of itself, without a key."""
    entries, others = shelf.look(folder)
    if as_json:
        print_json(
            {
                "backups": [_fields(entry) for entry in entries],
                "others": [_other_fields(other) for other in others],
            }
        )
        return
    titles = ("CREATED", "FILE", "BYTES", "STORE", "GENERATION", "KEYS")
    print_table(titles, (_row(entry) for entry in entries))
    _tell_others(others)


@click.command("prune")
@folder_argument
@merged(
    "policy",
    Policy,
    _counted("last", "The last N."),
    _counted("daily", "The last of each of N days."),
    _counted("weekly", "The last of each of N weeks."),
    _counted("monthly", "The last of each of N months."),
)
@click.option("--preview", is_flag=True, help="Only show what would go; also without --yes.")
@click.option("--yes", is_flag=True, help="Remove what the rules do not keep.")
@key_options
@json_option
def prune(
    folder: Path,
    policy: Policy,
    secrets: list[Secret],
    preview: bool,  # noqa: FBT001 - click's
    yes: bool,  # noqa: FBT001 - click's
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Remove backups that no rule keeps; the newest of each store that verifies always stays.

    Rules count for each store by itself, days and weeks in UTC. With a key, a backup verifies when
    every chunk does; without one, when its structure does. Other files are never touched.
    """
    if policy.is_empty():
        raise click.UsageError("say what to keep: --keep-last, --keep-daily, … with a number.")
    planned = pruning.plan(folder, policy, secrets)
    applied = yes and not preview
    removed = pruning.apply(planned) if applied else []
    if as_json:
        print_json(_plan_fields(planned, removed, applied=applied))
        return
    rows = (
        (*_row(v.entry)[:3], "keep" if v.kept_by else "remove", ", ".join(v.kept_by))
        for v in planned.verdicts
    )
    print_table(("CREATED", "FILE", "BYTES", "VERDICT", "BY"), rows)
    _tell_others(planned.others)
    _tell(planned, removed, applied=applied)


def _tell(planned: Plan, removed: Sequence[Entry], *, applied: bool) -> None:
    if planned.level is Level.STRUCTURE:
        talk("verified here means by structure: with a key it means every chunk")
    if applied:
        talk(f"removed {len(removed)} of {len(planned.verdicts)}")
    else:
        talk(f"{len(planned.removed)} would go; --yes removes them")


def _tell_others(others: Sequence[Other]) -> None:
    for other in others:
        talk(f"{other.path.name}: not touched: {other.reason} [{other.code}]")


def _plan_fields(planned: Plan, removed: Sequence[Entry], *, applied: bool) -> dict[str, object]:
    return {
        "applied": applied,
        "verified_level": int(planned.level),
        "backups": [
            {**_fields(v.entry), "keep": bool(v.kept_by), "kept_by": list(v.kept_by)}
            for v in planned.verdicts
        ],
        "removed": [entry.path.name for entry in removed],
        "others": [_other_fields(other) for other in planned.others],
    }


def _fields(entry: Entry) -> dict[str, object]:
    return {
        "file": entry.path.name,
        "bytes": entry.bytes,
        **core_fields(entry.core),
        "slots": slot_fields(entry.slots),
    }


def _other_fields(other: Other) -> dict[str, object]:
    return {"file": other.path.name, "code": other.code, "reason": other.reason}


def _row(entry: Entry) -> tuple[object, ...]:
    core = entry.core
    return (
        rfc3339(core.created_at),
        entry.path.name,
        entry.bytes,
        core.instance_id[:_SHOWN_ID],
        core.generation,
        slot_words(entry.slots),
    )
