"""What Litestar cannot know of an operation: its summary, its headers' form, examples of bodies."""

import re
from collections.abc import Mapping
from typing import Any, Final

from codeflow_memory.http.pagination import DEFAULT_LIMIT, MAX_LIMIT
from codeflow_memory.http.preconditions import IDEMPOTENCY_KEY_CHARACTERS

Schema = dict[str, Any]

_IF_MATCH: Final = "If-Match"
_REVISION_REQUIRED: Final = "428"

PARAMETERS: Final[Mapping[str, Schema]] = {
    _IF_MATCH: {"type": "string", "pattern": '^"(0|[1-9][0-9]{0,17})"$', "examples": ['"3"']},
    "Idempotency-Key": {
        "type": "string",
        "minLength": 1,
        "maxLength": IDEMPOTENCY_KEY_CHARACTERS,
        "pattern": "^[!-~]+$",
    },
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    "cursor": {"type": "string", "minLength": 1, "maxLength": 1024},
}
"""The form of parameters that handlers read as text, to refuse them in our own words."""

_FIRST_CLAUSE = re.compile(r"[^.;:]+")


def describe_operation(operation: Schema, schemas: Mapping[str, Schema]) -> None:
    """Complete the description of one operation in place.

    Args:
        operation: Of an OpenAPI document, with its responses.
        schemas: The document's component schemas, for examples.
    """
    first = _FIRST_CLAUSE.match(operation.get("description") or "")
    if first is not None:
        operation["summary"] = first[0]
    if "parameters" in operation:
        operation["parameters"] = [
            _parameter(given, operation)
            for given in operation["parameters"]
            if given["name"] != _IF_MATCH or _REVISION_REQUIRED in operation["responses"]
        ]
    if "requestBody" in operation:
        _describe_body(operation["requestBody"], schemas)


def example_of(schema: Schema, schemas: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - any JSON
    """Return a value that *schema* allows: its own examples, then what is required."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "enum" in schema:
        return schema["enum"][0]
    alternatives = schema.get("oneOf") or schema.get("anyOf")
    if alternatives:
        return example_of(alternatives[0], schemas)
    return _value(schema, schemas)


def _value(schema: Schema, schemas: Mapping[str, Schema]) -> Any:  # noqa: ANN401 - any JSON
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            return {
                name: example_of(field, schemas)
                for name, field in schema.get("properties", {}).items()
                if name in required or field.get("examples")
            }
        case "array":
            return [example_of(schema["items"], schemas)]
        case "integer":
            return max(1, schema.get("minimum", 1))
        case kind:
            return {"boolean": True, "string": "text"}.get(str(kind))


def _describe_body(body: Schema, schemas: Mapping[str, Schema]) -> None:
    for media in body["content"].values():
        media["examples"] = {"example": {"value": example_of(media["schema"], schemas)}}
        model = schemas.get(media["schema"].get("$ref", "").rpartition("/")[2], {})
        # No body counts as ``{}``.
        body["required"] = bool(model.get("required"))


def _parameter(given: Schema, operation: Schema) -> Schema:
    name, schema = given["name"], given["schema"]
    if name in PARAMETERS and given["in"] in {"query", "header"}:
        required = name == _IF_MATCH and _REVISION_REQUIRED in operation["responses"]
        return given | {"schema": dict(PARAMETERS[name]), "required": required}
    # A parameter that may be left out has no way to be null.
    told = [one for one in schema.get("oneOf", ()) if one.get("type") != "null"]
    if len(told) == 1:
        kept = {key: value for key, value in schema.items() if key != "oneOf"}
        return given | {"schema": kept | told[0]}
    return given
