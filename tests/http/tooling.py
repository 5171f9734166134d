"""Calling tools: over their routes, and over the protocol by a client that is ours alone."""

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .conftest import Api, Reply

_IDS = count(1)
ACCEPT = "application/json, text/event-stream"


@dataclass
class Tools:
    """One caller's tools, by their routes."""

    api: Api
    who: str
    more: dict[str, Any] = field(default_factory=dict)

    def __call__(self, name: str, key: str | None = None, **arguments: object) -> Reply:
        body = self.more | arguments
        return self.api(self.who, "POST", f"/api/tools/{name}", body, key=key)

    def file(self, command: str, key: str | None = None, **arguments: object) -> Reply:
        return self("memory", key=key, command=command, **arguments)


def rpc(api: Api, who: str | None, method: str, params: dict | None = None, **headers) -> Reply:
    """Send one message of the protocol as a client of the handshake era does."""
    message = {"jsonrpc": "2.0", "id": next(_IDS), "method": method, "params": params or {}}
    return raw_rpc(api, who, json.dumps(message).encode(), **headers)


def raw_rpc(api: Api, who: str | None, body: bytes, **headers: str) -> Reply:
    sent = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if who is not None:
        sent.append(f"Authorization: Bearer {api.tokens.get(who, who)}")
    if "Accept" not in headers:
        sent.append(f"Accept: {ACCEPT}")
    if "Content_Type" not in headers:
        sent.append("Content-Type: application/json")
    answer = api.served.post("/mcp", body, *sent)
    return Reply(answer.status or 0, answer.headers, answer.body.decode())


def called(api: Api, who: str, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool over the protocol; return the result."""
    reply = rpc(api, who, "tools/call", {"name": name, "arguments": arguments})
    return reply.ok()["result"]
