"""Request bodies: bytes to a checked model, faults as JSON pointers.

The bytes are first read by the strict parser of the domain, which refuses whatever two readers
could read differently; only then does pydantic see them, so its laxer reader cannot disagree.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from litestar import Request
from pydantic import BaseModel, ValidationError

from codeflow_memory.domain import strict_json
from codeflow_memory.domain.errors import Fault, InvalidRequestError

BODY_BYTES: Final = 1 << 20
"""The greatest body of a request, in bytes; imports have their own."""

MAX_FAULTS: Final = 100
"""Told of at once; an answer must not grow with the request."""

_POINTER_CHARACTERS = 200
_DETAIL_CHARACTERS = 300

Model = TypeVar("Model", bound=BaseModel)


def read_body(model: type[Model], raw: bytes) -> Model:
    """Read *raw* as JSON and check it against *model*, without converting between JSON types.

    Args:
        model: With ``extra="forbid"``. An enumeration, tuple or set is read from its JSON form.
        raw: The whole body; an empty one counts as ``{}``.

    Raises:
        InvalidRequestError: Not strict JSON, or not what *model* describes; with the pointers of at
            most `MAX_FAULTS` faults.
    """
    document = raw or b"{}"
    value = strict_json.parse(document)
    try:
        return model.model_validate_json(document, strict=True)
    except ValidationError as error:
        raise InvalidRequestError(faults_of(error, value)) from error


class StrictRequest(Request[Any, Any, Any]):
    """The ``request_class`` of an application whose handlers declare ``data: JSONBody[Model]``.

    Litestar would decode the body itself, keep the last of two equal keys and let pydantic convert
    between JSON types. With this, `read_body` does it, and the description still shows the model.
    """

    async def body(self) -> bytes:
        """Return the body; an empty one is ``{}`` to a handler that takes a model."""
        raw = await super().body()
        return raw if raw or self.route_handler.parsed_data_field is None else b"{}"

    async def json(self) -> BaseModel:
        """Return what the handler's ``data`` parameter asks for."""
        field = self.route_handler.parsed_data_field
        if field is None:
            raise TypeError("the handler declares no data parameter")
        model: type[BaseModel] = field.annotation
        return read_body(model, await self.body())


def faults_of(error: ValidationError, document: object) -> list[Fault]:
    """Say where in *document*, the parsed value, pydantic found what; document order."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        Fault(
            _pointer(item["loc"], document),
            item["msg"].removeprefix("Value error, ")[:_DETAIL_CHARACTERS],
        )
        for item in found[:MAX_FAULTS]
    ]


def _pointer(location: tuple[int | str, ...], document: object) -> str:
    """Write pydantic's *location* as a JSON pointer (RFC 6901).

    A location also names members of unions and validators, which are not in the document; a step
    counts only where the document has it, or where it is the last one and is missing there.
    """
    steps: list[str] = []
    here = document
    for index, step in enumerate(location):
        last = index == len(location) - 1
        if isinstance(here, Mapping) and isinstance(step, str) and (step in here or last):
            steps.append(step)
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and 0 <= step < len(here):
            steps.append(str(step))
            here = here[step]
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
    return pointer[:_POINTER_CHARACTERS]
