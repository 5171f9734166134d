"""The same cells through HTTP: what is sent, and the word for what comes back."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from codeflow_memory.domain.lifecycle import TARGET, Action

from . import rules, table
from .acting import CHANGED, MANY, NEW_TEXT, WORDS
from .rules import Cell
from .stage import Entry

SPOKEN = [operation for operation in table.OPERATIONS if not operation.startswith("export")]
"""What has a route; an export is a command."""

SECONDS = 20
OF_ONE_REQUEST = {"date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}
"""Headers that differ between any two answers."""

_WORD_OF_CODE = {error.code: word for error, word in WORDS.items()}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    body: object = None
    match: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, whole."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def refusal(self) -> str | None:
        """The word for a problem; ``None`` when it is none."""
        if self.status < 400:
            return None
        problem = self.json
        assert self.headers["content-type"] == "application/problem+json", self
        assert problem["type"] == f"urn:codeflow-memory:problem:{problem['code']}", self
        assert problem["status"] == self.status, self
        return _WORD_OF_CODE.get(problem["code"], problem["code"])

    def shape(self, *known: str | None) -> tuple[object, ...]:
        """What two answers are compared by, without the ids that were asked for."""
        text = self.text
        for identifier in known:
            text = text if identifier is None else text.replace(identifier, "ID")
        headers = {n: v for n, v in self.headers.items() if n not in OF_ONE_REQUEST}
        # An id of another length makes another length of the body: the text is compared.
        headers.pop("content-length", None)
        return self.status, headers, text


class Client:
    """A connection to the served product, for one caller after another."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)

    def send(self, token: str | None, asked: Asked) -> Reply:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if asked.match is not None:
            headers["If-Match"] = f'"{asked.match}"'
        body = None
        if asked.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(asked.body)
        self._connection.request(asked.method, asked.path, body, headers)
        got = self._connection.getresponse()
        named = {name.lower(): value for name, value in got.getheaders()}
        return Reply(got.status, named, got.read().decode())

    def close(self) -> None:
        self._connection.close()


def request(cell: Cell, entry: Entry, places: Mapping[str, str]) -> Asked:
    """Return what *cell* asks of the server."""
    operation, base = cell.operation, f"/api/projects/{places['project']}"
    if operation.startswith("create"):
        draft = {"collection": cell.collection, "kind": "guidance", **NEW_TEXT}
        named = {"team_id": places["team"]} if cell.collection == "team" else {}
        if operation in places:
            named["run_id"] = places[operation]
        return Asked("POST", f"{base}/memories", draft | named)
    if operation in {*table.LOOKUPS, "replay"}:
        return _of_project(cell, entry, base)
    path, now = f"/api/memories/{entry.memory_id}", entry.revision
    apart = {
        "get": Asked("GET", path),
        "revisions": Asked("GET", f"{path}/revisions"),
        "revision": Asked("GET", f"{path}/revisions/{now}"),
        "first": Asked("GET", f"{path}/revisions/1"),
        "diff": Asked("GET", f"{path}/diff?from={now}&to={now}"),
        "update": Asked("PATCH", path, CHANGED, now),
        "stale": Asked("PATCH", path, CHANGED, now + 7),
        "delete": Asked("DELETE", path, {}, now),
        "feedback": Asked("POST", f"{path}/feedback", {"helpful": True}),
        "supersede": Asked("POST", f"{path}/supersede", {"superseded_by": entry.heir}, now),
    }
    return apart.get(operation, Asked("POST", f"{path}/{operation}", {}, now))


def _of_project(cell: Cell, entry: Entry, base: str) -> Asked:
    match cell.operation:
        case "list":
            return Asked("GET", f"{base}/memories?status={rules.status(cell)}&limit={MANY}")
        case "search":
            return Asked("GET", f"{base}/memory/search?q={entry.word}&limit={MANY}")
        case "graph":
            return Asked("GET", f"{base}/memory/graph")
        case "select":
            return Asked("POST", f"{base}/memory/selections", {"query": entry.word})
        case "verify":
            return Asked("POST", f"{base}/memory/verify", {"memory_ids": [entry.memory_id]})
        case _:
            return Asked("POST", f"{base}/memory/selections/{entry.manifest}/replay", {})


def answer(cell: Cell, entry: Entry, reply: Reply) -> str:
    """Return the word of the tables for *reply*."""
    refusal = reply.refusal
    if refusal is not None:
        return refusal
    if cell.operation in table.LOOKUPS:
        return "listed" if entry.memory_id in _shown(cell, reply.json) else "unlisted"
    if cell.operation == "replay":
        [place] = reply.json["entries"]
        return str(place["state"])
    return _changed(cell, entry, reply.json)


def _shown(cell: Cell, body: Any) -> set[str]:
    match cell.operation:
        case "list":
            return {item["id"] for item in body["items"]}
        case "search" | "verify":
            return {item["memory_id"] for item in body["results"]}
        case "select":
            return {item["memory_id"] for item in body["entries"] + body["omitted"]}
        case _:
            return {node["key"] for node in body["nodes"] if node["kind"] == "memory"}


def _changed(cell: Cell, entry: Entry, body: Any) -> str:
    operation = cell.operation
    if operation in set(table.READS):
        return "done"
    if operation.startswith("create"):
        return str(body["status"])
    if operation == "feedback":
        return "done" if body["counted"] else "kept"
    if operation == "publish":
        return "done" if (body["collection"], body["status"]) == ("project", "proposed") else "kept"
    status = entry.status if operation == "update" else str(TARGET[Action(operation)])
    if body["revision"] == entry.revision:
        return "same" if body["status"] == status else "kept"
    moved = operation == "update" or body["status"] == status
    return "done" if moved and body["revision"] == entry.revision + 1 else "astray"
