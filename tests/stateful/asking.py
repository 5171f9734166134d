"""A server on loopback in a thread, and a client of it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlsplit

from codeflow_memory.http.protocol import Bounds
from codeflow_memory.http.server import _Server, bind, configure, own_hosts

SECONDS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Asking:
    """Sends requests with one token; a connection for each."""

    url: str
    token: str

    def send(self, method: str, path: str, body: object = None, headers=None) -> Answer:
        named = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        sent = None if body is None else json.dumps(body)
        if sent is not None:
            named["Content-Type"] = "application/json"
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=SECONDS)
        try:
            connection.request(method, path, sent, named)
            got = connection.getresponse()
            headers = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, headers, got.read())
        finally:
            connection.close()


@contextmanager
def served(build: Callable) -> Iterator[str]:
    """Serve what ``build(hosts)`` makes; give the URL."""
    listener = bind()
    ready = threading.Event()
    server = _Server(configure(build(own_hosts(listener)), Bounds()), ready.set)
    thread = threading.Thread(target=server.run, args=([listener.socket],))
    thread.start()
    try:
        assert ready.wait(SECONDS)
        yield listener.url
    finally:
        server.should_exit = True
        thread.join(SECONDS)
