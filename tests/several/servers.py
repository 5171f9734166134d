"""Servers as processes of their own, each with a home, and clients that keep a connection."""

import http.client
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from codeflow_memory.storage.home import Home

COMMAND = [sys.executable, "-I", "-W", "error::ResourceWarning", "-m", "codeflow_memory"]
SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """What came back, and how many seconds it took."""

    status: int
    headers: dict[str, str]
    body: Any
    seconds: float


class Server:
    """``up`` on a home, until `stop`."""

    def __init__(self, home: Home) -> None:
        assert home.server is not None
        self.process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [
                *COMMAND,
                *("up", "--home", str(home.path), "--database", home.server),
                *("--port", "0", "--no-browser", "--json"),
            ],
            env={k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if ready.select(SECONDS) else ""
        if not line:
            self.stop(signal.SIGKILL)
            raise AssertionError("up printed nothing")
        self.port = int(json.loads(line)["url"].rpartition(":")[2])

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=SECONDS)
        return self.process.returncode


class Client:
    """Sends requests to one server as who holds *token*."""

    def __init__(self, server: Server, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        self._headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send one request.

        Raises:
            OSError: The server is gone.
            http.client.HTTPException: It went while it answered.
        """
        data = None if body is None else json.dumps(body)
        sent = self._headers | {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent["Content-Type"] = "application/json"
        began = time.monotonic()
        self._connection.request(method, path, data, sent)
        answer = self._connection.getresponse()
        text = answer.read()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(
            answer.status, found, json.loads(text) if text else None, time.monotonic() - began
        )

    def close(self) -> None:
        self._connection.close()


def until(seconds: float, done: Any) -> float:
    """Ask *done* until it says yes; return how many seconds that took."""
    began, never = time.monotonic(), threading.Event()
    while not done():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        never.wait(0.02)
    return time.monotonic() - began
