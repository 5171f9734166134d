"""Manifests: a selection written down, so that it can be explained and replayed (01 §9)."""

from dataclasses import replace

from codeflow_memory.domain import adjacency, context, graph, ranking, terms
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.manifest import Manifest, seal
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.selection import Request, Selection
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services.choosing import Chosen, Omitted
from codeflow_memory.services.store import Store
from codeflow_memory.storage import lights, manifests, scopes
from codeflow_memory.storage.engine import Transaction

ENGINE_VERSION = "1"
"""Changes whenever the same state and request could give another selection."""


def record(
    store: Store, access: Access, project: Project, request: Request, chosen: Chosen
) -> Selection:
    """Write down what was *chosen* and why, and render the context; nothing is stored yet."""
    manifest_id, at = store.ids.new("sel"), store.now()
    text = context.TEMPLATES[context.TEMPLATE].enclose(chosen.written)
    record: dict[str, object] = {
        "id": manifest_id,
        "created_at": to_rfc3339(at),
        "run_id": request.run_id,
        "caller": access.principal_id,
        "repository_id": project.repository_id,
        "project_id": project.project_id,
        "request": _normalised(request),
        "filters": {
            "removed": chosen.eligible.removed,
            "branch": "unknown" if request.branch is None else "known",
            "ancestry": chosen.ancestry,
        },
        "entries": [
            _entry(chosen, entry, chosen.hashes[entry.memory_id]) for entry in chosen.taken
        ],
        "omitted": [_omission(chosen, o) for o in chosen.omitted],
        "truncated": {
            "terms": bool(chosen.scored.query.dropped),
            "seeds": chosen.seeds_truncated,
            "edges": chosen.connections.truncated,
            "omitted": chosen.omitted_truncated,
        },
        "engine": _engine(),
    }
    free = {
        "branch": request.branch,
        "paths": list(request.paths),
        "query": request.query,
        "terms": [token.text for token in chosen.scored.query.tokens],
        "terms_dropped": list(chosen.scored.query.dropped),
        "reasons": _reasons(chosen),
    }
    sealed = seal(record, free, text)
    manifest = Manifest(
        manifest_id=manifest_id,
        repository_id=project.repository_id,
        project_id=project.project_id,
        principal_id=access.principal_id,
        run_id=request.run_id,
        created_at=at,
        record=sealed.record,
        free_text=sealed.free,
        free_sha256=sealed.hashes.free,
        context_sha256=sealed.hashes.context,
        manifest_sha256=sealed.hashes.manifest,
    )
    return Selection(manifest, record, free, chosen.taken, text)


def keep(store: Store, selection: Selection, chosen: Chosen) -> None:
    """Store the manifest of *selection*, for which these entries were *chosen*."""
    manifest = selection.manifest
    listed = {entry.memory_id for entry in chosen.taken}
    listed |= {omitted.memory_id for omitted in chosen.omitted}
    with store.engine.write() as tx:
        if _lost_one(tx, chosen, listed):
            # Deleted since it was read: the deletion did not find this manifest's free text.
            manifest = replace(manifest, free_text=None)
        manifests.insert(tx, manifest, listed)


def _lost_one(tx: Transaction, chosen: Chosen, listed: set[str]) -> bool:
    """Tell whether any of *listed* was deleted since it was read."""
    # A deletion gives its scope another generation, and mostly none has changed.
    if scopes.generations(tx, chosen.generations) == chosen.generations:
        return False
    now = lights.find_all(tx, chosen.generations, listed)
    return any(row.status is Status.DELETED for row in now)


def _normalised(request: Request) -> dict[str, object]:
    return {
        "match": "literal" if request.literal else "all",
        "head": request.head,
        "budget": {
            "characters": request.budget.characters,
            "entries": request.budget.entries,
        },
        "kinds": sorted(request.kinds),
        "profile": "project",
        "explain": request.explain,
    }


def _engine() -> dict[str, object]:
    return {
        "version": ENGINE_VERSION,
        "template": context.TEMPLATE,
        "weights": {
            "title": ranking.TITLE_WEIGHT,
            "tags": ranking.TAG_WEIGHT,
            "body": ranking.BODY_WEIGHT,
            "saturation": ranking.SATURATION,
            "coverage": ranking.COVERAGE,
            "length": {"from": ranking.SHORT, "pivot": ranking.PIVOT},
            "adjacent": adjacency.BONUS,
            "path": ranking.PATH_SHARE,
            "one_hop": graph.ONE_HOP_SHARE,
            "two_hops": graph.TWO_HOP_SHARE,
            "forms": {str(form): weight for form, weight in terms.WEIGHT.items()},
            "without_words": {
                "path": ranking.WORDLESS_CLOSENESS,
                "trust": ranking.WORDLESS_TRUST,
                "recency": ranking.WORDLESS_RECENCY,
            },
        },
    }


def _entry(chosen: Chosen, entry: context.Entry, sha256: str) -> dict[str, object]:
    return {
        "memory_id": entry.memory_id,
        "revision": entry.revision,
        "content_sha256": sha256,
        "score": chosen.scores[entry.memory_id],
        "trust": entry.trust,
        "collection": entry.collection,
        "state": str(entry.state),
        "warnings": list(chosen.warnings[entry.memory_id]),
    }


def _omission(chosen: Chosen, omitted: Omitted) -> dict[str, object]:
    body: dict[str, object] = {
        "memory_id": omitted.memory_id,
        "score": omitted.score,
        "reason": omitted.reason,
    }
    if omitted.memory_id in chosen.channels:
        body["channels"] = chosen.channels[omitted.memory_id]
    return body


def _reasons(chosen: Chosen) -> dict[str, list[dict[str, object]]]:
    ids = [entry.memory_id for entry in chosen.taken]
    matched = ranking.matched(chosen.scored.query, chosen.scored.postings, ids)
    reasons: dict[str, list[dict[str, object]]] = {}
    for memory_id in ids:
        found: list[dict[str, object]] = [
            {"type": "term", "term": term, "fields": fields}
            for term, fields in matched[memory_id].items()
        ]
        near = chosen.closeness.get(memory_id)
        if near:
            found.append({"type": "path", "closeness": near})
        connection = chosen.connections.found.get(memory_id)
        if connection is not None:
            found.append(
                {
                    "type": "connection",
                    "seed": connection.seed,
                    "boost": connection.boost,
                    "hops": [{"type": h.type, "entity": h.entity} for h in connection.hops],
                }
            )
        if not found:
            found.append({"type": "standing"})
        reasons[memory_id] = found
    return reasons
