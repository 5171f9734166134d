"""``/api/projects/{project_id}/memory/selections``: select, look up, replay, judge."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain import errors
from codeflow_memory.domain.budget import Budget
from codeflow_memory.domain.context import Entry, State
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Kind
from codeflow_memory.domain.sources import check_path, is_commit
from codeflow_memory.domain.text import normalise
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memories import READ, WRITE, Repo, standing_response
from codeflow_memory.http.memory_bodies import Input, StandingBody
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pagination import Listing, parse_limit
from codeflow_memory.services import outcomes, replay, selections
from codeflow_memory.services.feedback import Judgement
from codeflow_memory.services.selections import DEFAULT_KINDS, Request
from codeflow_memory.storage.manifests import Manifest

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
            query=self.query,
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
    note: str | None = Field(None, max_length=4096)


class ManifestEntryBody(BaseModel):
    """An entry of a context: which revision, and why it is there."""

    memory_id: str
    revision: int = Field(ge=1)
    content_sha256: str
    score: float
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
    free_sha256: str
    manifest_sha256: str


class ManifestsBody(BaseModel):
    """Manifests without their contexts, newest first."""

    items: list[dict[str, Any]]
    next_cursor: str | None


class ReplayedBody(BaseModel):
    """A context rebuilt from the recorded revisions."""

    id: str
    context: str
    context_sha256: str
    manifest_sha256: str
    verified: bool
    entries: list[dict[str, Any]]


class SelectionController(Controller):
    """The selections of one project."""

    path = "/api/projects/{project_id:str}/memory/selections"
    tags = ("selections",)

    @post(status_code=201, responses=refusals(*READ, errors.StorageFullError))
    async def create(
        self,
        project_id: FromPath[str],
        data: JSONBody[SelectionRequestBody],
        call: NamedDependency[Call],
    ) -> Response[ManifestBody]:
        """Select the memories that apply, record why, and return the text to inject."""
        made = await call.run(selections.create, project_id, data.repo, data.to_request())
        body = _manifest(made.manifest)
        return Response(
            body | {"context": made.context, "entries": _entries(made.manifest, made.places)},
            status_code=201,
        )

    @get(responses=refusals(*READ))
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
            "items": [_manifest(m) for m in page],
            "next_cursor": (
                pages.to_cursor((page[-1].manifest_id,)) if len(found) > size else None
            ),
        }
        return Response(body)

    @get("/{selection_id:str}", responses=refusals(*READ))
    async def get_one(
        self,
        project_id: FromPath[str],
        selection_id: FromPath[str],
        call: NamedDependency[Call],
        repo: Repo = None,
    ) -> Response[ManifestBody]:
        """Return a manifest with its context as it can be rebuilt now."""
        again = await call.run(replay.run, project_id, repo, selection_id)
        body = _manifest(again.manifest)
        return Response(
            body | {"context": again.context, "entries": _entries(again.manifest, again.places)}
        )

    @post("/{selection_id:str}/replay", status_code=200, responses=refusals(*READ))
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
            "manifest_sha256": again.manifest.manifest_sha256,
            "verified": again.verified,
            "entries": [_place(place) for place in again.places],
        }
        return Response(body)

    @post("/{selection_id:str}/feedback", status_code=200, responses=refusals(*WRITE))
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


def _manifest(manifest: Manifest) -> Any:  # noqa: ANN401 - the JSON of ManifestBody
    free = _free(manifest)
    record = json.loads(manifest.record)
    record["request"] |= {"branch": free["branch"], "paths": free["paths"]}
    return record | {
        "query": free["query"],
        "terms": free["terms"],
        "terms_dropped": free["terms_dropped"],
        "context_sha256": manifest.context_sha256,
        "free_sha256": manifest.free_sha256,
        "manifest_sha256": manifest.manifest_sha256,
    }


def _free(manifest: Manifest) -> dict[str, Any]:
    if manifest.free_text is None:
        return {
            "branch": None,
            "paths": [],
            "query": None,
            "terms": [],
            "terms_dropped": [],
            "reasons": {},
        }
    free: dict[str, Any] = json.loads(manifest.free_text)
    return free


def _entries(manifest: Manifest, places: Iterable[Entry]) -> list[dict[str, Any]]:
    reasons = _free(manifest)["reasons"]
    return [
        entry
        | {
            "warnings": list(place.warnings),
            "reasons": reasons.get(place.memory_id, []),
            "redacted": place.state is State.REDACTED,
            "withheld": place.state is State.WITHHELD,
        }
        for entry, place in zip(json.loads(manifest.record)["entries"], places, strict=True)
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
