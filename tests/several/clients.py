"""Clients of a server that keep their connection."""

import http.client
import json
import threading
import time
from dataclasses import dataclass
from typing import Any

from ..program import SECONDS, Server


@dataclass(frozen=True)
class Answer:
    """What came back, and how many seconds it took."""

    status: int
    headers: dict[str, str]
    body: Any
    seconds: float


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
