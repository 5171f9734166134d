"""What retention would remove of an older ``memory.json``, which is read and not imported."""

from collections.abc import Iterable
from pathlib import Path

from codeflow_memory.domain.retention import Aged, Policy, sort_out, taken
from codeflow_memory.services import legacy_source
from codeflow_memory.services.legacy_mapping import spelled
from codeflow_memory.services.removal import Children
from codeflow_memory.services.retention import Plan, name_plan


def preview(path: Path, policies: Iterable[Policy], at: int) -> Plan:
    """Return what *policies* would remove of the document at *path*; nothing is written.

    Raises:
        NotFoundError: There is no such file.
        InvalidRequestError: It is not valid; with the first 100 faults.
    """
    source, policies = legacy_source.read(path), tuple(policies)
    used: dict[str, int] = {}
    for vote in source.document.feedback:
        used[vote.memory_id] = max(used.get(vote.memory_id, 0), vote.at)
    entries, children = list[Aged](), Children()
    for entry in source.document.entries:
        if entry.content is None:
            continue
        entries.append(
            Aged(
                memory_id=entry.memory_id,
                repository_id=spelled(entry.repo),
                project_id=entry.project_id,
                scope_id=0,
                revision=entry.revision,
                collection=entry.collection,
                kind=entry.content.kind,
                status=entry.status,
                updated_at=entry.updated_at,
                used_at=used.get(entry.memory_id),
            )
        )
        for pair in entry.content.derived_from:
            children.setdefault(pair.memory_id, {})[entry.memory_id] = 0
    outcome = sort_out(taken(policies, entries, at), children, ())
    return Plan(name_plan(source.sha256, policies, outcome), policies, outcome, imported=False)
