"""Cells that the tools of agents ask too: the same rules, told by another face."""

from collections.abc import Mapping
from typing import Any

from .acting import MANY, NEW_TEXT
from .rules import Cell, expected
from .stage import Entry
from .wire import Asked, Reply

READ_TOOLS = {"get": "memory_get", "search": "memory_search", "select": "memory_select"}
OFFERED = [*READ_TOOLS, "feedback", "create"]
"""The operations of the tables that have a tool; a private entry is created by two of them."""

_LIMIT = 50


def requests(cell: Cell, entry: Entry, places: Mapping[str, str]) -> list[tuple[str, Asked]]:
    """Return what *cell* asks of each tool that does it."""
    project = {"project_id": places["project"]}
    asked: dict[str, dict[str, Any]]
    match cell.operation:
        case "get":
            view = {"command": "view", "path": f"/memories/{entry.memory_id}"}
            asked = {"memory_get": {"id": entry.memory_id}, "memory": project | view}
        case "search":
            asked = {"memory_search": project | {"query": entry.word, "max_results": _LIMIT}}
        case "select":
            budget = {"entries": MANY, "characters": 200_000}
            asked = {"memory_select": project | {"query": entry.word, "budget": budget}}
        case "feedback":
            asked = {"memory_feedback": {"memory_id": entry.memory_id, "helpful": True}}
        case _ if cell.collection == "project":
            asked = {"memory_propose": project | {"kind": "guidance", **NEW_TEXT}}
        case _ if cell.collection == "private":
            file = {"command": "create", "path": "/memories/new.md", "file_text": NEW_TEXT["body"]}
            asked = {
                "memory_append": project | {"content": NEW_TEXT["body"]},
                "memory": project | file,
            }
        case _:
            asked = {}
    return [(name, Asked("POST", f"/api/tools/{name}", body)) for name, body in asked.items()]


def wanted(cell: Cell, tool: str) -> str:
    """Return what the tables say, as far as a tool tells it otherwise.

    No tool shows a tombstone. A file is found in a project, so a caller that has none there is
    answered for it first.
    """
    answer = expected(cell)
    if cell.operation == "get" and answer == "done" and cell.state in {"deleted", "withdrawn"}:
        return "missing"
    if tool == "memory" and cell.operation == "get" and cell.caller == "run-astray":
        return "forbidden"
    return answer


def answer(cell: Cell, entry: Entry, reply: Reply) -> str:
    """Return the word of the tables for *reply*."""
    refusal = reply.refusal
    if refusal is not None:
        return refusal
    body = reply.json
    match cell.operation:
        case "search":
            return _seen(entry, {row["memory_id"] for row in body["results"]})
        case "select":
            return _seen(entry, {row["memory_id"] for row in body["entries"] + body["omitted"]})
        case "feedback":
            return "done" if body["counted"] else "kept"
        case "create":
            return {"appended": "accepted", "review": "proposed"}.get(
                body["status"], body["status"]
            )
        case _:
            return "done" if body["revision"] == entry.revision else "astray"


def _seen(entry: Entry, shown: set[str]) -> str:
    return "listed" if entry.memory_id in shown else "unlisted"
