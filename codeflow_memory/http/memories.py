"""``/api/projects/{project_id}/memories`` and ``/api/memories``: write, read, decide."""

from typing import Annotated, Any

from litestar import Controller, Request, Response, delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from codeflow_memory.domain import errors
from codeflow_memory.domain.candidates import parse_candidate
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.text import normalise
from codeflow_memory.http import memory_bodies as wire
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pagination import Listing, parse_limit
from codeflow_memory.http.preconditions import etag
from codeflow_memory.http.refused import MEMORY_CHANGES, MEMORY_REVISIONS, READS
from codeflow_memory.services import deletion, feedback, listing, memories, publication, review
from codeflow_memory.services.diffs import against_superseded, compare
from codeflow_memory.services.feedback import Judgement, Standing
from codeflow_memory.services.listing import Filter
from codeflow_memory.services.review import Decision
from codeflow_memory.services.views import View

Repo = Annotated[str | None, QueryParameter(description="Repository id, key, remote or path")]
MemoryResponse = Response[wire.MemoryBody | wire.TombstoneBody]


def shown(view: View, status_code: int = 200) -> Response[Any]:
    """Answer with a memory and its entity tag."""
    return Response(
        wire.memory(view),
        status_code=status_code,
        headers={"ETag": etag(view.memory.revision)},
    )


def standing(found: Standing) -> dict[str, Any]:
    """Write a memory's trust after feedback."""
    return {
        "id": found.memory_id,
        "revision": found.revision,
        "trust": found.trust,
        "status": str(found.status),
        "counted": found.counted,
    }


def standing_response(found: Standing) -> Response[Any]:
    """Answer with a memory's trust after feedback."""
    return Response(standing(found))


async def provide_filter(
    status: FromQuery[Status] = Status.ACCEPTED,
    collection: FromQuery[Collection | None] = None,
    kind: FromQuery[Kind | None] = None,
    tag: FromQuery[str | None] = None,
    path: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
) -> Filter:
    """Read what a list is narrowed to."""
    tag, path = (None if given is None else normalise(given) for given in (tag, path))
    return Filter(status, collection, kind, tag, path, q)


class ProjectMemoryController(Controller):
    """The memories of one project."""

    path = "/api/projects/{project_id:str}/memories"
    tags = ("memories",)

    @post(
        responses=refusals(
            *MEMORY_CHANGES, errors.RevisionConflictError, errors.ProvenanceInvalidError
        )
        | {200: ResponseSpec(wire.MemoryBody, generate_examples=False, description="Known already")}
    )
    async def create(
        self,
        project_id: FromPath[str],
        data: JSONBody[wire.DraftBody],
        change: NamedDependency[Change],
        repo: Repo = None,
    ) -> MemoryResponse:
        """Propose a memory, or keep one of one's own; a known one is returned with 200."""
        candidate = parse_candidate(data.given())
        view = await change.run(memories.create, project_id, repo, candidate, change.operation)
        return shown(view, 200 if view.duplicate else 201)

    @get(dependencies={"wanted": Provide(provide_filter)}, responses=refusals(*READS))
    async def find(
        self,
        project_id: FromPath[str],
        call: NamedDependency[Call],
        wanted: NamedDependency[Filter],
        repo: Repo = None,
        cursor: FromQuery[str | None] = None,
        limit: FromQuery[str | None] = None,
    ) -> Response[wire.PageBody]:
        """List a project's memories, newest change first, with counts by field."""
        pages = Listing(
            call.store.keys.cursor_key,
            call.access.principal_id,
            f"projects/{project_id}/memories",
            {"repo": repo, **wire.filters(wanted)},
        )
        after = pages.parse_cursor(cursor)
        page = await call.run(listing.find, project_id, repo, wanted, after, parse_limit(limit))
        body: Any = {
            "items": [wire.memory(item) for item in page.items],
            "next_cursor": None if page.next_after is None else pages.to_cursor(page.next_after),
            "facets": page.facets,
        }
        return Response(body)


