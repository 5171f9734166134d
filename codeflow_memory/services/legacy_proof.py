"""The proof of an import: every record read back from SQL and compared with the document."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields

from codeflow_memory.adapters.legacy_records import Document, LegacyEntry, LegacyFeedback
from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.memory import Pair
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.services import legacy_mapping as mapping
from codeflow_memory.services.legacy_mapping import Names, Places
from codeflow_memory.storage import (
    approvals,
    feedback,
    imports,
    memories,
    projects,
    repositories,
    revisions,
)
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.imports import Import

_CHUNK = 250
"""Entries read back at once."""


def prove(tx: Transaction, document: Document, places: Places) -> None:
    """Read every record back and compare it with the document, field by field.

    Raises:
        StoreUnusableError: With the first field that differs.
    """
    record = imports.find(tx)
    wanted = {e.memory_id: mapping.expected(e, places) for e in document.entries}
    found = list(_read_entries(tx, places, _names(tx, places, record)))
    for entry in found:
        _compare(entry.memory_id, wanted.pop(entry.memory_id, None), entry)
    for memory_id in wanted:
        raise _differs(memory_id, "absence")
    done = {r.operation_id: r for r in imports.receipts_of(tx, places.owner)}
    for receipt in document.receipts:
        stored = done.get(receipt.operation_id)
        back = None if stored is None else mapping.of_receipt(stored)
        _compare(receipt.operation_id, receipt, back)
    if Counter(_read_feedback(tx, found, places)) != Counter(document.feedback):
        raise _differs("feedback", "set of records")


def _names(tx: Transaction, places: Places, record: Import | None) -> Names:
    paths = {
        repository_id: path
        for repo, repository_id in places.repositories.items()
        if Alias(Fact.PATH, path := mapping.spelled(repo))
        in repositories.aliases(tx, repository_id)
    }
    slugs = {
        row.project_id: row.slug
        for repository_id, project_id in {(r, p) for (r, _), p in places.projects.items()}
        if (row := projects.find(tx, repository_id, project_id)) is not None
    }
    pairs: dict[str, tuple[Pair, ...]] = {}
    for finding in () if record is None else record.findings:
        listed = finding.get("derived_from")
        if isinstance(listed, list):
            pairs[str(finding["memory_id"])] = tuple(Pair(m, r) for m, r in listed)
    return Names(paths, slugs, pairs)


def _read_entries(tx: Transaction, places: Places, names: Names) -> Iterator[LegacyEntry]:
    for scope in places.scopes.values():
        ids = [memory_id for _, memory_id in imports.memory_ids(tx, [scope.scope_id])]
        for start in range(0, len(ids), _CHUNK):
            for stored in memories.find_all(tx, [scope.scope_id], ids[start : start + _CHUNK]):
                where = stored.memory.repository_id, stored.memory.memory_id
                kept = revisions.find_all(tx, *where)
                if [(r.revision, r.content) for r in kept] != [
                    (stored.memory.revision, stored.memory.content)
                ]:
                    raise _differs(stored.memory.memory_id, "revisions")
                yield mapping.of_stored(stored, approvals.find_all(tx, *where), names)


def _read_feedback(
    tx: Transaction, found: Iterable[LegacyEntry], places: Places
) -> Iterator[LegacyFeedback]:
    of_path = {mapping.spelled(repo): r for repo, r in places.repositories.items()}
    for entry in found:
        for judgement in feedback.find_all(tx, of_path[entry.repo], entry.memory_id):
            yield mapping.of_judgement(entry.memory_id, judgement)


def _compare(name: str, wanted: object, found: object) -> None:
    if wanted == found:
        return
    if wanted is None or found is None:
        raise _differs(name, "presence")
    for field in fields(wanted):  # type: ignore[arg-type] # every record is a dataclass
        if getattr(wanted, field.name) != getattr(found, field.name):
            raise _differs(name, field.name)


def _differs(name: str, field: str) -> StoreUnusableError:
    return StoreUnusableError(
        "the database", f"{name} was read back with another {field}; nothing was imported"
    )
