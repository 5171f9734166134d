"""The import of an older ``memory.json``, and the first change after it, as a workload."""

import json
from pathlib import Path

from codeflow_memory.domain.errors import ImportConflictError
from codeflow_memory.services import legacy_import, memories
from codeflow_memory.services.legacy_import import COPY, Outcome
from codeflow_memory.storage.home import LEGACY_DOCUMENT, Home

from .consistency import check_imported
from .drill import DATABASE, Step, Workload
from .stores import Call, clock, make_home, no_randomness, step_of
from .survey import opened

_MARCH, _APRIL = "2026-03-01T08:00:00Z", "2026-04-01T09:00:00.123456Z"


def _id(number: int) -> str:
    return f"mem_{number:026d}"


def _entry(number: int, **changes: object) -> dict[str, object]:
    fields = {
        "id": _id(number),
        "revision": 1 + number % 3,
        "collection": "project",
        "repo": "/srv/code/shop",
        "projectId": "core",
        "status": "accepted",
        "title": f"Rule {number}",
        "body": " ".join(f"word_{number}_{place}" for place in range(40)),
        "tags": ["rules"],
        "paths": [f"src/{number}/**"],
        "sources": ["file:src/rule.py"],
        "createdAt": _MARCH,
        "updatedAt": _APRIL,
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def _document() -> bytes:
    gone = dict.fromkeys(("title", "body", "tags", "paths", "sources"))
    entries = [_entry(number) for number in range(6)]
    entries += [
        _entry(6, status="proposed"),
        _entry(7, collection="private", runId="run-1", agent="agent-1"),
        _entry(8, derivedFrom=[{"id": _id(1), "revision": 1}]),
        _entry(9, status="deleted", deletedAt=_APRIL, **gone),
    ]
    receipts = [
        {
            "operationId": "op-1",
            "entryId": _id(1),
            "revision": 1,
            "action": "update",
            "at": _APRIL,
            "requestHash": "0f" * 32,
        }
    ]
    feedback = [{"entryId": _id(1), "revision": 1, "helpful": True, "at": _APRIL}]
    document = {"version": 2, "entries": entries, "receipts": receipts, "feedback": feedback}
    return json.dumps(document).encode()


DOCUMENT = _document()


def _prepare(home: Path) -> None:
    make_home(home)
    (home / LEGACY_DOCUMENT).write_bytes(DOCUMENT)


def _import(home: Path, vfs: str | None) -> None:
    """Do what the first access of a home does."""
    report = legacy_import.settle(Home(home), now=clock(1), random_bytes=no_randomness, vfs=vfs)
    if report.outcome is Outcome.CONFLICT:
        raise ImportConflictError(document=LEGACY_DOCUMENT, database=DATABASE)


def change_an_imported_entry(call: Call) -> None:
    changes = {"body": "the first body that was written here"}
    memories.revise(call.store, call.owner, _id(3), changes, 1, call.operation)


def _standing(home: Path) -> None:
    """The document is there, under one name or the other, until its import is recorded as done."""
    kept = [
        name
        for name in (LEGACY_DOCUMENT, COPY)
        if (home / name).exists() and (home / name).read_bytes() == DOCUMENT
    ]
    match _recorded(home):
        case None:
            assert kept == [LEGACY_DOCUMENT]
        case "committed":
            assert len(kept) == 1
        case "renamed" | "finalised":
            # The copy goes just before the first change, which may then fail.
            assert LEGACY_DOCUMENT not in kept


def _recorded(home: Path) -> str | None:
    with opened(home / DATABASE) as connection:
        known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'imports'").get
        return known and connection.execute("SELECT state FROM imports").get


IMPORT = Workload(
    "an import",
    _prepare,
    # Two commits: the database that arrives whole, and the note that the document made room. That
    # note is not made up for once the document has its new name; nothing depends on it.
    (Step("import", _import, commits=2, rests=2), step_of(2, change_an_imported_entry)),
    images=600,
    check=check_imported,
    standing=_standing,
)
