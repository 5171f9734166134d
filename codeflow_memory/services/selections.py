"""Selection: what a run receives at its start, explained and recorded (01 §9)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codeflow_memory.domain import adjacency, context, graph, ranking, terms
from codeflow_memory.domain.access import Access, Reach
from codeflow_memory.domain.budget import Budget, Filling
from codeflow_memory.domain.eligibility import Eligible, Standpoint, select
from codeflow_memory.domain.errors import CodeflowError, ForbiddenError, InvalidRequestError
from codeflow_memory.domain.graph import Connections, connect
from codeflow_memory.domain.manifest import seal
from codeflow_memory.domain.memory import Kind, Memory, Status, canonical_json
from codeflow_memory.domain.paths import Requested
from codeflow_memory.domain.terms import query_terms
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkouts, neighbourhood, rendering, search, visible
from codeflow_memory.services.search import Looked, Scored
from codeflow_memory.services.store import Store
from codeflow_memory.storage import citations, manifests, memories, runs
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.manifests import Manifest
from codeflow_memory.storage.memories import Light
from codeflow_memory.storage.projects import Project

ENGINE_VERSION = "1"
"""Changes whenever the same state and request could give another selection."""

MAX_OMITTED = 100
_CHUNK = 32
"""Entries whose text is read at a time, while the budget holds."""

DEFAULT_KINDS = tuple(str(kind) for kind in Kind if kind is not Kind.TRACE)


@dataclass(frozen=True, slots=True)
class Request:
    """What a run asks for; see 01 §9."""

    query: str = ""
    literal: bool = False
    branch: str | None = None
    head: str | None = None
    paths: tuple[str, ...] = ()
    run_id: str | None = None
    budget: Budget = field(default_factory=Budget)
    kinds: tuple[str, ...] = DEFAULT_KINDS
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """A stored manifest: its record, free text, entries and context, and the hashes over them."""

    manifest: Manifest
    record: Mapping[str, object]
    free: Mapping[str, object]
    places: tuple[context.Entry, ...]
    context: str


def create(
    store: Store, access: Access, project_id: str, repo: str | None, request: Request
) -> Selection:
    """Select what applies, record it, and return it with the text to inject.

    Raises:
        NotFoundError: No such project for the caller.
        ForbiddenError: The request contradicts the run's token.
        InvalidRequestError: The run is none of the caller's.
    """
    ancestors = _ancestors(store, access, project_id, repo, request)
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        request = _settled(tx, access, project, request)
        reach = accesses.reach(tx, access, project)
        chosen = _choose(store, tx, project, reach, request, ancestors)
    selection = _record(store, access, project, request, chosen)
    listed = {entry.memory_id for entry in chosen.taken}
    listed |= {omitted.memory_id for omitted in chosen.omitted}
    with store.engine.write() as tx:
        now = memories.light_of(tx, reach.scopes, listed)
        manifest = selection.manifest
        if any(row.status is Status.DELETED for row in now):
            # Deleted since it was read: the deletion did not find this manifest's free text.
            manifest = replace(manifest, free_text=None)
        manifests.insert(tx, manifest, listed)
    return selection


@dataclass(frozen=True, slots=True)
class _Omitted:
    memory_id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a selection decided, before it is written down."""

    scored: Scored
    eligible: Eligible
    scores: Mapping[str, float]
    closeness: Mapping[str, float]
    connections: Connections
    taken: tuple[context.Entry, ...]
    hashes: Mapping[str, str]
    warnings: Mapping[str, tuple[str, ...]]
    omitted: tuple[_Omitted, ...]
    omitted_truncated: bool
    ancestry: str
    seeds_truncated: bool


