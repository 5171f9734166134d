"""The API's description: OpenAPI 3.1 as JSON, and as a page without scripts or network."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from http import HTTPStatus
from typing import Any, Final

from litestar import Litestar, Request, Response, Router
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.utils import is_class_and_subclass
from pydantic import BaseModel, ConfigDict, Field

from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.http.caller import PUBLIC
from codeflow_memory.http.described import describe_operation
from codeflow_memory.http.docs_page import to_html
from codeflow_memory.http.problems import MEDIA_TYPE, STATUS, URN, problem

PATH: Final = "/schema"

EDGE_REFUSALS: Final = (
    errors.ForbiddenError,
    errors.NotFoundError,
    errors.LimitExceededError,
    errors.UnsupportedMediaTypeError,
    errors.MisdirectedRequestError,
    errors.InvalidRequestError,
    errors.InternalError,
    errors.DeadlineExceededError,
)
"""What any route can answer with, whatever it does; routes document only what they add."""

_LITESTARS_OWN = "400"


class Problem(BaseModel):
    """A refusal (RFC 9457): stable ``type`` and ``code``, and facts that depend on them."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=[URN + "revision-conflict"])
    title: str = Field(examples=["Precondition Failed"])
    status: int = Field(ge=400, le=599, examples=[412])
    detail: str = Field(examples=["mem_01 is at revision 2, not 1"])
    code: str = Field(examples=["revision-conflict"])


def refusals(*refused: type[CodeflowError]) -> dict[int, ResponseSpec]:
    """Document that a route answers with *refused*: what it passes as ``responses``."""
    return {
        status: ResponseSpec(
            Problem, generate_examples=False, description=codes, media_type=MEDIA_TYPE
        )
        for status, codes in _codes(refused).items()
    }


def openapi_config(*, title: str, version: str) -> OpenAPIConfig:
    """Return what an application passes as ``openapi_config``; one for each application."""
    return OpenAPIConfig(
        title=title,
        version=version,
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description="An opaque token: `cfm_<tenant>_<id>_<secret>`.",
                )
            }
        ),
        security=[{"bearer": []}],
        use_handler_docstrings=True,
        openapi_router=Router(
            PATH,
            route_handlers=[],
            include_in_schema=False,
            opt={PUBLIC: True},
            after_request=_only_problems,
            dto=None,
            return_dto=None,
        ),
        render_plugins=[DocsPage(path="/"), Document(path="/openapi.json")],
    )


class Document(JsonRenderPlugin):
    """``openapi.json``, as `complete` makes it."""

    def render(self, request: Request[Any, Any, State], openapi_schema: dict[str, Any]) -> bytes:
        """Write the document as JSON."""
        return super().render(request, complete(openapi_schema, _models(request.app)))


class DocsPage(OpenAPIRenderPlugin):
    """The description as plain HTML. Litestar's own pages load scripts from elsewhere."""

    def render(self, request: Request[Any, Any, State], openapi_schema: dict[str, Any]) -> bytes:
        """Write the page."""
        document = complete(openapi_schema, _models(request.app))
        return to_html(document, source=f"{PATH}/openapi.json").encode("utf-8")


def complete(schema: dict[str, Any], models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return *schema* corrected where Litestar does not know this application.

    Its 400 is never sent, every operation can meet the edge's refusals, bodies with unknown fields
    are refused, and see `describe_operation`.

    Args:
        schema: As Litestar made it; left as it is.
        models: Of the request bodies.
    """
    document = deepcopy(schema)
    schemas = document["components"].setdefault("schemas", {})
    schemas.setdefault(Problem.__name__, Problem.model_json_schema())
    for name in _closed(models):
        if name in schemas:
            schemas[name]["additionalProperties"] = False
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"] = _responses(operation["responses"])
                describe_operation(operation, schemas)
    return document


def _responses(declared: dict[str, Any]) -> dict[str, Any]:
    own = {status: answer for status, answer in declared.items() if status != _LITESTARS_OWN}
    reference = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    for status, codes in _codes(EDGE_REFUSALS).items():
        own.setdefault(
            str(status),
            {"description": codes, "content": {MEDIA_TYPE: {"schema": reference}}},
        )
    return dict(sorted(own.items()))


def _codes(errors_: Iterable[type[CodeflowError]]) -> dict[int, str]:
    codes: dict[int, list[str]] = {}
    for error in errors_:
        codes.setdefault(STATUS[error].value, []).append(f"`{error.code}`")
    return {status: ", ".join(sorted(named)) for status, named in sorted(codes.items())}


def _closed(models: Iterable[type[BaseModel]]) -> Iterator[str]:
    for model in models:
        described = model.model_json_schema()
        for name, schema in {model.__name__: described, **described.get("$defs", {})}.items():
            if schema.get("additionalProperties") is False:
                yield name


def _models(app: Litestar) -> Iterator[type[BaseModel]]:
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            field = handler.parsed_data_field
            if field is not None and is_class_and_subclass(field.annotation, BaseModel):
                yield field.annotation


async def _only_problems(response: Response[Any]) -> Response[Any]:
    # Litestar adds a page of its own for unknown paths below this router; ours is a problem.
    unknown = response.status_code == HTTPStatus.NOT_FOUND
    return problem(errors.NotFoundError("route here")) if unknown else response
