"""``GET /api/projects/{project_id}/memory/search``."""

from typing import Annotated, Any, Literal

from litestar import Response, get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Collection, Kind
from codeflow_memory.domain.text import normalise
from codeflow_memory.http.caller import Call
from codeflow_memory.http.memories import Repo
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.pagination import parse_limit
from codeflow_memory.http.refused import READS
from codeflow_memory.services import search
from codeflow_memory.services.search import Answer, Question

MAX_QUERY = 8_192
"""Characters."""


class FoundBody(BaseModel):
    """A memory that was found."""

    memory_id: str
    revision: int = Field(ge=1)
    title: str
    score: float
    matched: dict[str, list[str]]
    snippet: str


class AnswerBody(BaseModel):
    """What was found, best first, and what was cut from the question."""

    results: list[FoundBody]
    terms: list[str]
    terms_dropped: list[str]
    seeds_truncated: bool


async def provide_question(  # noqa: PLR0913, PLR0917 - the documented parameters, one each
    q: Annotated[str, QueryParameter(description="Words; nothing in it is an operator")],
    match: FromQuery[Literal["all", "literal"]] = "all",
    limit: FromQuery[str | None] = None,
    kind: FromQuery[Kind | None] = None,
    collection: FromQuery[Collection | None] = None,
    path: FromQuery[str | None] = None,
    branch: FromQuery[str | None] = None,
) -> Question:
    """Read what is searched for.

    Raises:
        InvalidRequestError: The query is too long, or the limit is out of range.
    """
    if len(q) > MAX_QUERY:
        raise InvalidRequestError.at("q", f"at most {MAX_QUERY} characters")
    path, branch = (None if given is None else normalise(given) for given in (path, branch))
    collections = None if collection is None else frozenset({collection})
    return Question(q, match == "literal", parse_limit(limit), kind, collections, path, branch)


@get(
    "/api/projects/{project_id:str}/memory/search",
    tags=["search"],
    dependencies={"question": Provide(provide_question)},
    responses=refusals(*READS),
)
async def find(
    project_id: FromPath[str],
    call: NamedDependency[Call],
    question: NamedDependency[Question],
    repo: Repo = None,
) -> Response[AnswerBody]:
    """Search a project's accepted memories by keyword."""
    return Response(_body(await call.run(search.find, project_id, repo, question)))


def _body(answer: Answer) -> Any:  # noqa: ANN401 - the JSON of AnswerBody
    return {
        "results": [
            {
                "memory_id": found.memory_id,
                "revision": found.revision,
                "title": found.title,
                "score": found.score,
                "matched": found.matched,
                "snippet": found.snippet,
            }
            for found in answer.results
        ],
        "terms": answer.terms,
        "terms_dropped": answer.terms_dropped,
        "seeds_truncated": answer.seeds_truncated,
    }


ROUTES = (find,)
