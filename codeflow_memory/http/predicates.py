"""``/api/predicates``: which predicates have one value at a time."""

from typing import Any

from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import JSONBody
from pydantic import BaseModel, Field

from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import CHANGES, READS
from codeflow_memory.services import predicates


class NewPredicatesBody(Input):
    """The functional predicates; every other has any number of values."""

    functional: list[str] = Field(max_length=predicates.MOST, examples=[["version", "owner"]])


class PredicatesBody(BaseModel):
    """The functional predicates, folded, by name."""

    functional: list[str]


@get("/api/predicates", tags=["governance"], responses=refusals(*READS))
async def find(call: NamedDependency[Call]) -> Response[PredicatesBody]:
    """List the predicates that have one value at a time: a new one takes the old one's place."""
    body: Any = {"functional": list(await call.run(predicates.find))}
    return Response(body)


@put("/api/predicates", tags=["governance"], responses=refusals(*CHANGES))
async def replace(
    data: JSONBody[NewPredicatesBody], change: NamedDependency[Change]
) -> Response[PredicatesBody]:
    """Replace the list; for maintainers of the tenant."""
    names = await change.run(predicates.replace, data.functional, change.operation)
    body: Any = {"functional": list(names)}
    return Response(body)


ROUTES = (find, replace)
