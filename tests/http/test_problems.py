import json
import logging
from inspect import signature

import pytest
from litestar import Litestar, get, post
from litestar.exceptions import (
    HTTPException,
    InternalServerException,
    NotAuthorizedException,
    PermissionDeniedException,
    ServiceUnavailableException,
    TooManyRequestsException,
)
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.params import FromHeader, FromPath, FromQuery
from litestar.testing import TestClient

from codeflow_memory.domain import errors
from codeflow_memory.domain.errors import CodeflowError, Fault, InvalidRequestError
from codeflow_memory.http.problems import STATUS, describe, exception_handlers, problem

WIRE = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "operation-reused": 409,
    "import-conflict": 409,
    "illegal-transition": 409,
    "previously-rejected": 409,
    "legal-hold": 409,
    "stale-plan": 409,
    "undo-conflict": 409,
    "revision-conflict": 412,
    "limit-exceeded": 413,
    "unsupported-media-type": 415,
    "misdirected-request": 421,
    "invalid-request": 422,
    "provenance-invalid": 422,
    "publication-refused": 422,
    "revision-required": 428,
    "rate-limited": 429,
    "internal": 500,
    "busy": 503,
    "store-unusable": 503,
    "deadline-exceeded": 504,
    "storage-full": 507,
}

VALUES = {"str": "x", "int": 3, "str | None": "x", "Facts | None": {"title": "x"}}


def every(cls: type[CodeflowError]) -> set[type[CodeflowError]]:
    return set().union(*({child} | every(child) for child in cls.__subclasses__()))


def sample(cls: type[CodeflowError]) -> CodeflowError:
    if cls is InvalidRequestError:
        return cls([Fault("/title", "is required")])
    if cls is errors.UndoConflictError:
        return cls([errors.LaterChange("mem_1", 3, "revise", "2026-05-01T02:00:00Z")])
    asked = signature(cls.__init__).parameters.values()
    texts = {p.name: getattr(p.annotation, "__name__", str(p.annotation)) for p in asked}
    given = {name: VALUES.get(text, "x") for name, text in texts.items() if name != "self"}
    positional = [
        given.pop(p.name) for p in asked if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in given
    ]
    return cls(*positional, **given)


ours = sorted((c for c in every(CodeflowError) if c.__module__ == errors.__name__), key=str)


def test_every_error_has_one_status():
    assert set(ours) == STATUS.keys()
    assert {cls.code: STATUS[cls].value for cls in ours} == WIRE


def test_a_client_is_not_told_which_file_cannot_be_used():
    document = json.loads(describe(errors.StoreUnusableError("tenants/a/x.sqlite", "torn")).body)

    assert "x.sqlite" not in document["detail"]
    assert "doctor" in document["detail"]


@pytest.mark.parametrize("cls", ours, ids=lambda c: c.code)
def test_every_error_is_described_in_the_documented_form(cls):
    error = sample(cls)

    document = json.loads(describe(error).body)

    assert list(document)[:5] == ["type", "title", "status", "detail", "code"]
    assert document["type"] == f"urn:codeflow-memory:problem:{cls.code}"
    assert (document["status"], document["code"]) == (WIRE[cls.code], cls.code)
    if cls is not errors.StoreUnusableError:
        assert document["detail"] == str(error)
    assert not {"type", "title", "status", "detail", "code"} & set(error.facts)
    assert {name: document[name] for name in error.facts} == error.facts


@pytest.mark.parametrize(
    ("error", "headers"),
    [
        (errors.UnauthenticatedError(), (("www-authenticate", "Bearer"),)),
        (errors.RateLimitedError(retry_after_seconds=7), (("retry-after", "7"),)),
        (errors.BusyError(), (("retry-after", "1"),)),
        (errors.StorageFullError(), ()),
    ],
)
def test_headers_tell_what_to_do_next(error, headers):
    assert describe(error).headers == headers


