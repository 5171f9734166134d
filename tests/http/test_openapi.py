import json

import pytest
from litestar import Litestar, post
from litestar.params import FromPath, JSONBody
from litestar.testing import TestClient
from pydantic import BaseModel

from codeflow_memory.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    ProvenanceInvalidError,
)
from codeflow_memory.http.bodies import StrictRequest
from codeflow_memory.http.docs_page import docs_policy
from codeflow_memory.http.openapi import openapi_config, refusals
from codeflow_memory.http.problems import exception_handlers


class Pair(BaseModel, extra="forbid"):
    revision: int


class Draft(BaseModel, extra="forbid"):
    title: str
    pairs: list[Pair] = []


class Shown(BaseModel):
    title: str


REFUSED = refusals(NotFoundError, InvalidRequestError, ProvenanceInvalidError)


@post("/api/{place:str}/drafts", responses=REFUSED)
async def draft(place: FromPath[str], data: JSONBody[Draft]) -> Shown:
    """Make a draft <b>now</b>."""
    return Shown(title=data.title + place)


@pytest.fixture(scope="module")
def client():
    app = Litestar(
        [draft],
        exception_handlers=exception_handlers(),
        request_class=StrictRequest,
        openapi_config=openapi_config(title="Memory", version="1.2"),
        logging_config=None,
    )
    with TestClient(app) as made:
        yield made


@pytest.fixture(scope="module")
def document(client):
    return client.get("/schema/openapi.json").json()


def test_it_is_openapi_3_1_with_the_bearer_scheme(document):
    assert document["openapi"].startswith("3.1")
    assert document["info"] == {"title": "Memory", "version": "1.2"}
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert document["security"] == [{"bearer": []}]


def test_every_refusal_is_a_problem_and_no_status_is_told_that_is_never_sent(document):
    responses = document["paths"]["/api/{place}/drafts"]["post"]["responses"]

    assert list(responses) == ["201", "403", "404", "413", "415", "421", "422", "500", "504"]
    for status, answer in responses.items():
        if status != "201":
            assert answer["content"] == {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            }
    assert responses["422"]["description"] == "`invalid-request`, `provenance-invalid`"


def test_what_the_api_sends_as_a_problem_has_the_described_members(client, document):
    described = document["components"]["schemas"]["Problem"]

    sent = client.post("/api/x/drafts", json={}).json()

    assert set(described["required"]) <= sent.keys()


def test_bodies_are_closed_and_answers_open(document):
    schemas = document["components"]["schemas"]

    assert schemas["Draft"]["additionalProperties"] is False
    assert schemas["Pair"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["Shown"]


def test_the_document_is_the_same_each_time(client, document):
    assert client.get("/schema/openapi.json").json() == document


def test_the_page_names_every_route_and_loads_nothing(client):
    page = client.get("/schema")

    assert page.headers["content-type"].startswith("text/html")
    assert "<code>POST /api/{place}/drafts</code>" in page.text
    assert "Make a draft &lt;b&gt;now&lt;/b&gt;." in page.text
    for forbidden in ("<script", "<img", "<link", "//", "@import", "url(", " style="):
        assert forbidden not in page.text
    assert "default-src 'none'" in docs_policy()


def test_an_unknown_path_below_the_page_is_a_problem(client):
    for path in ("/schema/other", "/schema/openapi.yaml"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert json.loads(answer.text)["code"] == "not-found"
