"""``learn``: a repository's guidance becomes proposals."""

from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.places import get_clone
from codeflow_memory.services import learning
from codeflow_memory.services.learning import Learned


@click.command("learn")
@click.argument("folder", metavar="[PATH]", default=".", type=click.Path(path_type=Path))
@click.option("--project", metavar="ID|SLUG", help="Made when it is new.")
@click.option("--dry-run", is_flag=True, help="Answer the same, and keep nothing.")
@click.pass_obj
def learn(context: Context, folder: Path, project: str | None, *, dry_run: bool) -> None:
    """Propose the guidance that is committed in a repository, again only what changed.

    Read are AGENTS.md, CLAUDE.md, Cursor's rules, CONTRIBUTING and decision records at the
    checked-out commit. What is only in the working tree is not seen.
    """
    path = get_clone(folder)
    with stores.opened(context, "learn", making=True, roots=(path,)) as home:
        access = stores.caller(home.tenants, context.token)
        store = home.tenants.get(access.tenant)
        learned = learning.learn(store, access, path, project, dry_run=dry_run)
    if context.json:
        output.print_json(to_fields(learned) | {"dry_run": dry_run})
        return
    print_learned(learned)
    output.talk("nothing was kept" if dry_run else "next: codeflow-memory review")


def to_fields(learned: Learned) -> dict[str, Any]:
    """Write what was learned as JSON values."""
    return {
        "repository_id": learned.repository_id,
        "project_id": learned.project.project_id,
        "project": learned.project.slug,
        "commit": learned.commit,
        "counts": dict(learning.summary(learned)),
        "items": [
            {"action": o.action, "memory_id": o.memory_id, "title": o.title, "detail": o.detail}
            for o in learned.outcomes
        ],
        "skipped": [{"path": s.path, "reason": s.reason} for s in learned.skipped],
    }


def print_learned(learned: Learned) -> None:
    """Print what changed; what stayed is only counted."""
    changed = [o for o in learned.outcomes if o.action not in {"unchanged", "known"}]
    output.print_table(
        ("ACTION", "ID", "TITLE", "WHY"),
        ((o.action, o.memory_id, o.title, o.detail) for o in changed),
    )
    counts = ", ".join(f"{n} {action}" for action, n in learning.summary(learned).items())
    click.echo(f"{learned.project.slug} at {learned.commit[:12]}: {counts or 'no guidance'}")
    for skipped in learned.skipped:
        output.talk(f"left out {skipped.path}: {skipped.reason}")
