"""Doing through the services what a cell asks, and the word for what came of it."""

from collections.abc import Callable
from dataclasses import dataclass

from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.domain import errors
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.lifecycle import TARGET, Action
from codeflow_memory.domain.memory import Collection, Memory, Status
from codeflow_memory.domain.selection import Request
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    batch,
    deletion,
    diffs,
    export,
    feedback,
    graph,
    listing,
    memories,
    publication,
    replay,
    review,
    search,
    selections,
    verification,
)
from codeflow_memory.services.batch import Step
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.review import Decision
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants

from . import table
from .rules import Cell
from .stage import Entry

WORDS = {
    errors.UnauthenticatedError: "unauthenticated",
    errors.NotFoundError: "missing",
    errors.ForbiddenError: "forbidden",
    errors.IllegalTransitionError: "illegal",
    errors.PublicationRefusedError: "refused",
    errors.InvalidRequestError: "invalid",
    errors.RevisionConflictError: "conflict",
}
NEW = Operation(None, ())
MANY = 100
NEW_TEXT = {"title": "Quokkas", "body": "Nothing on the stage is like this sentence."}
CHANGED = {"tags": ["changed"]}
BATCHED = [*table.DECISIONS, "update", "delete", "publish"]


@dataclass(frozen=True, slots=True)
class Scene:
    """Who acts on what: the store that the token leads to, and the entry as the caller knows it."""

    store: Store
    access: Access
    project: str
    team: str
    run: str | None
    status: str
    entry: Entry


def sign_in(tenants: Tenants, token: str | None) -> tuple[Store, Access]:
    """Authenticate as a server does for each request."""
    parts = None if token is None else parse_token(token)
    if parts is None:
        raise errors.UnauthenticatedError
    store = tenants.get(parts.tenant)
    return store, accesses.authenticate(store, parts.token_id, parts.secret)


def act(scene: Scene, cell: Cell) -> str:
    """Do what *cell* asks; return the word of the tables for it."""
    return _PARTS[cell.operation](scene, cell)


def word(error: CodeflowError) -> str:
    return WORDS[type(error)]


def batched(scene: Scene, cell: Cell) -> str:
    """Ask the same of a batch that only rehearses."""
    entry, action = scene.entry, cell.operation
    step = Step(
        action,
        entry.memory_id,
        entry.revision,
        _decision(scene, action) if action in table.DECISIONS else None,
        CHANGED if action == "update" else None,
    )
    done = batch.run(scene.store, scene.access, [step], NEW, dry_run=True, atomic=False)
    [result] = done.results
    if result.error is not None:
        raise result.error
    if action == "publish":
        return "done" if (result.revision, result.status) == (1, "proposed") else "kept"
    target = None if action == "update" else str(TARGET[Action(action)])
    return _step(entry, result.revision or 0, result.status or "", target)


def _step(entry: Entry, revision: int, status: str, target: str | None) -> str:
    """Tell a change from none: it is one revision, and leads where the action says."""
    if revision == entry.revision:
        return "same" if target in {None, status} else "kept"
    right = revision == entry.revision + 1 and target in {None, status}
    return "done" if right else "astray"


def _moved(entry: Entry, memory: Memory, target: str | None) -> str:
    return _step(entry, memory.revision, str(memory.status), target)


def _get(scene: Scene, _: Cell) -> str:
    found = memories.get(scene.store, scene.access, scene.entry.memory_id).memory
    return _moved_nowhere(scene.entry, found)


def _moved_nowhere(entry: Entry, memory: Memory) -> str:
    whole = (memory.content is None) == (memory.status is Status.DELETED)
    return "done" if whole and memory.revision == entry.revision else "astray"


def _revisions(scene: Scene, _: Cell) -> str:
    found = memories.history(scene.store, scene.access, scene.entry.memory_id)
    return "done" if found[-1].revision == scene.entry.revision else "astray"


def _revision(scene: Scene, _: Cell) -> str:
    memory_id, number = scene.entry.memory_id, scene.entry.revision
    found = memories.at_revision(scene.store, scene.access, memory_id, number).memory
    return _moved_nowhere(scene.entry, found)


def _first(scene: Scene, _: Cell) -> str:
    found = memories.at_revision(scene.store, scene.access, scene.entry.memory_id, 1).memory
    return "done" if 1 in {found.revision, scene.entry.revision} or not found.content else "astray"


def _diff(scene: Scene, _: Cell) -> str:
    entry = scene.entry
    numbers = (entry.revision, entry.revision)
    found = diffs.compare(scene.store, scene.access, entry.memory_id, *numbers)
    return "done" if found["memory_id"] == entry.memory_id else "astray"


