"""Replay: a manifest's context again, from the recorded revisions, without searching."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codeflow_memory.domain import context
from codeflow_memory.domain.access import Access, Reach, Role
from codeflow_memory.domain.context import Entry, State
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.domain.manifest import Manifest, sha256, whole
from codeflow_memory.domain.memory import Memory, Pair
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.revision import Revision
from codeflow_memory.services import access as accesses
from codeflow_memory.services import rendering, views, visible
from codeflow_memory.services.store import Store
from codeflow_memory.storage import manifests, revisions
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.engine import Transaction


@dataclass(frozen=True, slots=True)
class Replay:
    """A rebuilt context.

    Args:
        manifest: What was recorded.
        context: The text; byte-identical to the first one while nothing is missing.
        places: Of each entry its state now: shown, quarantined, redacted or withheld.
        verified: All hashes agree and nothing is missing.
    """

    manifest: Manifest
    context: str
    places: tuple[Entry, ...]
    verified: bool


def run(
    store: Store, access: Access, project_id: str, repo: str | None, manifest_id: str
) -> Replay:
    """Rebuild the context of a manifest, however its memories have changed since.

    Raises:
        NotFoundError: No such manifest for the caller.
    """
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        return _rebuild(tx, reach, seen(tx, reach, project, manifest_id))


def seen(tx: Transaction, reach: Reach, project: Project, manifest_id: str) -> Manifest:
    """Return a manifest of *project* that the caller may see.

    Raises:
        NotFoundError: Absent, or another's whose entries the caller may not all see.
    """
    manifest = manifests.find(tx, project.repository_id, project.project_id, manifest_id)
    if manifest is None or not _sees(tx, reach, project, manifest):
        raise NotFoundError("selection", manifest_id)
    return manifest


def served(manifest: Manifest) -> frozenset[str]:
    """Return the ids of the entries that a selection gave."""
    entries: list[Mapping[str, Any]] = json.loads(manifest.record)["entries"]
    return frozenset(entry["memory_id"] for entry in entries)


def find_of_run(  # noqa: PLR0913, PLR0917 - a page of a run's manifests
    store: Store,
    access: Access,
    project_id: str,
    repo: str | None,
    run_id: str | None,
    before: str | None,
    limit: int,
) -> list[Manifest]:
    """List the manifests of a run, or one's own, newest first; one more than *limit* if there is.

    Those that the caller may not see are not there.
    """
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        where = (project.repository_id, project.project_id)
        start = before or _AFTER_ALL
        if run_id is None:
            return manifests.find_of_principal(tx, *where, access.principal_id, start, limit + 1)
        found: list[Manifest] = []
        while len(found) <= limit:
            page = manifests.find_of_run(tx, *where, run_id, start, limit + 1)
            found += [m for m in page if _sees(tx, reach, project, m)]
            if len(page) <= limit:
                break
            start = page[-1].manifest_id
        return found[: limit + 1]


_AFTER_ALL = "~"
"""Sorts behind every id."""


def _sees(tx: Transaction, reach: Reach, project: Project, manifest: Manifest) -> bool:
    """Tell whether the caller made it, or is a reviewer who may see every entry in it."""
    access = reach.access
    if manifest.principal_id == access.principal_id:
        return True
    if not access.may(Role.REVIEWER, project.repository_id):
        return False
    record = json.loads(manifest.record)
    listed = {e["memory_id"] for e in (*record["entries"], *record["omitted"])}
    found = rows.find_all(tx, visible.scope_ids(reach), listed)
    return len(found) == len(listed) and all(reach.sees(s.memory) for s in found)


def _rebuild(tx: Transaction, reach: Reach, manifest: Manifest) -> Replay:
    record: Mapping[str, Any] = json.loads(manifest.record)
    entries: list[Mapping[str, Any]] = record["entries"]
    readable = {
        s.memory.memory_id: s.memory
        for s in rows.find_all(
            tx, visible.scope_ids(reach), {entry["memory_id"] for entry in entries}
        )
    }
    kept = {
        Pair(r.memory_id, r.revision): r
        for r in revisions.find_pairs(
            tx,
            manifest.repository_id,
            [Pair(entry["memory_id"], entry["revision"]) for entry in entries],
        )
    }
    places, whole_entries = [], True
    for entry in entries:
        memory = readable.get(entry["memory_id"])
        pair = Pair(entry["memory_id"], entry["revision"])
        revision = kept.get(pair)
        if memory is None:
            places.append(Entry(pair.memory_id, pair.revision, State.WITHHELD))
            continue
        if revision is None or revision.content is None:
            places.append(Entry(pair.memory_id, pair.revision, State.REDACTED))
            continue
        whole_entries &= revision.content.sha256() == entry["content_sha256"]
        places.append(_place(memory, revision, entry))
    text = context.render(record["engine"]["template"], places)
    return Replay(
        manifest,
        text,
        tuple(places),
        whole_entries and _verified(manifest, record, places, text),
    )


def _place(memory: Memory, revision: Revision, entry: Mapping[str, Any]) -> Entry:
    return rendering.shown(
        views.with_revision(memory, revision),
        State(entry["state"]),
        entry["trust"],
        tuple(entry["warnings"]),
    )


def _verified(
    manifest: Manifest, record: Mapping[str, Any], places: list[Entry], text: str
) -> bool:
    missing = any(place.state in {State.REDACTED, State.WITHHELD} for place in places)
    free = manifest.free_text
    return (
        not missing
        and sha256(text) == manifest.context_sha256
        and (free is None or sha256(free) == manifest.free_sha256)
        and whole(record, manifest.free_sha256, manifest.context_sha256) == manifest.manifest_sha256
    )
