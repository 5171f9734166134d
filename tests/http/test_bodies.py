from enum import StrEnum

import pytest
from litestar import Litestar, get, post
from litestar.params import JSONBody, RawBody
from litestar.testing import TestClient
from pydantic import BaseModel, Field, field_validator

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.http.bodies import MAX_FAULTS, StrictRequest, read_body
from codeflow_memory.http.problems import exception_handlers


class Kind(StrEnum):
    FACT = "fact"
    SKILL = "skill"


class Part(BaseModel, frozen=True, extra="forbid"):
    revision: int = Field(ge=1)


class Draft(BaseModel, frozen=True, extra="forbid"):
    title: str = Field(max_length=5)
    kind: Kind = Kind.FACT
    flag: bool = False
    tags: tuple[str, ...] = ()
    parts: list[Part] = []
    budget: int | list[int] | None = None

    @field_validator("title")
    @classmethod
    def _plain(cls, title: str) -> str:
        if title == "odd":
            raise ValueError("is odd")
        return title


class Note(BaseModel, frozen=True, extra="forbid"):
    note: str | None = None


@pytest.mark.parametrize(
    ("raw", "pointers"),
    [
        (b"", ["/title"]),
        (b"{}", ["/title"]),
        (b"[]", [""]),
        (b"null", [""]),
        (b"7", [""]),
        (b"{", [""]),
        (b'{"title":"a","title":"b"}', ["/title"]),
        (b'{"title":1}', ["/title"]),
        (b'{"title":null}', ["/title"]),
        (b'{"title":"123456"}', ["/title"]),
        (b'{"title":"a","kind":"Fact"}', ["/kind"]),
        (b'{"title":"a","kind":0}', ["/kind"]),
        (b'{"title":"a","flag":1}', ["/flag"]),
        (b'{"title":"a","flag":"true"}', ["/flag"]),
        (b'{"title":"a","tags":"x"}', ["/tags"]),
        (b'{"title":"a","tags":["x",1]}', ["/tags/1"]),
        (b'{"title":"a","parts":[{"revision":1},{"revision":"1"}]}', ["/parts/1/revision"]),
        (b'{"title":"a","parts":[{"revision":true}]}', ["/parts/0/revision"]),
        (b'{"title":"a","parts":[{"revision":1.0}]}', ["/parts/0/revision"]),
        (b'{"title":"a","parts":[{"revision":0}]}', ["/parts/0/revision"]),
        (b'{"title":"a","parts":[{}]}', ["/parts/0/revision"]),
        (b'{"title":"a","parts":[{"revision":1,"x":1}]}', ["/parts/0/x"]),
        (b'{"title":"a","a/b~c":1}', ["/a~1b~0c"]),
        (b'{"title":"a","":1}', ["/"]),
    ],
)
def test_what_is_wrong_is_pointed_at(raw, pointers):
    with pytest.raises(InvalidRequestError) as caught:
        read_body(Draft, raw)

    assert [fault.pointer for fault in caught.value.faults] == pointers


def test_a_member_of_a_union_is_not_part_of_the_pointer():
    with pytest.raises(InvalidRequestError) as caught:
        read_body(Draft, b'{"title":"a","budget":["x"]}')

    assert {fault.pointer for fault in caught.value.faults} == {"/budget", "/budget/0"}


def test_a_rule_of_our_own_is_told_in_its_own_words():
    with pytest.raises(InvalidRequestError) as caught:
        read_body(Draft, b'{"title":"odd"}')

    assert [f.detail for f in caught.value.faults] == ["is odd"]


def test_the_answer_does_not_grow_with_the_request():
    keys = b",".join(b'"%d%b":1' % (i, b"k" * 900) for i in range(1000))

    with pytest.raises(InvalidRequestError) as caught:
        read_body(Note, b"{" + keys + b"}")

    assert len(caught.value.faults) == MAX_FAULTS
    assert all(len(fault.pointer) <= 200 for fault in caught.value.faults)


def test_json_forms_of_enumerations_and_tuples_are_read():
    raw = b'{"title":"a","kind":"skill","tags":["x"],"parts":[{"revision":2}]}'

    assert read_body(Draft, raw) == Draft(
        title="a", kind=Kind.SKILL, tags=("x",), parts=[Part(revision=2)]
    )


def test_no_body_is_an_empty_object():
    assert read_body(Note, b"") == read_body(Note, b"{}") == Note()


@post("/api/notes")
async def note(data: JSONBody[Note]) -> dict[str, str | None]:
    return {"note": data.note}


@post("/api/drafts")
async def draft(data: JSONBody[Draft]) -> dict[str, str]:
    return {"title": data.title}


@post("/api/raw")
async def raw_body(body: RawBody) -> dict[str, int]:
    return {"bytes": len(body)}


@get("/api/notes")
async def notes() -> None:
    return None


@pytest.fixture(scope="module")
def client():
    app = Litestar(
        [note, draft, raw_body, notes],
        exception_handlers=exception_handlers(),
        request_class=StrictRequest,
        logging_config=None,
        openapi_config=None,
    )
    with TestClient(app) as made:
        yield made


def test_a_handler_that_declares_a_model_gets_it_read_strictly(client):
    assert client.post("/api/drafts", content=b'{"title":"a"}').json() == {"title": "a"}
    for raw in (b'{"title":"a","title":"b"}', b'{"title":1}', b"", b"[" * 5000):
        answer = client.post("/api/drafts", content=raw)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")


def test_an_empty_body_is_an_empty_object_only_to_a_handler_with_a_model(client):
    assert client.post("/api/notes").json() == {"note": None}
    assert client.post("/api/raw").json() == {"bytes": 0}
    assert client.get("/api/notes").status_code == 200