def _choose(
    store: Store,
    tx: Transaction,
    project: Project,
    reach: Reach,
    request: Request,
    ancestors: frozenset[str] | None,
) -> _Chosen:
    seen = store.shelf.accepted(tx, reach)
    rows = seen.by_id
    suspects = citations.suspects(tx, project.repository_id)
    requested = Requested(request.paths)
    standpoint = Standpoint(
        frozenset(request.kinds),
        requested,
        request.branch,
        ancestors,
        store.now(),
        frozenset(m for m, found in suspects.items() if any(c.required for c in found)),
    )
    eligible = select(seen.groups, standpoint)
    query = query_terms(request.query, store.words, store.stems, literal=request.literal)
    scope_ids = visible.scope_ids(reach)
    scored = search.score(
        store, tx, Looked(query, scope_ids, rows, eligible.memory_ids, literal=request.literal)
    )
    closeness = _closeness(requested, request, eligible)
    scores = _scores(scored, closeness, eligible, rows)
    seeds = search.best(scores, rows, ranking.MAX_SEEDS)
    edges = neighbourhood.edges(
        tx, project, scope_ids, [s.memory_id for s in seeds], eligible.memory_ids
    )
    connections = connect(
        {s.memory_id: s.score for s in seeds if s.score > 0}, edges, eligible=eligible.memory_ids
    )
    gains = {m: c.boost for m, c in connections.found.items()}
    final = ranking.raised({s.memory_id: s.score for s in seeds}, gains)
    ordered = search.best(final, rows, ranking.MAX_SEEDS)
    fits = _fill(tx, ordered, rows, suspects, request.budget)
    return _Chosen(
        scored=scored,
        eligible=eligible,
        scores={hit.memory_id: hit.score for hit in ordered},
        closeness=closeness,
        connections=connections,
        taken=tuple(fits.entries),
        hashes=fits.hashes,
        warnings=fits.warnings,
        omitted=tuple(fits.omitted[:MAX_OMITTED]),
        omitted_truncated=len(fits.omitted) > MAX_OMITTED,
        ancestry=_ancestry(request, rows, ancestors),
        seeds_truncated=len(scores) > ranking.MAX_SEEDS,
    )


def _scores(
    scored: Scored, closeness: Mapping[str, float], eligible: Eligible, rows: Mapping[str, Light]
) -> dict[str, float]:
    """Score the seeds by words and paths; without words by paths, trust and recency alone."""
    if scored.query.tokens:
        return ranking.with_closeness(scored.scores, closeness)
    kept = [rows[m] for m in eligible.memory_ids]
    newest = max((row.updated_at for row in kept), default=0)
    return {
        row.memory_id: ranking.without_words(
            closeness.get(row.memory_id, 0.0), row.trust, row.updated_at, newest
        )
        for row in kept
    }


def _closeness(requested: Requested, request: Request, eligible: Eligible) -> dict[str, float]:
    if not request.paths:
        return {}
    near: dict[str, float] = {}
    for traits, memory_ids in eligible.groups:
        if traits.paths or traits.cited:
            closeness = requested.closeness(traits.paths, traits.cited)
            if closeness:
                near |= dict.fromkeys(memory_ids, closeness)
    return near


@dataclass(slots=True)
class _Taken:
    """What fits, and what does not with the reason, in the order of the scores."""

    entries: list[context.Entry] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    omitted: list[_Omitted] = field(default_factory=list)


_LEAST = context.Entry("m" * 30, 1, collection="team", kind="fact")
"""No entry has a shorter frame."""


def _fill(
    tx: Transaction,
    ordered: list[ranking.Hit],
    rows: Mapping[str, Light],
    suspects: Mapping[str, list[citations.Suspect]],
    budget: Budget,
) -> _Taken:
    """Take what fits; text is read only as far as it may be needed."""
    template = context.TEMPLATES[context.TEMPLATE]
    filling, taken = Filling(budget, frame=template.frame), _Taken()
    least = len(template.entry(_LEAST))
    for chunk in _chunks(ordered):
        # Escaping only adds characters, so an entry whose text is too long as it is cannot fit; all
        # but a few entries of a full context are refused without being read.
        fitting = [
            hit.memory_id
            for hit in chunk
            if not filling.full and rows[hit.memory_id].characters + least <= filling.left
        ]
        stored: dict[str, Memory] = {}
        if fitting:
            found = memories.find_all(tx, {rows[m].scope_id for m in fitting}, fitting)
            stored = {s.memory.memory_id: s.memory for s in found}
        for hit in chunk:
            memory = stored.get(hit.memory_id)
            entry, size = None, filling.left + 1
            warnings: tuple[str, ...] = ()
            if memory is not None and not filling.full:
                warnings = rendering.warnings(memory, suspects.get(hit.memory_id, []))
                entry = rendering.entry(memory, warnings)
                size = len(template.entry(entry))
            omission = filling.offer(size)
            if omission is not None:
                taken.omitted.append(_Omitted(hit.memory_id, hit.score, str(omission)))
            elif memory is not None and entry is not None:
                taken.entries.append(entry)
                taken.hashes[hit.memory_id] = memory.content_sha256 or ""
                taken.warnings[hit.memory_id] = warnings
    return taken