def _seen(scene: Scene, shown: object) -> str:
    return "listed" if scene.entry.memory_id in shown else "unlisted"  # type: ignore[operator] # a text or a collection


def _list(scene: Scene, _: Cell) -> str:
    wanted = listing.Filter(status=Status(scene.status))
    page = listing.find(scene.store, scene.access, scene.project, None, wanted, None, MANY)
    return _seen(scene, {item.memory.memory_id for item in page.items})


def _search(scene: Scene, _: Cell) -> str:
    asked = search.Question(scene.entry.word, limit=MANY)
    found = search.find(scene.store, scene.access, scene.project, None, asked)
    return _seen(scene, {hit.memory_id for hit in found.results})


def _select(scene: Scene, _: Cell) -> str:
    request = Request(query=scene.entry.word)
    made = selections.create(scene.store, scene.access, scene.project, None, request)
    return _seen(scene, made.context)


def _graph(scene: Scene, _: Cell) -> str:
    picture = graph.draw(scene.store, scene.access, scene.project, None, graph.Filter())
    assert not picture.truncated
    return _seen(scene, picture.memories)


def _export(scene: Scene, cell: Cell) -> str:
    markdown = cell.operation == "export-md"
    form = export.Format.MARKDOWN if markdown else export.Format.JSONL
    return _seen(scene, export.export(scene.store, scene.access, form, project=scene.project))


def _verify(scene: Scene, _: Cell) -> str:
    wanted = verification.Wanted(memory_ids=frozenset({scene.entry.memory_id}))
    report = verification.verify(scene.store, scene.access, scene.project, None, wanted, NEW)
    return _seen(scene, {finding.memory_id for finding in report.findings})


def _replay(scene: Scene, _: Cell) -> str:
    assert scene.entry.manifest is not None
    again = replay.run(scene.store, scene.access, scene.project, None, scene.entry.manifest)
    [place] = again.places
    return str(place.state)


def _stale(scene: Scene, _: Cell) -> str:
    entry = scene.entry
    memories.revise(scene.store, scene.access, entry.memory_id, CHANGED, entry.revision + 7, NEW)
    return "done"


def _update(scene: Scene, _: Cell) -> str:
    entry = scene.entry
    made = memories.revise(scene.store, scene.access, entry.memory_id, CHANGED, entry.revision, NEW)
    return _moved(entry, made.memory, None)


def _delete(scene: Scene, _: Cell) -> str:
    entry = scene.entry
    gone = deletion.delete(scene.store, scene.access, entry.memory_id, entry.revision, NEW)
    return _moved(entry, gone.memory, "deleted")


def _publish(scene: Scene, _: Cell) -> str:
    entry = scene.entry
    made = publication.publish(
        scene.store, scene.access, entry.memory_id, entry.revision, NEW
    ).memory
    public = made.collection is Collection.PROJECT and made.status is Status.PROPOSED
    return "done" if public and made.memory_id != entry.memory_id else "astray"


def _create(scene: Scene, cell: Cell) -> str:
    fields = {"collection": cell.collection, "kind": "guidance", **NEW_TEXT}
    if cell.collection == "team":
        fields["team_id"] = scene.team
    if scene.run is not None:
        fields["run_id"] = scene.run
    candidate = parse_candidate(fields)
    made = memories.create(scene.store, scene.access, scene.project, None, candidate, NEW)
    return "duplicate" if made.duplicate else str(made.memory.status)


def _feedback(scene: Scene, _: Cell) -> str:
    judgement = Judgement(helpful=True)
    given = feedback.give(scene.store, scene.access, scene.entry.memory_id, judgement, NEW)
    return "done" if given.counted else "kept"


def _decision(scene: Scene, action: str) -> Decision:
    heir = scene.entry.heir if action == "supersede" else None
    return Decision(Action(action), superseded_by=heir)


def _decide(scene: Scene, cell: Cell) -> str:
    entry, decision = scene.entry, _decision(scene, cell.operation)
    made = review.decide(
        scene.store, scene.access, entry.memory_id, decision, entry.revision, NEW
    ).memory
    return _moved(entry, made, str(TARGET[decision.action]))


_PARTS: dict[str, Callable[[Scene, Cell], str]] = {
    "get": _get,
    "revisions": _revisions,
    "revision": _revision,
    "first": _first,
    "diff": _diff,
    "list": _list,
    "search": _search,
    "select": _select,
    "graph": _graph,
    "export": _export,
    "export-md": _export,
    "verify": _verify,
    "replay": _replay,
    "stale": _stale,
    "update": _update,
    "delete": _delete,
    "publish": _publish,
    "feedback": _feedback,
    **dict.fromkeys(["create", *table.BOUND_TO], _create),
    **dict.fromkeys(table.DECISIONS, _decide),
}
