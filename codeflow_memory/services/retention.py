"""Retention: what policies would remove, and the removal of exactly that (07 §2)."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import StalePlanError
from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.domain.retention import Aged, Item, Policy, Sorted, sort_out, taken
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import removal
from codeflow_memory.services.administration import require_owner
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.rekeying import system
from codeflow_memory.services.removal import Removed
from codeflow_memory.services.store import Store
from codeflow_memory.storage import fingerprint, holds, repositories, tokens
from codeflow_memory.storage import retention as rows
from codeflow_memory.storage.engine import Transaction

NO_CONTENT = frozenset(
    {
        "store",
        "audit",
        "jobs",
        "tokens",
        "rates",
        "memory_terms",
        "memory_term_lists",
        "entities",
        "relationships",
    }
)
"""Tables that a plan does not rest on.

The first five move while nobody changes anything: the time seen last, checkpoints of the audit,
jobs, uses of tokens, rates; what else the audit has rows of shows in tables of its own. The others
follow from the entries in the transaction that changes them, and are most of the rows.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What policies lead to.

    Args:
        fingerprint: Of the database, the policies and all that is said here, 64 hex digits.
        policies: The policies, in their order; reasons name them by number from 1.
        outcome: What goes and what stays.
        imported: ``False`` for a plan of an older document that waits to be imported.
    """

    fingerprint: str
    policies: tuple[Policy, ...]
    outcome: Sorted
    imported: bool = True


def preview(store: Store, access: Access, policies: Iterable[Policy]) -> Plan:
    """Return what *policies* would remove now; nothing is written.

    Raises:
        ForbiddenError: The caller does not own the tenant: a plan lists others' private entries.
    """
    require_owner(access, "preview retention")
    with store.engine.read() as tx:
        return plan(tx, tuple(policies), _now(store, tx))


def apply(
    store: Store,
    access: Access,
    policies: Iterable[Policy],
    plan_fingerprint: str,
    *,
    cascade: bool,
) -> Removed:
    """Remove what a previewed plan says, by the one way of every deletion.

    The plan is made anew with the write lock held, and compared; the first entries go in that same
    transaction and the others in more of them, so that writers wait little. An entry that somebody
    changes, needs or holds meanwhile stays.

    Args:
        store: The tenant.
        access: The caller.
        policies: Those of the preview.
        plan_fingerprint: The preview's.
        cascade: Whether entries that others derive from go too; those others are marked.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        StalePlanError: The database, the policies or what they lead to is not the plan's.
    """
    policies = tuple(policies)

    def begin(mutation: Mutation) -> list[Item]:
        current = plan(mutation.tx, policies, mutation.at)
        if current.fingerprint != plan_fingerprint:
            raise StalePlanError
        return _going(current.outcome, cascade=cascade)

    return removal.run(store, access, begin, plan_fingerprint, cascade=cascade)


def apply_scheduled(store: Store, policies: Sequence[Policy]) -> Removed:
    """Remove, as the program itself, what the configured *policies* take; nothing cascades."""
    with store.engine.read() as tx:
        outcome = _outcome(tx, tuple(policies), _now(store, tx))
    if not outcome.removed:
        return Removed()
    items = list(outcome.removed)
    return removal.run(store, system(store), lambda _: items, "scheduled", cascade=False)


def plan(tx: Transaction, policies: tuple[Policy, ...], at: int) -> Plan:
    """Return what *policies* lead to at the time *at*, as the transaction sees the database."""
    outcome = _outcome(tx, policies, at)
    database = fingerprint.of_database(tx, NO_CONTENT)
    return Plan(name_plan(database, policies, outcome), policies, outcome)


def name_plan(database: str, policies: tuple[Policy, ...], outcome: Sorted) -> str:
    """Return the fingerprint of a plan; *database* is that of what it was made of.

    What the policies lead to is part of it: days pass, and an entry that came of age since the
    preview was not in what the preview printed.
    """
    told = {
        "database": database,
        "policies": [policy.fields() for policy in policies],
        **{
            name: [
                [i.entry.memory_id, i.entry.revision, list(i.reasons), list(i.needed_by)]
                for i in items
            ]
            for name, items in (
                ("removed", outcome.removed),
                ("needed", outcome.needed),
                ("held", outcome.held),
            )
        },
    }
    return hashlib.sha256(canonical_json(told).encode()).hexdigest()


def _now(store: Store, tx: Transaction) -> int:
    """Return the time that a mutation would have: a clock that was set back makes nothing young."""
    return max(store.now(), tokens.latest_at(tx))


def _going(outcome: Sorted, *, cascade: bool) -> list[Item]:
    return [*outcome.removed, *(outcome.needed if cascade else ())]


def _outcome(tx: Transaction, policies: tuple[Policy, ...], at: int) -> Sorted:
    if not policies:
        return Sorted()
    items = taken(policies, _entries(tx, policies, at), at)
    held = {item.entry.memory_id for item in items if _is_held(tx, item.entry)}
    return sort_out(items, removal.children_of(tx), held)


def _entries(tx: Transaction, policies: tuple[Policy, ...], at: int) -> list[Aged]:
    """List what is old enough for any policy, with its last use where a policy asks for it."""
    before = at - min(policy.days for policy in policies) * DAY
    unused = [policy.unused_days for policy in policies if policy.unused_days is not None]
    found: list[Aged] = []
    for repository_id in repositories.ids(tx):
        entries = rows.unchanged_since(tx, repository_id, before)
        used: dict[str, int] = {}
        if unused and entries:
            ids = {entry.memory_id for entry in entries}
            used = rows.used_after(tx, repository_id, ids, at - max(unused) * DAY)
        found += [replace(e, used_at=used.get(e.memory_id)) for e in entries]
    return found


def _is_held(tx: Transaction, entry: Aged) -> bool:
    return holds.is_held(tx, entry.repository_id, entry.project_id, entry.memory_id)
