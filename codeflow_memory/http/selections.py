"""``/api/projects/{project_id}/memory/selections``: select, look up, replay, judge."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain import errors
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.context import Entry, State
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.manifest import Manifest, for_others
from codeflow_memory.domain.memory import Kind
from codeflow_memory.domain.selection import DEFAULT_KINDS, Request
from codeflow_memory.domain.sources import check_path, is_commit
from codeflow_memory.domain.text import normalise
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memories import Repo, standing_response
from codeflow_memory.http.memory_bodies import Input, Prose, StandingBody
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pagination import Listing, parse_limit
from codeflow_memory.http.refused import MEMORY_CHANGES, READS
from codeflow_memory.services import outcomes, replay, selections
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.redaction import redact

MAX_CHARACTERS = 200_000
MAX_ENTRIES = 100
MAX_PATHS = 512
MAX_QUERY = 16_384


class BudgetBody(Input):
    """How much a context may hold."""

    characters: int = Field(default=12_000, ge=1, le=MAX_CHARACTERS)
    entries: int = Field(default=20, ge=1, le=MAX_ENTRIES)


class SelectionRequestBody(Input):
    """What a run asks for at its start."""

    repo: str | None = Field(None, max_length=4096, examples=["https://git.example/shop/shop.git"])
    query: str = Field("", max_length=MAX_QUERY, examples=["retry idempotent requests"])
    match: Literal["all", "literal"] = "all"
    branch: str | None = Field(None, min_length=1, max_length=255, examples=["main"])
    head: str | None = Field(None, max_length=40)
    paths: list[str] = Field(default=[], max_length=MAX_PATHS, examples=[["src/http/client.py"]])
    run_id: str | None = Field(None, max_length=200)
    budget: BudgetBody = BudgetBody()
    kinds: list[Kind] | None = None
    profile: Literal["project"] = "project"
    explain: bool = False

    def to_request(self) -> Request:
        """Leave the wire format.

        Raises:
            InvalidRequestError: A path or the head is not well-formed.
        """
        paths = [normalise(path) for path in self.paths]
        checked = ((at, check_path(path, glob=True)) for at, path in enumerate(paths))
        faults = [Fault(f"/paths/{at}", fault) for at, fault in checked if fault is not None]
        if self.head is not None and not is_commit(self.head):
            faults.append(Fault("/head", "must be a commit's 40 hex digits"))
        if faults:
            raise InvalidRequestError(faults)
        return Request(
            query=redact(self.query),
            literal=self.match == "literal",
            branch=None if self.branch is None else normalise(self.branch),
            head=self.head,
            paths=tuple(paths),
            run_id=self.run_id,
            budget=Budget(self.budget.characters, self.budget.entries),
            kinds=DEFAULT_KINDS if self.kinds is None else tuple(str(k) for k in self.kinds),
            explain=self.explain,
        )


class ReplayRequestBody(Input):
    """A replay needs nothing but its address."""


class OutcomeBody(Input):
    """Whether one entry of a selection helped."""

    memory_id: str = Field(max_length=200)
    helpful: bool
    note: Prose | None = Field(None, max_length=4096)


class ManifestEntryBody(BaseModel):
    """An entry of a context: which revision, and why it is there."""

    memory_id: str
    revision: int = Field(ge=1)
    content_sha256: str
    score: float | None = Field(description="Absent for others than the selection's caller")
    trust: int
    collection: str
    state: str
    warnings: list[str]
    reasons: list[dict[str, Any]]
    redacted: bool
    withheld: bool


class ManifestBody(BaseModel):
    """The record of one selection; its words (query, terms, paths …) go with a deleted entry."""

    id: str
    created_at: str
    run_id: str | None
    caller: str
    repository_id: str
    project_id: str
    request: dict[str, Any]
    query: str | None
    terms: list[str]
    terms_dropped: list[str]
    filters: dict[str, Any]
    entries: list[ManifestEntryBody]
    omitted: list[dict[str, Any]]
    truncated: dict[str, bool]
    context: str
    context_sha256: str
    engine: dict[str, Any]
    free_sha256: str | None
    manifest_sha256: str | None


class ManifestsBody(BaseModel):
    """Manifests without their contexts, newest first."""

    items: list[dict[str, Any]]
    next_cursor: str | None


class ReplayedBody(BaseModel):
    """A context rebuilt from the recorded revisions."""

    id: str
    context: str
    context_sha256: str
    manifest_sha256: str | None
    verified: bool
    entries: list[dict[str, Any]]


class SelectionController(Controller):
    """The selections of one project."""

    path = "/api/projects/{project_id:str}/memory/selections"
    tags = ("selections",)

    @post(status_code=201, responses=refusals(*READS, errors.StorageFullError))
    async def create(
        self,
        project_id: FromPath[str],
        data: JSONBody[SelectionRequestBody],
        call: NamedDependency[Call],
    ) -> Response[ManifestBody]:
        """Select the memories that apply, record why, and return the text to inject."""
        made = await call.run(selections.create, project_id, data.repo, data.to_request())
        return Response(
            whole(made.manifest, made.context, made.places, call.access.principal_id),
            status_code=201,
        )

    @get(responses=refusals(*READS))
    async def find(
        self,
        project_id: FromPath[str],
        call: NamedDependency[Call],
        run_id: Annotated[str | None, QueryParameter(description="A run; else one's own")] = None,
        repo: Repo = None,
        cursor: FromQuery[str | None] = None,
        limit: FromQuery[str | None] = None,
    ) -> Response[ManifestsBody]:
        """List the manifests of a run, newest first."""
        pages = Listing(
            call.store.keys.cursor_key,
            call.access.principal_id,
            f"projects/{project_id}/selections",
            {"repo": repo, "run_id": run_id},
        )
        after = pages.parse_cursor(cursor)
        size = parse_limit(limit)
        before = None if after is None else str(after[0])
        found = await call.run(replay.find_of_run, project_id, repo, run_id, before, size)
        page = found[:size]
        body: Any = {
            "items": [_manifest(m, call.access.principal_id) for m in page],
            "next_cursor": (
                pages.to_cursor((page[-1].manifest_id,)) if len(found) > size else None
            ),
        }
        return Response(body)

    @get("/{selection_id:str}", responses=refusals(*READS))
    async def get_one(
        self,
        project_id: FromPath[str],
        selection_id: FromPath[str],
        call: NamedDependency[Call],
        repo: Repo = None,
    ) -> Response[ManifestBody]:
        """Return a manifest with its context as it can be rebuilt now."""
        again = await call.run(replay.run, project_id, repo, selection_id)
        return Response(
            whole(again.manifest, again.context, again.places, call.access.principal_id)
        )

    @post("/{selection_id:str}/replay", status_code=200, responses=refusals(*READS))
    async def replay(
        self,
        project_id: FromPath[str],
        selection_id: FromPath[str],
        data: JSONBody[ReplayRequestBody],  # noqa: ARG002 - checked by reading it
        call: NamedDependency[Call],
        repo: Repo = None,
    ) -> Response[ReplayedBody]:
        """Rebuild the context from the recorded revisions, however they have changed since."""
        again = await call.run(replay.run, project_id, repo, selection_id)
        body: Any = {
            "id": again.manifest.manifest_id,
            "context": again.context,
            "context_sha256": again.manifest.context_sha256,
            "manifest_sha256": (
                again.manifest.manifest_sha256
                if again.manifest.principal_id == call.access.principal_id
                else None
            ),
            "verified": again.verified,
            "entries": [_place(place) for place in again.places],
        }
        return Response(body)

    @post("/{selection_id:str}/feedback", status_code=200, responses=refusals(*MEMORY_CHANGES))
    async def feedback(
        self,
        project_id: FromPath[str],
        selection_id: FromPath[str],
        data: JSONBody[OutcomeBody],
        change: NamedDependency[Change],
        repo: Repo = None,
    ) -> Response[StandingBody]:
        """Say whether an entry of this selection helped."""
        judgement = Judgement(data.helpful, data.note, selection_id)
        return standing_response(
            await change.run(
                outcomes.give, project_id, repo, data.memory_id, judgement, change.operation
            )
        )


def whole(manifest: Manifest, text: str, places: Iterable[Entry], caller: str) -> Any:  # noqa: ANN401 - the JSON of ManifestBody
    """Write a manifest with its context, as *caller* may read it."""
    record, free, own = _parts(manifest, caller)
    return _shown(manifest, record, free, own=own) | {
        "context": text,
        "entries": _entries(record, free, places),
    }


def _manifest(manifest: Manifest, caller: str) -> Any:  # noqa: ANN401 - the JSON of ManifestBody
    record, free, own = _parts(manifest, caller)
    return _shown(manifest, record, free, own=own)


def _shown(
    manifest: Manifest, record: dict[str, Any], free: Mapping[str, Any], *, own: bool
) -> dict[str, Any]:
    asked = record["request"] | {"branch": free["branch"], "paths": free["paths"]}
    return record | {
        "request": asked,
        "query": free["query"],
        "terms": free["terms"],
        "terms_dropped": free["terms_dropped"],
        "context_sha256": manifest.context_sha256,
        "free_sha256": manifest.free_sha256 if own else None,
        "manifest_sha256": manifest.manifest_sha256 if own else None,
    }


def _parts(manifest: Manifest, caller: str) -> tuple[dict[str, Any], Mapping[str, Any], bool]:
    """Return record and free text as *caller* may read them, and whether they are its own."""
    record: dict[str, Any] = json.loads(manifest.record)
    free: Mapping[str, Any] = _NO_TEXT
    if manifest.free_text is not None:
        free = json.loads(manifest.free_text)
    if manifest.principal_id == caller:
        return record, free, True
    return *for_others(record, free), False


_NO_TEXT: Mapping[str, Any] = {
    "branch": None,
    "paths": [],
    "query": None,
    "terms": [],
    "terms_dropped": [],
    "reasons": {},
}
"""What is left of the free text once an entry that the manifest lists was deleted."""


def _entries(
    record: Mapping[str, Any], free: Mapping[str, Any], places: Iterable[Entry]
) -> list[dict[str, Any]]:
    return [
        entry
        | {
            "warnings": list(place.warnings),
            "reasons": free["reasons"].get(place.memory_id, []),
            "redacted": place.state is State.REDACTED,
            "withheld": place.state is State.WITHHELD,
        }
        for entry, place in zip(record["entries"], places, strict=True)
    ]


def _place(place: Entry) -> dict[str, Any]:
    return {
        "memory_id": place.memory_id,
        "revision": place.revision,
        "state": str(place.state),
        "redacted": place.state is State.REDACTED,
        "withheld": place.state is State.WITHHELD,
    }


ROUTES = (SelectionController,)
