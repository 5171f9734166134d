"""``import-json``, ``export`` and ``import-jsonl``: into a home and out of it."""

import sys
from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.adapters.exported_lines import MAX_BYTES, parse_export
from codeflow_memory.cli import exits, output, stores
from codeflow_memory.cli.context import Context, expanded
from codeflow_memory.cli.places import get_project, get_repository, one_repo_option, repo_option
from codeflow_memory.cli.stores import Opened
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.services import exact_import, legacy_import, proposed_import
from codeflow_memory.services import export as exporting
from codeflow_memory.services.export import Format
from codeflow_memory.services.legacy_import import Report
from codeflow_memory.settings import load


@click.command("import-json")
@click.argument("document", metavar="PATH", type=click.Path(path_type=Path))
@click.option(
    "--check", "--dry-run", "check", is_flag=True, help="Validate and report; write nothing."
)
@click.pass_context
def import_json(ctx: click.RichContext, /, document: Path, *, check: bool) -> None:
    """Import an older Code Flow's memory.json, whole or not at all.

    The home's own document is renamed to memory.json.pre-sqlite once everything is in the database
    and was read back; it goes when a memory first changes.
    """
    context: Context = ctx.obj
    path = expanded(document)
    try:
        if check:
            report = legacy_import.check(path)
        else:
            home = context.local("import-json")
            stores.reach(home)
            stores.settle(home)
            report = legacy_import.run(
                home, path, now=stores.clock(load(home.path)), watch=output.watching()
            )
    except InvalidRequestError as error:
        _tell_faults(error)
        ctx.exit(exits.FAILED)
    _tell_report(context, report)


@click.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice([str(f) for f in Format]),
    default=str(Format.MARKDOWN),
    show_default=True,
    help="jsonl has everything, for another store.",
)
@click.option("--project", metavar="ID|SLUG", help="Only this one; see above.")
@one_repo_option
@click.pass_obj
def export(context: Context, form: str, project: str | None, repo: str | None) -> None:
    """Write on stdout all that you see of the projects' memories.

    Without --repo and --project it is everything, of every repository, whatever the current folder.
    """
    with stores.opened(context, "export") as home:
        access = stores.caller(home.tenants, context.token)
        store = home.tenants.get(access.tenant)
        only, within = _meant(context, home, project, repo)
        text = exporting.export(store, access, Format(form), project=only, repo=within)
    # Bytes: an export is UTF-8 whatever the terminal speaks.
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())


@click.command("import-jsonl")
@click.argument("file", metavar="FILE|-", type=click.File("rb"))
@click.option("--exact", is_flag=True, help="The same ids, revisions and statuses; role owner.")
@click.option("--project", metavar="ID|SLUG", help="Where proposals go; not with --exact.")
@repo_option
@click.option("--dry-run", is_flag=True, help="Validate the file; write nothing.")
@click.option("--yes", is_flag=True, help="Accepted for scripts; nothing is asked.")
@click.pass_context
def import_jsonl(ctx: click.RichContext, /, file: Any, **chosen: Any) -> None:  # noqa: ANN401 - click's own
    """Import what export --format jsonl wrote: exactly, else as proposals for review.

    Exactly, it goes into projects that are empty or that hold just this; all of it or nothing.
    """
    context: Context = ctx.obj
    data = file.read(MAX_BYTES + 1)
    if not (chosen["exact"] or chosen["project"] or chosen["dry_run"]):
        raise click.UsageError("say which project with --project, or --exact.")
    try:
        done = _imported(context, data, chosen)
    except InvalidRequestError as error:
        _tell_faults(error)
        ctx.exit(exits.FAILED)
    if context.json:
        output.print_json(done)
    else:
        output.print_fields(done)
    ctx.exit(exits.REVIEW if done.get("refused") else exits.OK)


def _meant(
    context: Context, home: Opened, project: str | None, repo: str | None
) -> tuple[str | None, str | None]:
    """Return the ids of the project and repository that are named; ``None`` where none is.

    Raises:
        NotThereError: One of them is not there.
    """
    if project is None and repo is None:
        return None, None
    # Imports the whole application.
    from codeflow_memory.cli.local import LocalClient  # noqa: PLC0415 - when it is needed

    with LocalClient.of(home, context.token) as client:
        if project is not None:
            found = get_project(client, project, repo)
            return found["id"], found["repository_id"]
        return None, get_repository(client, repo)


def _imported(context: Context, data: bytes, chosen: dict[str, Any]) -> dict[str, Any]:
    if chosen["dry_run"]:
        file = parse_export(data)
        return {"projects": len(file.projects), "memories": len(file.memories), "dry_run": True}
    with stores.opened(context, "import-jsonl", making=True) as home:
        access = stores.caller(home.tenants, context.token)
        store = home.tenants.get(access.tenant)
        if chosen["exact"]:
            exact = exact_import.run(store, access, data, watch=output.watching())
            return {
                "filled": exact.filled,
                "unchanged": exact.unchanged,
                "memories": exact.memories,
            }
        only, within = _meant(context, home, chosen["project"], chosen["repo"])
        done = proposed_import.run(store, access, data, str(only), within, output.watching())
    return {
        "proposed": done.proposed,
        "duplicates": done.duplicates,
        "skipped": done.skipped,
        "refused": [f"line {r.line + 1}: {r.error} [{r.error.code}]" for r in done.refused],
    }


def _tell_faults(error: InvalidRequestError) -> None:
    for fault in error.faults:
        output.talk(f"{fault.pointer or 'the document'}: {fault.detail}")
    output.talk("nothing was imported [invalid-request]")


def _tell_report(context: Context, report: Report) -> None:
    fields = report.fields()
    if context.json:
        output.print_json(fields)
        return
    click.echo(fields["outcome"])
    output.print_fields(report.counts or {})
    for finding in report.findings:
        rules = finding["rules"]
        if isinstance(rules, list) and rules:
            output.talk(f"{finding['memory_id']} is kept out of contexts: {', '.join(rules)}")
