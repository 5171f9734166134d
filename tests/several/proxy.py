"""A proxy before PostgreSQL's socket, which loses a connection around a ``COMMIT`` when told to."""

import socket
import threading
from contextlib import suppress
from enum import Enum
from pathlib import Path
from tempfile import mkdtemp

_COMMIT = b"COMMIT\x00"
_NAME = ".s.PGSQL.5432"


class Cut(Enum):
    """Where a connection is lost."""

    BEFORE = "before the server is told to commit"
    AFTER = "after it did, before the client is told"


class Proxy:
    """Relays connections; `arm` says how many of the next commits lose theirs, and where.

    Args:
        folder: Where the server's socket is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(mkdtemp(prefix="cfm-px-"))
        self.cuts = 0
        self._left, self._where = 0, Cut.BEFORE
        self._server = str(folder / _NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / _NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, where: Cut, times: int = 1) -> None:
        self._where, self._left = where, times

    def close(self) -> None:
        self._listener.close()
        (self.folder / _NAME).unlink()
        self.folder.rmdir()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            answers = threading.Thread(target=_pump, args=(server, client), daemon=True)
            answers.start()
            with suppress(OSError):
                self._forward(client, server)
            _shut(server)
            answers.join()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        while data := client.recv(1 << 16):
            if self._left and _COMMIT in data:
                self._cut(client, server, data)
                return
            server.sendall(data)

    def _cut(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        self._left -= 1
        self.cuts += 1
        # Nothing more comes to the client, whatever the server says.
        _shut(client)
        if self._where is Cut.AFTER:
            server.sendall(data)
            # The server ends when it has read all of it, and not before it did what it was told.
            server.shutdown(socket.SHUT_WR)
            while server.recv(1 << 16):
                pass


def _pump(server: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := server.recv(1 << 16):
            client.sendall(data)
    _shut(client)


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
