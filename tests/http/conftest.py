"""A real server on loopback, and requests as exact bytes."""

import http.client
import json
import socket
import threading
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.domain.access import Role
from codeflow_memory.http.protocol import Bounds
from codeflow_memory.http.server import Listener, _Server, bind, configure, own_hosts
from codeflow_memory.settings import Limits, Settings

REFUSED_AFTER = 10


@dataclass
class Answer:
    status: int | None
    headers: dict[str, str]
    body: bytes
    closed: bool


@dataclass
class Served:
    """A running server; `host` is what a well-behaved client sends as ``Host``."""

    listener: Listener

    @property
    def host(self) -> str:
        return urlsplit(self.listener.url).netloc

    def connect(self) -> socket.socket:
        return socket.create_connection((self.listener.address, self.listener.port), REFUSED_AFTER)

    def raw(self, *parts: bytes) -> Answer:
        """Send *parts*, then read one answer, or what comes until the server closes."""
        with self.connect() as connection:
            for part in parts:
                connection.sendall(part)
            return read_answer(connection)

    def get(self, path: str, *headers: str, method: str = "GET") -> Answer:
        return self.send(method, path, headers)

    def post(self, path: str, body: bytes = b"{}", *headers: str) -> Answer:
        sent = headers or ("Content-Type: application/json",)
        return self.send("POST", path, (*sent, f"Content-Length: {len(body)}"), body)

    def send(self, method: str, path: str, headers: tuple[str, ...], body: bytes = b"") -> Answer:
        # An answer to HEAD announces a body that never comes: only the connection's end tells.
        headers = (*headers, "Connection: close") if method == "HEAD" else headers
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", *headers, "", ""]
        return self.raw("\r\n".join(lines).encode("utf-8") + body)


def read_answer(connection: socket.socket) -> Answer:
    got = b""
    closed = False
    while True:
        head, separator, body = got.partition(b"\r\n\r\n")
        if separator and len(body) >= _length(head):
            break
        part = connection.recv(65536)
        if not part:
            closed = True
            break
        got += part
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/") else None
    pairs = [line.split(": ", 1) for line in lines[1:] if ": " in line]
    return Answer(status, {name.lower(): value for name, value in pairs}, body, closed)


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length: "):
            return int(line.removeprefix(b"content-length: "))
    return 0


@pytest.fixture(scope="module")
def serve():
    """Serve an application that ``build(listener)`` makes, until the module's tests are done."""
    running = []

    def start(build, bounds=None) -> Served:
        listener = bind()
        ready = threading.Event()
        try:
            config = configure(build(listener), bounds or Bounds())
        except BaseException:
            listener.close()
            raise
        server = _Server(config, ready.set)
        thread = threading.Thread(target=server.run, args=([listener.socket],))
        thread.start()
        running.append((server, thread))
        assert ready.wait(REFUSED_AFTER)
        return Served(listener)

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(REFUSED_AFTER)


PLENTY = 1_000_000
_TEXTS = count()


@dataclass
class Reply:
    """What a request was answered with."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    def ok(self, status: int = 200) -> Any:
        assert self.status == status, self.text
        return self.json

    def refused(self, status: int, code: str) -> Any:
        assert (self.status, self.json["code"]) == (status, code), self.text
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["type"] == f"urn:codeflow-memory:problem:{code}"
        return self.json

    def shape(self, *ids: str) -> tuple[int, list[str], str]:
        """What of the answer may be compared; *ids* are what was asked for."""
        text = self.text
        for known in ids:
            text = text.replace(known, "ID")
        return self.status, sorted(self.headers.keys() - {"x-request-id", "date"}), text


class Api:
    """The whole product on a real port, with one project and callers by name."""

    def __init__(self, served: Served, world) -> None:
        self.served, self.world = served, world
        self.tokens = {}
        for name, role in (
            ("reader", Role.READER),
            ("ann", Role.CONTRIBUTOR),
            ("abe", Role.CONTRIBUTOR),
            ("bob", Role.REVIEWER),
            ("max", Role.MAINTAINER),
            ("ops", Role.OPERATOR),
            ("olga", Role.OWNER),
        ):
            self.tokens[name] = world.token(name, role).text
        self.project = world.project("shop")
        other = world.project("other")
        self.tokens["elsewhere"] = world.token("eve", Role.OWNER, repo=other.repository_id).text
        birch = replace(world, tenant="birch")
        self.tokens["foreign"] = birch.token("ann", Role.OWNER).text
        self.base = f"/api/projects/{self.project.project_id}"

    def __call__(  # noqa: PLR0913 - the parts of a request
        self, who, method, path, body=None, *, match=None, key=None, raw=None, **query
    ) -> Reply:
        headers = {}
        if who is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        if match is not None:
            headers["If-Match"] = match if isinstance(match, str) else f'"{match}"'
        if key is not None:
            headers["Idempotency-Key"] = key
        if body is not None or raw is not None:
            headers["Content-Type"] = "application/json"
            raw = json.dumps(body).encode() if raw is None else raw
        if query:
            path = f"{path}?{urlencode(query, doseq=True)}"
        connection = http.client.HTTPConnection(self.served.host, timeout=REFUSED_AFTER)
        try:
            connection.request(method, path, raw, headers)
            answer = connection.getresponse()
            got = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, got, answer.read().decode())
        finally:
            connection.close()

    def write(self, who="ann", **fields):
        number = next(_TEXTS)
        draft = {
            "collection": "project",
            "kind": "guidance",
            "title": f"Title number {number}",
            "body": f"Body number {number}",
        }
        return self(who, "POST", f"{self.base}/memories", draft | fields).ok(201)

    def accept(self, **fields):
        memory = self.write(**fields)
        return self.act("bob", memory, "approve").ok()

    def act(self, who, memory, action, body=None, **more) -> Reply:
        path = f"/api/memories/{memory['id']}/{action}"
        return self(who, "POST", path, body or {}, match=memory["revision"], **more)


@pytest.fixture(scope="module")
def serve_product(serve, shared_world):
    """Serve the whole product over the module's world, with the limits that are given."""
    requests = count()

    def start(**limits) -> Served:
        settings = Settings(limits=Limits(**limits))

        def build(listener: Listener):
            return create_app(
                Wiring(
                    shared_world.tenants,
                    settings,
                    own_hosts(listener),
                    lambda: f"req_{next(requests)}",
                )
            )

        return serve(build)

    return start


@pytest.fixture(scope="module")
def api(serve_product, shared_world):
    served = serve_product(
        requests_per_minute_token=PLENTY, requests_per_minute_tenant=PLENTY, failed_sign_ins=PLENTY
    )
    return Api(served, shared_world)