def test_a_lone_surrogate_in_a_sentence_does_not_break_the_answer():
    document = json.loads(describe(InvalidRequestError.at("/a\ud800", "x")).body)

    assert document["errors"] == [{"pointer": "/a?", "detail": "x"}]


def test_a_problem_has_its_media_type_and_status():
    response = problem(errors.StorageFullError())

    assert (response.status_code, response.media_type) == (507, "application/problem+json")


HIDDEN = "a sentence that no stranger may read"


@get("/api/limited")
async def limited(limit: FromQuery[int], x_count: FromHeader[int] = 0) -> int:
    return limit + x_count


@get("/api/items/{number:int}")
async def numbered(number: FromPath[int]) -> int:
    return number


@post("/api/items")
async def busy() -> None:
    raise errors.BusyError(retry_after_seconds=3)


RAISED = {
    "401": NotAuthorizedException(HIDDEN),
    "403": PermissionDeniedException(HIDDEN),
    "413": RequestEntityTooLarge(HIDDEN),
    "415": HTTPException(HIDDEN, status_code=415),
    "418": HTTPException(HIDDEN, status_code=418),
    "429": TooManyRequestsException(HIDDEN, headers={"retry-after": "9"}),
    "500": InternalServerException(HIDDEN),
    "503": ServiceUnavailableException(HIDDEN),
    "defect": ValueError(HIDDEN),
    "group": ExceptionGroup("x", [ValueError(HIDDEN)]),
}


@get("/api/raise/{name:str}")
async def raiser(name: FromPath[str]) -> None:
    raise RAISED[name]


@pytest.fixture(scope="module")
def client():
    app = Litestar(
        [limited, numbered, busy, raiser],
        exception_handlers=exception_handlers(),
        logging_config=None,
        openapi_config=None,
    )
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


@pytest.mark.parametrize(
    ("method", "path", "status", "pointer"),
    [
        ("GET", "/api/nothing/secret-word", 404, None),
        ("GET", "/api/items/secret-word", 404, None),
        ("PUT", "/api/items/1", 405, None),
        ("GET", "/api/limited", 422, "limit"),
        ("GET", "/api/limited?limit=secret-word", 422, "limit"),
        ("POST", "/api/items", 503, None),
    ],
)
def test_what_the_framework_refuses_is_a_problem_without_an_echo(
    client, method, path, status, pointer
):
    answer = client.request(method, path)

    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert (answer.status_code, document["status"]) == (status, status)
    assert [e["pointer"] for e in document.get("errors", [])] == ([pointer] if pointer else [])
    assert "secret-word" not in answer.text


def test_a_method_that_is_not_allowed_names_those_that_are(client):
    answer = client.put("/api/items/1")

    assert answer.headers["allow"] == "GET, OPTIONS"
    assert answer.json()["type"] == "urn:codeflow-memory:problem:method-not-allowed"


def test_busy_says_when_to_come_back(client):
    assert client.post("/api/items").headers["retry-after"] == "3"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("401", "unauthenticated"),
        ("403", "forbidden"),
        ("413", "limit-exceeded"),
        ("415", "unsupported-media-type"),
        ("418", "invalid-request"),
        ("429", "rate-limited"),
        ("500", "internal"),
        ("503", "internal"),
        ("defect", "internal"),
        ("group", "internal"),
    ],
)
def test_an_exception_of_another_tree_becomes_one_of_ours(client, caplog, name, code):
    with caplog.at_level(logging.CRITICAL):
        answer = client.get(f"/api/raise/{name}")

    assert (answer.json()["code"], answer.status_code) == (code, WIRE[code])
    assert HIDDEN not in answer.text
    assert "Traceback" not in answer.text


def test_a_defect_is_logged_with_its_cause(client, caplog):
    client.get("/api/raise/defect")

    (record,) = [r for r in caplog.records if r.name == "codeflow_memory.http.problems"]
    assert record.exc_info[1] is RAISED["defect"]
