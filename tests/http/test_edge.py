"""The edge in front of a small application on a real socket."""

import json
import threading
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar, get, post
from litestar.params import FromPath, RawBody

from codeflow_memory.domain import deadline
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.http import edge, exchange
from codeflow_memory.http.admission import EdgePolicy, _check_path, origins_of
from codeflow_memory.http.bodies import BODY_BYTES
from codeflow_memory.http.edge import Edge
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.problems import exception_handlers
from codeflow_memory.http.security_headers import SECURITY_HEADERS
from codeflow_memory.http.server import own_hosts

URN = "urn:codeflow-memory:problem:"
JSON = "Content-Type: application/json"
HIDDEN = "a sentence that no stranger may read"


class Slow:
    """Work that says when it began and how it was stopped."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.stopped = threading.Event()

    def __call__(self) -> None:
        self.began.set()
        limit = deadline.current.get()
        while not limit.passed():
            self.stopped.wait(0.005)
        self.stopped.set()


slow = Slow()
pool = Pool(threads=2, waiting=8)
called: list[str] = []


@get("/api/things/{thing_id:str}")
async def thing(thing_id: FromPath[str]) -> dict[str, str]:
    called.append(thing_id)
    exchange.add_headers({"RateLimit-Limit": "600"})
    return {"id": thing_id, "text": HIDDEN}


@post("/api/things", status_code=201)
async def create(body: RawBody) -> dict[str, int]:
    called.append("create")
    return {"bytes": len(body)}


@post("/api/imports", status_code=201)
async def large(body: RawBody) -> dict[str, int]:
    return {"bytes": len(body)}


@get("/api/slow")
async def wait() -> None:
    await pool.run(slow)


@get("/api/boom")
async def boom() -> None:
    raise RuntimeError(HIDDEN)


@get("/page", media_type="text/html")
async def page() -> str:
    return "<!DOCTYPE html>"


ROUTES = [thing, create, large, wait, boom, page]


def build(listener):
    app = Litestar(
        ROUTES, exception_handlers=exception_handlers(), logging_config=None, openapi_config=None
    )
    hosts = own_hosts(listener)
    numbers = count(1)
    policy = EdgePolicy(
        hosts,
        origins_of(hosts),
        larger_bodies={"/api/imports": 2 * BODY_BYTES},
        body_seconds=0.2,
        content_policies={"/page": "default-src 'self'"},
    )
    return Edge(app, policy, lambda: f"req_{next(numbers)}")


@pytest.fixture(scope="module")
def server(serve):
    yield serve(build)
    pool.close()


@pytest.fixture(autouse=True)
def _forget():
    called.clear()


def slug(answer) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    document = json.loads(answer.body)
    assert document["status"] == answer.status
    return document["type"].removeprefix(URN)


HOSTS = [
    "localhost.",
    "127.1:{p}",
    "0.0.0.0:{p}",
    "[::ffff:127.0.0.1]:{p}",
    "[::1]:{p}",
    "evil.example:{p}",
    "127.0.0.1:{p}@evil.example",
    "127.0.0.1:{p}.evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:0{p}",
    "",
    "127.0.0.1:{p}, evil.example",
    "localhost:{p}\tx",
    "http://127.0.0.1:{p}",
]


@pytest.mark.parametrize("value", HOSTS)
def test_a_host_that_is_not_exactly_ours_reaches_no_handler(server, value):
    host = value.replace("{p}", str(server.listener.port))

    answer = server.raw(f"GET /api/things/1 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    assert (answer.status, slug(answer), called) == (421, "misdirected-request", [])


@pytest.mark.parametrize(
    "head",
    [
        "GET /api/things/1 HTTP/1.1\r\nHost: {h}\r\nHost: evil.example\r\n",
        "GET /api/things/1 HTTP/1.1\r\nHost: evil.example\r\nHost: {h}\r\n",
        "GET /api/things/1 HTTP/1.1\r\nHost: {h}\r\nHost: {h}\r\n",
        "GET /api/things/1 HTTP/1.1\r\n",
        "GET /api/things/1 HTTP/1.0\r\n",
        "GET http://evil.example/api/things/1 HTTP/1.1\r\nHost: {h}\r\n",
        "GET http://evil.example/api/things/1 HTTP/1.1\r\nHost: evil.example\r\n",
        "GET http://user@{h}/api/things/1 HTTP/1.1\r\nHost: {h}\r\n",
        "GET ftp://{h}/api/things/1 HTTP/1.1\r\nHost: {h}\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: {h}\r\n",
    ],
)
def test_two_hosts_no_host_and_a_target_on_another_host_are_misdirected(server, head):
    answer = server.raw((head.replace("{h}", server.host) + "\r\n").encode())

    assert (answer.status, slug(answer), called) == (421, "misdirected-request", [])


@pytest.mark.parametrize(
    "head",
    [
        "GET /api/things/1 HTTP/1.1\r\nHost: {h}\r\n",
        "GET /api/things/1 HTTP/1.0\r\nHost: {h}\r\n",
        "GET http://{h}/api/things/1 HTTP/1.1\r\nHost: {h}\r\n",
        "GET /api/things/1 HTTP/1.1\r\nhost: localhost:{p}\r\n",
    ],
)
def test_our_own_host_is_served(server, head):
    text = head.replace("{h}", server.host).replace("{p}", str(server.listener.port))

    assert server.raw((text + "\r\n").encode()).status == 200


PATHS = [
    "//api/things/1",
    "/api//things/1",
    "/api/things/1/",
    "/api/things/1;x=page",
    "/api/things/1%3bx",
    "/api/things/1%2e",
    "/api/things/%2e%2e",
    "/api/things/a%2fb",
    "/api/things/a%5cb",
    "/api/things/a%00",
    "/api/things/a%0d%0ab",
    "/api/things/a%25b",
    "/api/things/%ff",
    "/api/things/1%",
    "/api/./things/1",
    "/page/../api/things/1",
    "/static/..",
    "/%61pi/things/1",
    "/API/things/1",
    "/api/things/1\\",
]


@pytest.mark.parametrize("path", PATHS)
def test_another_spelling_of_a_path_is_not_found(server, path):
    answer = server.get(path)

    assert (answer.status, slug(answer), called) == (404, "not-found", [])


@pytest.mark.parametrize("unit", ["a", "/a", "%C3%A9", "a%20", "/."])
def test_a_long_path_that_fails_at_its_end_is_refused_without_trying_its_divisions(unit):
    path = "/" + unit * (30_000 // len(unit)) + ";"

    with pytest.raises(NotFoundError):
        _check_path(path.encode())


def test_an_unknown_path_is_told_apart_from_a_misspelt_one_by_nothing(server):
    unknown, misspelt = server.get("/api/nothing/here/at/all"), server.get("/api//things/1")

    assert unknown.body == misspelt.body
    assert b"nothing" not in unknown.body


@pytest.mark.parametrize("path", ["/api/things/a%20b", "/api/things/%C3%A9", "/api/things/a:b@c"])
def test_what_a_path_must_escape_may_be_escaped(server, path):
    assert server.get(path).status == 200


@given(st.lists(st.text("abcZ09._~-", min_size=1).filter(lambda s: s.strip(".")), max_size=5))
def test_every_path_of_plain_segments_is_spelled_well(segments):
    _check_path(("/" + "/".join(segments)).encode())


@given(st.binary(max_size=12))
def test_an_admitted_path_has_neither_empty_nor_dotted_segments(tail):
    path = b"/api/" + tail
    try:
        _check_path(path)
    except NotFoundError:
        return
    assert not {b"", b".", b".."} & set(path.split(b"/")[1:])
    assert not set(path) & set(b";\\?#")


@pytest.mark.parametrize(
    "header",
    [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://localhost",
        "Origin: ",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: anything",
    ],
)
def test_the_pages_of_others_reach_no_handler_of_the_api(server, header):
    got, posted = (
        server.get("/api/things/1", header),
        server.post("/api/things", b"{}", JSON, header),
    )

    assert (got.status, slug(got)) == (403, "forbidden")
    assert (posted.status, slug(posted), called) == (403, "forbidden", [])


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages_reach_the_api(server, site):
    own = (f"Origin: http://{server.host}", f"Sec-Fetch-Site: {site}")

    assert server.get("/api/things/1", *own).status == 200


def test_a_link_from_elsewhere_may_lead_to_a_page(server):
    assert server.get("/page", "Sec-Fetch-Site: cross-site").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        ("X-Other: 1",),
        ("Content-Type: text/plain",),
        ("Content-Type: application/x-www-form-urlencoded",),
        ("Content-Type: application/json; charset=latin-1",),
        ("Content-Type: application/json; charset=utf-8; boundary=x",),
        ("Content-Type: application/jsonp",),
        ("Content-Type: application/json, text/plain",),
        ("Content-Type: application/merge-patch+json",),
        (JSON, "Content-Encoding: gzip"),
        (JSON, "Content-Encoding: identity"),
    ],
)
def test_a_body_that_is_not_plain_json_is_unsupported(server, headers):
    answer = server.post("/api/things", b'{"a":1}', *headers)

    assert (answer.status, slug(answer), called) == (415, "unsupported-media-type", [])


@pytest.mark.parametrize(
    "value", ["application/json", "Application/JSON", "application/json;charset=UTF-8"]
)
def test_plain_json_is_read_whole(server, value):
    answer = server.post("/api/things", b'{"a":1}', f"Content-Type: {value}")

    assert json.loads(answer.body) == {"bytes": 7}


def test_an_empty_body_needs_no_type_but_may_not_have_a_wrong_one(server):
    assert server.post("/api/things", b"", "X-Other: 1").status == 201
    assert server.post("/api/things", b"", "Content-Type: text/plain").status == 415


@pytest.mark.parametrize("name", ["Authorization", "If-Match", "Idempotency-Key", "Origin"])
def test_a_header_that_comes_twice_is_refused_by_its_name(server, name):
    value = f"http://{server.host}" if name == "Origin" else '"1"'

    answer = server.get("/api/things/1", f"{name}: {value}", f"{name}: {value}")

    assert (answer.status, slug(answer)) == (422, "invalid-request")
    assert json.loads(answer.body)["errors"][0]["pointer"] == f"header {name}"


def test_a_body_that_is_announced_too_long_is_refused_and_the_answer_arrives(server):
    answer = server.post("/api/things", b" " * (3 * BODY_BYTES))

    assert (answer.status, slug(answer), called) == (413, "limit-exceeded", [])
    assert answer.headers["connection"] == "close"
    facts = json.loads(answer.body)
    assert (facts["limit"], facts["value"], facts["maximum"]) == (
        "body_bytes",
        3 * BODY_BYTES,
        BODY_BYTES,
    )


def chunked(server, *chunks: bytes) -> list[bytes]:
    head = f"POST /api/things HTTP/1.1\r\nHost: {server.host}\r\n{JSON}\r\n"
    framed = [b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks]
    return [f"{head}Transfer-Encoding: chunked\r\n\r\n".encode(), *framed]


def test_a_streamed_body_is_refused_at_the_first_byte_too_many(server):
    fits = server.raw(*chunked(server, *[b" " * 65536] * 16, b""))
    over = server.raw(*chunked(server, *[b" " * 65536] * 16, b"x", b""))

    assert json.loads(fits.body) == {"bytes": BODY_BYTES}
    assert (over.status, slug(over)) == (413, "limit-exceeded")


def test_a_path_may_take_larger_bodies(server):
    assert server.post("/api/imports", b" " * (2 * BODY_BYTES)).status == 201
    assert server.post("/api/imports", b" " * (2 * BODY_BYTES + 1)).status == 413


def test_a_body_that_does_not_come_in_time_is_given_up(server):
    answer = server.raw(chunked(server)[0] + b"1\r\n")

    assert (answer.status, slug(answer), called) == (504, "deadline-exceeded", [])


def test_a_late_body_is_not_waited_for_again_after_its_refusal(server, monkeypatch):
    monkeypatch.setattr(edge, "DRAIN_SECONDS", 1_000.0)

    with server.connect() as connection:
        connection.sendall(chunked(server)[0])
        while connection.recv(65536):
            pass


def test_a_client_that_leaves_within_its_body_is_forgotten(server):
    with server.connect() as connection:
        connection.sendall(chunked(server, b"abc")[0])

    assert server.get("/api/things/1").status == 200
    assert called == ["1"]


def test_work_is_stopped_when_its_client_leaves(server):
    with server.connect() as connection:
        connection.sendall(f"GET /api/slow HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        assert slow.began.wait(5)
        assert not slow.stopped.is_set()

    assert slow.stopped.wait(5)


@pytest.mark.parametrize(
    "header",
    [
        "X-HTTP-Method-Override: POST",
        "X-Original-URL: /page",
        "X-Rewrite-URL: /page",
        "X-Forwarded-Host: evil.example",
        "X-Forwarded-Prefix: /page",
        "Forwarded: for=127.0.0.1;host=localhost",
        "X-Request-Id: chosen",
    ],
)
def test_headers_that_rewrite_requests_elsewhere_have_no_effect(server, header):
    answer = server.get("/api/things/1", header)

    assert json.loads(answer.body)["id"] == "1"
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE"])
def test_methods_beside_the_routes_show_no_content(server, method):
    answer = server.get("/api/things/1", method=method)

    assert answer.status == (204 if method == "OPTIONS" else 405)
    assert HIDDEN.encode() not in answer.body
    assert answer.headers["allow"].replace(" ", "").split(",") == ["GET", "OPTIONS"]


def test_a_defect_is_logged_under_the_request_id_and_told_to_nobody(server, caplog):
    answer = server.get("/api/boom")

    assert (answer.status, slug(answer)) == (500, "internal")
    assert HIDDEN.encode() not in answer.body
    (record,) = [r for r in caplog.records if r.name == "codeflow_memory.http.problems"]
    assert answer.headers["x-request-id"] in record.getMessage()


@pytest.mark.parametrize("path", ["/api/things/1", "/api/nothing", "/api//x", "/api/boom"])
def test_every_answer_carries_the_security_headers(server, path):
    answer = server.get(path)

    for name, value in SECURITY_HEADERS:
        assert answer.headers[name.decode()] == value.decode()
    assert "server" not in answer.headers


def test_a_page_has_its_own_content_policy(server):
    assert server.get("/page").headers["content-security-policy"] == "default-src 'self'"


def test_request_ids_differ_and_added_headers_arrive(server):
    first, second = server.get("/api/things/1"), server.get("/api/things/1")

    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert first.headers["ratelimit-limit"] == "600"
    assert "ratelimit-limit" not in server.get("/page").headers
