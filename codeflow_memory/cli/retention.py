"""``retention``: shows what policies would delete, and deletes exactly that."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.cli import output, stores
from codeflow_memory.cli.context import Context, expanded
from codeflow_memory.domain.errors import StalePlanError, UnauthenticatedError
from codeflow_memory.domain.retention import Item, Policy
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import retention
from codeflow_memory.services.removal import Removed
from codeflow_memory.services.retention import Plan
from codeflow_memory.settings import Settings, load, load_policies
from codeflow_memory.storage.home import LEGACY_DOCUMENT

_TITLES = ("ID", "REVISION", "STATUS", "COLLECTION", "KIND", "WHY")

tenant_option = click.option("--tenant", metavar="SLUG", help="The tenant; `local` by default.")
policy_option = click.option(
    "--policy",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="Has [[retention]] tables, in place of the configuration's.",
)


@click.command("preview")
@policy_option
@tenant_option
@click.option("--dry-run", is_flag=True, help="Accepted for scripts; nothing is ever written.")
@click.pass_obj
def preview(context: Context, policy: Path | None, tenant: str | None, *, dry_run: bool) -> None:  # noqa: ARG001 - see its help
    """Show what the policies would delete now, and the fingerprint of that plan; role owner.

    Nothing is written. A memory.json that waits to be imported is read and not imported.
    """
    home = context.local("retention preview")
    stores.reach(home)
    if stores.waits(home):
        if context.token is not None:
            # No token was made yet.
            raise UnauthenticatedError
        settings = load(home.path)
        document = home.path / LEGACY_DOCUMENT
        at = stores.clock(settings)()
        # Its parser is needed once in the life of a home.
        from codeflow_memory.services import legacy_retention  # noqa: PLC0415 - when it is needed

        plan = legacy_retention.preview(document, _policies(settings, policy), at)
    else:
        with stores.opened(context, "retention preview") as opened:
            access = stores.caller(opened.tenants, context.token, tenant)
            store = opened.tenants.get(access.tenant)
            plan = retention.preview(store, access, _policies(opened.settings, policy))
    _tell_plan(context, plan)


@click.command("apply")
@click.option(
    "--plan", "fingerprint", required=True, metavar="FINGERPRINT", help="As preview printed it."
)
@policy_option
@tenant_option
@click.option("--cascade", is_flag=True, help="Also what others need; these go to review.")
@click.option("--dry-run", is_flag=True, help="Compare the plan, and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def apply(context: Context, /, fingerprint: str, policy: Path | None, **chosen: Any) -> None:  # noqa: ANN401 - the options
    """Delete what a plan says; refused when the database or a policy changed since; role owner.

    What was deleted is gone from every file of the home, and only a backup has it.
    """
    with stores.opened(context, "retention apply") as opened:
        access = stores.caller(opened.tenants, context.token, chosen["tenant"])
        store = opened.tenants.get(access.tenant)
        policies = _policies(opened.settings, policy)
        plan = retention.preview(store, access, policies)
        if plan.fingerprint != fingerprint:
            raise StalePlanError
        if chosen["dry_run"]:
            _tell_plan(context, plan)
            return
        count = len(plan.outcome.removed)
        count += len(plan.outcome.needed) if chosen["cascade"] else 0
        output.confirm(f"Delete {count} entries for good?", yes=chosen["yes"])
        done = retention.apply(store, access, policies, fingerprint, cascade=chosen["cascade"])
    _tell_removed(context, fingerprint, done)


def _policies(settings: Settings, policy: Path | None) -> tuple[Policy, ...]:
    return settings.policies() if policy is None else load_policies(expanded(policy))


def _tell_plan(context: Context, plan: Plan) -> None:
    outcome = plan.outcome
    if context.json:
        output.print_json(
            {
                "plan": plan.fingerprint,
                "imported": plan.imported,
                "policies": [policy.fields() for policy in plan.policies],
                "remove": [_fields(item) for item in outcome.removed],
                "needed": [_fields(item) for item in outcome.needed],
                "held": [_fields(item) for item in outcome.held],
            }
        )
        return
    output.print_table(_TITLES, _columns(outcome.removed))
    click.echo(f"plan {plan.fingerprint}")
    output.talk(f"{len(outcome.removed)} entries would go")
    for item in outcome.needed:
        needed_by = ", ".join(item.needed_by)
        output.talk(f"{item.entry.memory_id} stays without --cascade: {needed_by} derive from it")
    for item in outcome.held:
        output.talk(f"{item.entry.memory_id} stays: it is under a legal hold")
    if not plan.policies:
        output.talk("there is no policy: add [[retention]] tables to the configuration")
    if not plan.imported:
        output.talk(f"read from {LEGACY_DOCUMENT}, which is not imported: preview again once it is")


def _columns(items: Iterable[Item]) -> Iterable[tuple[object, ...]]:
    for item in items:
        entry = item.entry
        yield (
            entry.memory_id,
            entry.revision,
            entry.status,
            entry.collection,
            entry.kind,
            "; ".join(item.reasons),
        )


def _fields(item: Item) -> dict[str, object]:
    entry = item.entry
    return {
        "id": entry.memory_id,
        "revision": entry.revision,
        "repository_id": entry.repository_id,
        "project_id": entry.project_id,
        "collection": str(entry.collection),
        "kind": str(entry.kind),
        "status": str(entry.status),
        "updated_at": to_rfc3339(entry.updated_at),
        "used_at": None if entry.used_at is None else to_rfc3339(entry.used_at),
        "reasons": list(item.reasons),
        "needed_by": list(item.needed_by),
    }


def _tell_removed(context: Context, fingerprint: str, done: Removed) -> None:
    if context.json:
        output.print_json(
            {
                "plan": fingerprint,
                "removed": list(done.removed),
                "marked": list(done.marked),
                "left": [{"id": memory_id, "reason": why} for memory_id, why in done.left],
            }
        )
        return
    output.talk(f"{len(done.removed)} entries were deleted")
    for memory_id in done.marked:
        output.talk(f"{memory_id} derived from one of them and waits for a review")
    for memory_id, why in done.left:
        output.talk(f"{memory_id} stays: {why} meanwhile")