def _chunks(ordered: list[ranking.Hit]) -> Iterator[list[ranking.Hit]]:
    for start in range(0, len(ordered), _CHUNK):
        yield ordered[start : start + _CHUNK]


def _settled(tx: Transaction, access: Access, project: Project, request: Request) -> Request:
    """Take the run and branch from the caller's token where the request names none."""
    run = access.run
    if run is None:
        if request.run_id is not None:
            named = runs.find(tx, project.repository_id, request.run_id)
            if (
                named is None
                or named.principal_id != access.principal_id
                or named.project_id != project.project_id
            ):
                raise InvalidRequestError.at("/run_id", "no run of yours in this project")
            return replace(request, branch=request.branch or named.branch)
        return request
    if request.run_id not in {None, run.run_id}:
        raise ForbiddenError("the run's token is bound to another run")
    if run.branch is not None and request.branch not in {None, run.branch}:
        raise ForbiddenError("the run's token is bound to another branch")
    return replace(request, run_id=run.run_id, branch=request.branch or run.branch)


def _ancestors(
    store: Store, access: Access, project_id: str, repo: str | None, request: Request
) -> frozenset[str] | None:
    """Ask git which commits that entries name are the head or its ancestors; outside a transaction.

    ``None`` when that cannot be told: no head was given, or the repository is not readable.
    """
    if request.head is None:
        return None
    with store.engine.read() as tx:
        project = accesses.get_project(tx, access, project_id, repo)
        reach = accesses.reach(tx, access, project)
        named = visible.commits(store.shelf.accepted(tx, reach).by_id.values())
        places = checkouts.readable(store, tx, project.repository_id) if named else []
    repository = checkouts.open_first(places, request.head)
    if repository is None:
        return None
    try:
        return repository.ancestors_among(sorted(named), request.head)
    except CodeflowError:
        # A repository that cannot be read leaves the answer unknown; the manifest says so.
        return None


def _ancestry(request: Request, rows: Mapping[str, Light], ancestors: frozenset[str] | None) -> str:
    if ancestors is not None:
        return "known"
    return "unknown" if request.head is None or visible.commits(rows.values()) else "not-needed"


def _record(
    store: Store, access: Access, project: Project, request: Request, chosen: _Chosen
) -> Selection:
    manifest_id, at = store.ids.new("sel"), store.now()
    text = context.render(context.TEMPLATE, chosen.taken)
    record = {
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
        "omitted": [_omission(chosen, o, explain=request.explain) for o in chosen.omitted],
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
    hashes = seal(record, free, text)
    manifest = Manifest(
        manifest_id=manifest_id,
        repository_id=project.repository_id,
        project_id=project.project_id,
        principal_id=access.principal_id,
        run_id=request.run_id,
        created_at=at,
        record=canonical_json(record),
        free_text=canonical_json(free),
        free_sha256=hashes.free,
        context_sha256=hashes.context,
        manifest_sha256=hashes.manifest,
    )
    return Selection(manifest, record, free, chosen.taken, text)


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


def _entry(chosen: _Chosen, entry: context.Entry, sha256: str) -> dict[str, object]:
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


def _omission(chosen: _Chosen, omitted: _Omitted, *, explain: bool) -> dict[str, object]:
    body: dict[str, object] = {
        "memory_id": omitted.memory_id,
        "score": omitted.score,
        "reason": omitted.reason,
    }
    if explain:
        connection = chosen.connections.found.get(omitted.memory_id)
        keyword = chosen.scored.scores.get(omitted.memory_id, 0.0)
        body["channels"] = {
            "keyword": round(keyword, ranking.DECIMALS),
            "path": chosen.closeness.get(omitted.memory_id, 0.0),
            "connection": 0.0 if connection is None else connection.boost,
        }
    return body


def _reasons(chosen: _Chosen) -> dict[str, list[dict[str, object]]]:
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
