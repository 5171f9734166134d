"""Anchors: what stood in the cited files when an entry was written (01 §10).

Git is asked before the transaction; the anchors are stored within it, with the entry. Where the
repository cannot be read nothing is stored, and the next verification takes the anchors of the
citations that name a commit.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codeflow_memory.adapters.git import Repository
from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.citations import Anchor, Result, anchor
from codeflow_memory.domain.deadline import Deadline
from codeflow_memory.domain.errors import CodeflowError, ForbiddenError, NotFoundError
from codeflow_memory.domain.memory import Memory
from codeflow_memory.domain.sources import Source, SourceKind, parse_source
from codeflow_memory.domain.text import normalise
from codeflow_memory.services import access as accesses
from codeflow_memory.services import checkouts
from codeflow_memory.services.mutation import Mutation
from codeflow_memory.services.store import Store
from codeflow_memory.storage import citations, memories
from codeflow_memory.storage.citations import Citation

MAX_SECONDS = 5.0
"""What a write waits for git; a citation that was not reached by then has no anchor."""

REASON = "citation:"
"""Begins the review reason of an entry with a citation that no longer holds."""

SUSPECT = (Result.MISSING, Result.CHANGED)
"""Results that make an entry suspect, the worst first."""

_CLAIMS = frozenset({"title", "body", "sources"})
"""Fields whose change says anew what the cited files are evidence of."""

_FEW_PATHS = 8
"""From here on one listing of the whole tree costs less than a question for each path."""

_BLOBS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Anchors:
    """Anchors taken in one repository, by source; none where it could not be read."""

    repository_id: str = ""
    of_sources: Mapping[str, Anchor] = field(default_factory=dict)


def files(sources: Iterable[str]) -> dict[str, Source]:
    """Return the ``file:`` sources among *sources*, parsed, each once and in their order."""
    parsed = ((text, parse_source(text)) for text in sources)
    return {text: s for text, s in parsed if s is not None and s.kind is SourceKind.FILE}


def for_new(
    store: Store, access: Access, project_id: str, repo: str | None, sources: Iterable[str]
) -> Anchors:
    """Take the anchors of an entry that is about to be written; outside a transaction.

    A project that the caller does not see, or may not write to, gives none: the write itself says
    why it is refused.
    """
    cited = files(sources)
    if not cited or not store.roots:
        return Anchors()
    try:
        with store.engine.read() as tx:
            project = accesses.get_project(tx, access, project_id, repo)
            accesses.require(access, Role.CONTRIBUTOR, project.repository_id, "write memories")
            places = checkouts.readable(store, tx, project.repository_id)
    except (NotFoundError, ForbiddenError):
        return Anchors()
    return Anchors(project.repository_id, _read(places, cited))


def for_revision(
    store: Store, access: Access, memory_id: str, changes: Mapping[str, object]
) -> Anchors:
    """Take the anchors of an entry that is about to be revised; outside a transaction."""
    if not store.roots or not _CLAIMS.intersection(changes):
        return Anchors()
    with store.engine.read() as tx:
        reach = accesses.reach_everywhere(tx, access)
        stored = memories.find(tx, reach.scopes, memory_id)
        if stored is None or stored.memory.content is None or not reach.sees(stored.memory):
            return Anchors()
        repository_id = stored.memory.repository_id
        may = access.may(Role.CONTRIBUTOR, repository_id)
        places = checkouts.readable(store, tx, repository_id) if may else []
    wanted = changes.get("sources", stored.memory.content.sources)
    texts = wanted if isinstance(wanted, list | tuple) else ()
    cited = files(normalise(text) for text in texts if isinstance(text, str))
    return Anchors(repository_id, _read(places, cited) if cited else {})


def take(
    repository: Repository, cited: Mapping[str, Source], limit: Deadline | None
) -> dict[str, Anchor]:
    """Take the anchors of ``file:`` sources: at their own commit, else at the default branch's.

    Args:
        repository: Where they are cited from.
        cited: As `files` returned it.
        limit: Once it has passed, what is left gets no anchor; ``None`` is no limit.

    Returns:
        By source, without those whose commit, file or lines are not there.
    """
    groups: dict[str | None, dict[str, Source]] = {}
    for text, source in cited.items():
        groups.setdefault(source.commit, {})[text] = source
    found: dict[str, Anchor] = {}
    for named, group in groups.items():
        try:
            commit = repository.default_branch() if named is None else repository.resolve(named)
            for text, made in _at(repository, commit, group) if commit is not None else ():
                found[text] = made
                if limit is not None and limit.passed():
                    return found
        except CodeflowError:
            # What cannot be read has no anchor; the other commits may still be readable.
            continue
        if limit is not None and limit.passed():
            break
    return found


def keep(mutation: Mutation, memory: Memory, taken: Anchors, *, renew: bool) -> None:
    """Store the anchors of an entry that was written in this mutation.

    Citations of sources that the entry no longer has are forgotten.

    Args:
        mutation: The mutation that wrote it.
        memory: The entry as written.
        taken: What `for_new` or `for_revision` took.
        renew: Whether its claims are new, so that an anchor taken now replaces an older one.
    """
    tx, content = mutation.tx, memory.content
    if content is None:
        return
    where = (memory.repository_id, memory.memory_id)
    known: dict[str, Citation] = {}
    if memory.revision > 1:
        citations.retain(tx, *where, content.sources)
        known = {c.source: c for c in citations.find_all(tx, where[0], [memory.memory_id])}
    usable = taken.of_sources if taken.repository_id == memory.repository_id else {}
    for text in files(content.sources):
        made = usable.get(text)
        if made is not None and (renew or text not in known):
            known[text] = row(memory.memory_id, text, made, mutation.at)
            citations.put(tx, memory.repository_id, known[text])
    reason = suspicion(c.result for c in known.values())
    if reason is not None and memory.review_reason is None:
        # The revision put its own reason, none, in place of the one that still holds.
        memories.set_review_reason(tx, *where, reason)


def copy(mutation: Mutation, source: Memory, memory: Memory) -> None:
    """Give *memory*, which was made from *source*, the anchors of the sources that they share."""
    shared = set() if memory.content is None else set(memory.content.sources)
    for known in citations.find_all(mutation.tx, source.repository_id, [source.memory_id]):
        if known.source in shared:
            copied = Citation(
                memory.memory_id, known.source, known.blob_hash, known.lines_hash, known.result,
                known.new_place, known.checked_at,
            )  # fmt: skip
            citations.put(mutation.tx, memory.repository_id, copied)


def row(memory_id: str, source: str, made: Anchor | None, at: int) -> Citation:
    """Return the row of a citation that holds; without an anchor its blob hash is empty."""
    blob_hash = "" if made is None else made.blob_hash
    lines_hash = None if made is None else made.lines_hash
    return Citation(memory_id, source, blob_hash, lines_hash, str(Result.VALID), None, at)


def of_row(known: Citation | None) -> Anchor | None:
    """Return the anchor that a row holds, if any."""
    if known is None or not known.blob_hash:
        return None
    return Anchor(known.blob_hash, known.lines_hash)


def suspicion(results: Iterable[str]) -> str | None:
    """Return the review reason that *results* of one entry give, by the worst of them."""
    found = set(results)
    return next((f"{REASON}{r}" for r in SUSPECT if r in found), None)


def _read(places: list[checkouts.Place], cited: Mapping[str, Source]) -> dict[str, Anchor]:
    named = next((s.commit for s in cited.values() if s.commit is not None), None)
    repository = checkouts.open_first(places, named)
    if repository is None:
        return {}
    return take(repository, cited, Deadline(time.monotonic() + MAX_SECONDS))


def _at(
    repository: Repository, commit: str, cited: Mapping[str, Source]
) -> Iterator[tuple[str, Anchor]]:
    blobs = _blobs(repository, commit, {s.path or "" for s in cited.values()})
    ranged: dict[str, list[str]] = {}
    for text, source in cited.items():
        blob = blobs.get(source.path or "")
        if blob is None:
            continue
        if source.first_line is None:
            yield text, Anchor(blob)
        else:
            ranged.setdefault(blob, []).append(text)
    waiting = list(ranged)
    for start in range(0, len(waiting), _BLOBS_AT_ONCE):
        batch = waiting[start : start + _BLOBS_AT_ONCE]
        for blob, content in _contents(repository, batch):
            for text in ranged[blob]:
                made = anchor(content, cited[text].first_line, cited[text].last_line)
                if made is not None:
                    yield text, made


def _blobs(repository: Repository, commit: str, paths: set[str]) -> dict[str, str]:
    if len(paths) > _FEW_PATHS:
        return dict(repository.tree(commit))
    found = {path: repository.blob_hash(commit, path) for path in sorted(paths)}
    return {path: blob for path, blob in found.items() if blob is not None}


def _contents(repository: Repository, blobs: list[str]) -> Iterator[tuple[str, bytes]]:
    """Read *blobs* together; those for which one call had no room, one by one."""
    found = repository.contents(blobs)
    yield from found.items()
    for blob in blobs:
        if blob not in found:
            yield from repository.contents([blob]).items()
