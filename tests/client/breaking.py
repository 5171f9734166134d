"""A proxy before a server that breaks its connections when it is told to, and counts requests."""

import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

PART = 1 << 16


class Break(Enum):
    """Where a connection is lost."""

    BEFORE = "before the server gets the request"
    AFTER = "after the server did it, before a byte of the answer"
    HEAD = "within the head of the answer"
    BODY = "within the body of the answer"


Step = Break | bytes
"""What happens to a request; bytes are the answer of somebody else, who passes nothing on."""


class Breaking:
    """Relays requests to the server on *port*; `arm` says what becomes of the next ones."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._steps: deque[Step] = deque()
        self.heads: list[bytes] = []
        self.passed = 0
        """Requests, and those of them that reached the server."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, *steps: Step) -> None:
        self.heads.clear()
        self.passed = 0
        self._steps = deque(steps)

    def keys(self) -> list[bytes]:
        """The operations that were named, a request each."""
        return [field(head, b"idempotency-key") for head in self.heads]

    def host(self) -> str:
        """Under which name the server is asked."""
        return f"127.0.0.1:{self._port}"

    def close(self) -> None:
        # Closing alone would leave the thread in its wait.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            while message := whole(client.recv):
                head, body = message
                self.heads.append(head)
                step = self._steps.popleft() if self._steps else None
                if isinstance(step, bytes):
                    client.sendall(step)
                    continue
                answer = b"" if step is Break.BEFORE else self._ask(head, body)
                client.sendall(answer[: kept(answer, step)])
                if step is not None:
                    return

    def _ask(self, head: bytes, body: bytes) -> bytes:
        self.passed += 1
        head = head.replace(field(head, b"host"), self.host().encode(), 1)
        with socket.create_connection(("127.0.0.1", self._port)) as server:
            server.sendall(head + body)
            return b"".join(whole(server.recv) or ())


def kept(answer: bytes, step: Break | None) -> int:
    """Tell how many bytes of an answer come through."""
    head = answer.find(b"\r\n\r\n") + 4
    match step:
        case Break.BEFORE | Break.AFTER:
            return 0
        case Break.HEAD:
            return head // 2
        case Break.BODY:
            return (head + len(answer)) // 2
    return len(answer)


def whole(receive: Callable[[int], bytes]) -> tuple[bytes, bytes] | None:
    """Read one message: its head, and its body; ``None`` at the end of the connection."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = receive(PART)
        if not part:
            return None
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    while len(body) < int(field(head, b"content-length") or b"0"):
        body += receive(PART)
    return head + b"\r\n\r\n", body


def field(head: bytes, name: bytes) -> bytes:
    """The value of one header; empty where there is none."""
    for line in head.split(b"\r\n"):
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    return b""


def answer(status: str, *headers: str, body: str = "{}") -> bytes:
    """Write an answer as some other program would."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", body]
    return "\r\n".join(lines).encode()
