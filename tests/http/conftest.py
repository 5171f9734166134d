"""A real server on loopback, and requests as exact bytes."""

import socket
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from codeflow_memory.http.protocol import Bounds
from codeflow_memory.http.server import Listener, _Server, bind, configure

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
