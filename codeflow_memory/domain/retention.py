"""Retention: which entries a policy takes, and which of these stay all the same (07 §2).

A policy takes an entry that it names (by collection, kind and status) once the entry is old:
*unchanged* since its last revision, *unused* since it last stood in a selection's manifest or was
judged, or else since it changed. Reading and searching leave no trace and are no use.
"""

from collections.abc import Collection as Several
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.times import DAY

MAX_DAYS = 36_500

OUT_OF_SERVICE = frozenset({Status.REJECTED, Status.OUTDATED, Status.SUPERSEDED, Status.ARCHIVED})
"""What a policy takes that names no status: accepted guidance and proposals go only by name."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is to go. Where both ages are given, both must be reached.

    Args:
        collections: Only of these; empty for all.
        kinds: Only of these; empty for all.
        statuses: Only with these.
        older_than_days: Unchanged for so long; ``None`` when that does not matter.
        unused_days: Unused for so long; ``None`` when that does not matter.
    """

    collections: frozenset[Collection]
    kinds: frozenset[Kind]
    statuses: frozenset[Status]
    older_than_days: int | None
    unused_days: int | None

    @property
    def days(self) -> int:
        """The least age in days that an entry has which this takes."""
        return max(self.older_than_days or 0, self.unused_days or 0)

    def fields(self) -> dict[str, object]:
        """Return the policy as JSON values; equal policies give equal ones."""
        return {
            "collections": sorted(map(str, self.collections)),
            "kinds": sorted(map(str, self.kinds)),
            "statuses": sorted(map(str, self.statuses)),
            "older_than_days": self.older_than_days,
            "unused_days": self.unused_days,
        }


@dataclass(frozen=True, slots=True)
class Aged:
    """An entry as retention sees it: no word of its text.

    ``used_at`` is when it last stood in a manifest or was judged; ``None`` for never, or longer
    ago than any policy asks. Times are Unix microseconds.
    """

    memory_id: str
    repository_id: str
    project_id: str
    scope_id: int
    revision: int
    collection: Collection
    kind: Kind
    status: Status
    updated_at: int
    used_at: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An entry that a policy takes.

    Args:
        entry: The entry.
        reasons: What each policy that takes it says.
        needed_by: Ids of the entries that derive from it and do not go themselves, in order.
    """

    entry: Aged
    reasons: tuple[str, ...]
    needed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sorted:
    """What becomes of the items that policies take.

    Args:
        removed: What goes; an entry comes before those that it derives from.
        needed: What stays unless descendants may lose it, in the same order.
        held: What a legal hold keeps, by id.
    """

    removed: tuple[Item, ...] = ()
    needed: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()


def taken(policies: Iterable[Policy], entries: Iterable[Aged], at: int) -> list[Item]:
    """Return what any of *policies* takes at the time *at*, with its reasons."""
    numbered = list(enumerate(policies, start=1))
    items = []
    for entry in entries:
        reasons = tuple(
            f"policy {number}: {_because(policy)}"
            for number, policy in numbered
            if takes(policy, entry, at)
        )
        if reasons:
            items.append(Item(entry, reasons))
    return items


def takes(policy: Policy, entry: Aged, at: int) -> bool:
    """Tell whether *policy* takes *entry* at the time *at*; what is deleted is never taken."""
    named = (
        entry.status in policy.statuses - {Status.DELETED}
        and (not policy.collections or entry.collection in policy.collections)
        and (not policy.kinds or entry.kind in policy.kinds)
    )
    used_at = max(entry.updated_at, entry.used_at or 0)
    ages = ((policy.older_than_days, entry.updated_at), (policy.unused_days, used_at))
    asked = [(days, since) for days, since in ages if days is not None]
    return named and bool(asked) and all(since <= at - days * DAY for days, since in asked)


def sort_out(
    items: Iterable[Item], children: Mapping[str, Several[str]], held: Several[str]
) -> Sorted:
    """Tell what of *items* goes and what stays.

    Args:
        items: What policies take.
        children: An id to those of the entries that stand and derive from it.
        held: Ids that a legal hold keeps.
    """
    wanted = {item.entry.memory_id: item for item in items}
    going = wanted.keys() - set(held)
    while needed := {i for i in going if set(children.get(i, ())) - going}:
        going -= needed
    kept = wanted.keys() - going - set(held)
    order = [i for i in _children_first(sorted(wanted), children) if i in wanted]
    return Sorted(
        tuple(wanted[i] for i in order if i in going),
        tuple(
            Item(wanted[i].entry, wanted[i].reasons, tuple(sorted(set(children[i]) - going)))
            for i in order
            if i in kept
        ),
        tuple(wanted[i] for i in sorted(wanted) if i in held),
    )


def _because(policy: Policy) -> str:
    ages = (("unchanged", policy.older_than_days), ("unused", policy.unused_days))
    return " and ".join(f"{word} for {days} days" for word, days in ages if days is not None)


def _children_first(ids: Iterable[str], children: Mapping[str, Several[str]]) -> Iterator[str]:
    """Yield *ids* and all that derives from them, each once, what derives before its origin."""
    seen: set[str] = set()
    for root in ids:
        # By hand: a long chain of entries is deeper than Python's stack.
        stack = [(root, False)]
        while stack:
            one, done = stack.pop()
            if done:
                yield one
            elif one not in seen:
                seen.add(one)
                stack.append((one, True))
                stack += [(child, False) for child in sorted(children.get(one, ()))]
