"""Choosing: which entries a selection takes, in which order, and which it leaves out and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codeflow_memory.domain import context, ranking
from codeflow_memory.domain.access import Reach
from codeflow_memory.domain.budget import Budget, Filling
from codeflow_memory.domain.eligibility import Eligible, Standpoint, select
from codeflow_memory.domain.graph import Connections, connect
from codeflow_memory.domain.paths import Requested
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.selection import Request
from codeflow_memory.domain.terms import query_terms
from codeflow_memory.services import ancestry, neighbourhood, rendering, search, visible
from codeflow_memory.services.channels import Standing
from codeflow_memory.services.search import Looked, Scored
from codeflow_memory.services.store import Store
from codeflow_memory.storage import citations, lights
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.lights import Light, Whole

MAX_OMITTED = 100
_CHUNK = 32
"""Entries whose text is read at a time, while the budget holds."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """An entry that applies and did not fit, with the budget that it did not fit."""

    memory_id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a selection decided, before it is written down.

    ``generations`` are those of the scopes that it read, by scope; ``written`` is what the template
    made of each entry that was ``taken``; ``channels`` are of each that was ``omitted``, where the
    request asks for an explanation.
    """

    generations: Mapping[int, int]
    scored: Scored
    eligible: Eligible
    scores: Mapping[str, float]
    closeness: Mapping[str, float]
    connections: Connections
    taken: tuple[context.Entry, ...]
    written: tuple[str, ...]
    hashes: Mapping[str, str]
    warnings: Mapping[str, tuple[str, ...]]
    omitted: tuple[Omitted, ...]
    omitted_truncated: bool
    ancestry: str
    seeds_truncated: bool
    channels: Mapping[str, Mapping[str, float]]


def choose(
    store: Store,
    tx: Transaction,
    project: Project,
    reach: Reach,
    request: Request,
    ancestors: frozenset[str] | None,
) -> Chosen:
    """Decide on one snapshot what the run receives; *ancestors* are those of `ancestry.find`."""
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
    eligible = select(seen.arranged, standpoint)
    query = query_terms(request.query, store.words, store.stems, literal=request.literal)
    scope_ids = visible.scope_ids(reach)
    scored = search.score(
        store, tx, Looked(query, scope_ids, seen, eligible.memory_ids, literal=request.literal)
    )
    closeness = _closeness(requested, request, eligible)
    standing = Standing(scored, closeness, eligible.memory_ids, rows)
    scores = standing.scores()
    seeds = search.best(scores, rows, ranking.MAX_SEEDS)
    links = store.shelf.links(tx, project.repository_id, seen.generations)
    edges = neighbourhood.edges(links, [s.memory_id for s in seeds], eligible.memory_ids)
    connections = connect(
        {s.memory_id: s.score for s in seeds if s.score > 0}, edges, eligible=eligible.memory_ids
    )
    gains = {m: c.boost for m, c in connections.found.items()}
    final = ranking.raised({s.memory_id: s.score for s in seeds}, gains)
    ordered = search.best(final, rows, ranking.MAX_SEEDS)
    fits = _fill(tx, ordered, rows, suspects, request.budget)
    omitted = tuple(fits.omitted[:MAX_OMITTED])
    explained = [o.memory_id for o in omitted if request.explain]
    return Chosen(
        generations=seen.generations,
        scored=scored,
        eligible=eligible,
        scores={hit.memory_id: hit.score for hit in ordered},
        closeness=closeness,
        connections=connections,
        taken=tuple(fits.entries),
        written=tuple(fits.written),
        hashes=fits.hashes,
        warnings=fits.warnings,
        omitted=omitted,
        omitted_truncated=len(fits.omitted) > MAX_OMITTED,
        ancestry=ancestry.state(request, rows, ancestors),
        seeds_truncated=len(scores) > ranking.MAX_SEEDS,
        channels=standing.explain(explained, {s.memory_id for s in seeds}, gains),
    )


def _closeness(requested: Requested, request: Request, eligible: Eligible) -> dict[str, float]:
    if not request.paths:
        return {}
    near: dict[str, float] = {}
    for group in eligible.groups:
        for cited, memory_ids in group.by_cited:
            closeness = requested.closeness(group.paths, cited)
            if closeness:
                near |= dict.fromkeys(memory_ids, closeness)
    return near


@dataclass(slots=True)
class _Taken:
    """What fits, and what does not with the reason, in the order of the scores."""

    entries: list[context.Entry] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    omitted: list[Omitted] = field(default_factory=list)


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
        stored: dict[str, Whole] = {}
        if fitting:
            found = lights.wholes(tx, {rows[m].scope_id for m in fitting}, fitting)
            stored = {memory.memory_id: memory for memory in found}
        for hit in chunk:
            memory = stored.get(hit.memory_id)
            entry, text, size = None, "", filling.left + 1
            warnings: tuple[str, ...] = ()
            if memory is not None and not filling.full:
                warnings = rendering.warnings(memory, suspects.get(hit.memory_id, []))
                entry = rendering.entry(memory, warnings)
                text = template.entry(entry)
                size = len(text)
            omission = filling.offer(size)
            if omission is not None:
                taken.omitted.append(Omitted(hit.memory_id, hit.score, str(omission)))
            elif memory is not None and entry is not None:
                taken.entries.append(entry)
                taken.written.append(text)
                taken.hashes[hit.memory_id] = memory.content_sha256
                taken.warnings[hit.memory_id] = warnings
    return taken


def _chunks(ordered: list[ranking.Hit]) -> Iterator[list[ranking.Hit]]:
    for start in range(0, len(ordered), _CHUNK):
        yield ordered[start : start + _CHUNK]
