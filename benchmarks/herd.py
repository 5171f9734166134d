"""A herd of slow clients on loopback: idle ones, and ones slow with their headers or bodies.

The slow ones send one byte a second. They come from many addresses, so that no bound on one peer
stops them: Linux lets a client take any address of 127.0.0.0/8.
"""

import json
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit

PACE_SECONDS = 1.0
PER_ADDRESS = 50

Begin = Callable[[str], bytes]


def idle(_: str) -> bytes:
    """Send nothing at all."""
    return b""


def slow_head(host: str) -> bytes:
    """Begin a header that never ends."""
    return f"GET /api/projects HTTP/1.1\r\nHost: {host}\r\nX-Slow: ".encode("ascii")


def slow_body(host: str) -> bytes:
    """Send a whole head, and begin a body that never ends."""
    return (
        f"POST /api/projects HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100000\r\n\r\n{"
    ).encode("ascii")


def answered(host: str) -> bytes:
    """Send a whole request and, once it is answered, nothing more."""
    return f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("ascii")


KINDS: tuple[Begin, ...] = (idle, answered, slow_head, slow_body)
SILENT = frozenset({idle, answered})


@dataclass(slots=True)
class Client:
    """One slow client; ``ended`` is ``None`` while the server keeps its connection."""

    connection: socket.socket
    kind: Begin
    began: float
    ended: float | None = None

    @property
    def age(self) -> float:
        """Seconds that its connection was held, or is held by now."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began


@dataclass
class Herd:
    """Slow clients of the server at *url*, kept up by a thread while the context lasts."""

    url: str
    count: int = 1_000
    kinds: tuple[Begin, ...] = KINDS
    clients: list[Client] = field(default_factory=list)

    def __enter__(self) -> "Herd":
        parts = urlsplit(self.url)
        self._host = parts.netloc
        self._place = (parts.hostname or "", parts.port or 0)
        self._selector = selectors.DefaultSelector()
        for number in range(self.count):
            self._open(number)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep_up)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._selector.close()
        for client in self.clients:
            client.connection.close()

    @property
    def held(self) -> list[Client]:
        """Those whose connections the server keeps."""
        return [client for client in self.clients if client.ended is None]

    def wait_until_gone(self, seconds: float) -> None:
        """Return when the server keeps no connection, or after *seconds*."""
        self._thread.join(seconds)

    def _open(self, number: int) -> None:
        at = number // PER_ADDRESS
        connection = socket.socket()
        connection.bind((f"127.0.{1 + at // 200}.{1 + at % 200}", 0))
        connection.connect(self._place)
        connection.setblocking(False)  # noqa: FBT003 - the parameter has no name
        client = Client(connection, self.kinds[number % len(self.kinds)], time.monotonic())
        self.clients.append(client)
        self._selector.register(connection, selectors.EVENT_READ, client)
        self._send(client, client.kind(self._host))

    def _keep_up(self) -> None:
        """Send a byte for each at every pace, and note whom the server gives up."""
        due = time.monotonic() + PACE_SECONDS
        while self.held and not self._stopping.is_set():
            for key, _ in self._selector.select(max(0.0, min(0.1, due - time.monotonic()))):
                self._read(key.data)
            if time.monotonic() >= due:
                due += PACE_SECONDS
                for client in self.held:
                    if client.kind not in SILENT:
                        self._send(client, b"x")

    def _read(self, client: Client) -> None:
        with self._noticing(client):
            if not client.connection.recv(4096):
                raise ConnectionResetError

    def _send(self, client: Client, data: bytes) -> None:
        with self._noticing(client):
            client.connection.send(data)

    @contextmanager
    def _noticing(self, client: Client) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            return
        except OSError:
            if client.ended is None:
                client.ended = time.monotonic()
                self._selector.unregister(client.connection)


def main() -> None:
    """Run a herd until the server has given it up; say when it stands, and then how long it did.

    A process of its own, so that whoever measures beside it measures the server.
    """
    with Herd(sys.argv[1], count=int(sys.argv[2])) as herd:
        print(len(herd.held), flush=True)
        herd.wait_until_gone(60)
        left = len(herd.held)
        oldest = {
            kind.__name__: round(max(c.age for c in herd.clients if c.kind is kind), 2)
            for kind in herd.kinds
        }
    print(json.dumps({"left": left, "oldest_seconds": oldest}))


if __name__ == "__main__":
    main()