class MemoryController(Controller):
    """One memory."""

    path = "/api/memories/{memory_id:str}"
    tags = ("memories",)

    @get(responses=refusals(*READS))
    async def get_one(
        self, memory_id: FromPath[str], call: NamedDependency[Call]
    ) -> MemoryResponse:
        """Return a memory, or the tombstone of one that the caller could read."""
        return shown(await call.run(memories.get, memory_id))

    @get("/revisions", responses=refusals(*READS))
    async def revisions(
        self, memory_id: FromPath[str], call: NamedDependency[Call]
    ) -> Response[wire.RevisionsBody]:
        """List a memory's revisions, oldest first."""
        found = await call.run(memories.history, memory_id)
        body: Any = {"items": [wire.revision(r) for r in found], "next_cursor": None}
        return Response(body)

    @get("/revisions/{revision:int}", responses=refusals(*READS))
    async def revision(
        self, memory_id: FromPath[str], revision: FromPath[int], call: NamedDependency[Call]
    ) -> MemoryResponse:
        """Return a memory as it was at a revision."""
        return shown(await call.run(memories.at_revision, memory_id, revision))

    @get("/diff", responses=refusals(*READS))
    async def diff(
        self,
        memory_id: FromPath[str],
        call: NamedDependency[Call],
        from_revision: Annotated[int | None, QueryParameter(name="from", ge=1)] = None,
        to_revision: Annotated[int | None, QueryParameter(name="to", ge=1)] = None,
    ) -> Response[wire.DiffBody]:
        """Compare two revisions, or without any what it supersedes with the memory."""
        body: Any
        if from_revision is None and to_revision is None:
            body = await call.run(against_superseded, memory_id)
        elif from_revision is None or to_revision is None:
            missing = "from" if from_revision is None else "to"
            raise errors.InvalidRequestError.at(f"/{missing}", "required: the other is given")
        else:
            body = await call.run(compare, memory_id, from_revision, to_revision)
        return Response(body)

    @patch(responses=refusals(*MEMORY_REVISIONS, errors.ProvenanceInvalidError))
    async def revise(
        self,
        memory_id: FromPath[str],
        data: JSONBody[wire.ContentBody],
        change: NamedDependency[Change],
    ) -> MemoryResponse:
        """Change fields of the content; an accepted project entry goes back to review."""
        return shown(
            await change.run(
                memories.revise, memory_id, data.given(), change.base_revision, change.operation
            )
        )

    @delete(status_code=200, responses=refusals(*MEMORY_REVISIONS, errors.LegalHoldError))
    async def delete(
        self,
        memory_id: FromPath[str],
        data: JSONBody[wire.DeleteBody],
        change: NamedDependency[Change],
    ) -> Response[wire.TombstoneBody]:
        """Delete a memory and every word of it; its tombstone is returned."""
        return shown(
            await change.run(
                deletion.delete,
                memory_id,
                change.base_revision,
                change.operation,
                reason=data.reason,
            )
        )

    @post("/publish", responses=refusals(*MEMORY_REVISIONS, errors.PublicationRefusedError))
    async def publish(
        self,
        memory_id: FromPath[str],
        data: JSONBody[wire.PublishBody],
        change: NamedDependency[Change],
    ) -> MemoryResponse:
        """Propose a private or team memory to its project; its first revision keeps the note."""
        view = await change.run(
            publication.publish,
            memory_id,
            change.base_revision,
            change.operation,
            note=data.note,
        )
        return shown(view, 201)

    @post("/feedback", status_code=200, responses=refusals(*MEMORY_CHANGES))
    async def feedback(
        self,
        memory_id: FromPath[str],
        data: JSONBody[wire.FeedbackBody],
        change: NamedDependency[Change],
    ) -> Response[wire.StandingBody]:
        """Say whether a memory helped; its trust is returned."""
        judgement = Judgement(data.helpful, data.note, data.selection_id)
        return standing_response(
            await change.run(
                feedback.give, memory_id, judgement, change.operation, dry_run=data.dry_run
            )
        )

    @post(
        [
            "/approve",
            "/reject",
            "/supersede",
            "/outdate",
            "/archive",
            "/restore",
            "/return",
        ],
        status_code=200,
        responses=refusals(*MEMORY_REVISIONS),
    )
    async def decide(
        self,
        request: Request[Any, Any, Any],
        memory_id: FromPath[str],
        data: JSONBody[wire.DecisionBody],
        change: NamedDependency[Change],
    ) -> MemoryResponse:
        """Decide a memory; the last part of the path is the decision."""
        action = Action(request.url.path.rpartition("/")[2])
        decision = Decision(action, data.comment, data.reason, data.superseded_by)
        return shown(
            await change.run(
                review.decide, memory_id, decision, change.base_revision, change.operation
            )
        )


ROUTES = (ProjectMemoryController, MemoryController)
