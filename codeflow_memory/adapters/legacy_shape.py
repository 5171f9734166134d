"""The shape of the older ``memory.json``: which fields, types, lengths and closed sets it has.

A *check* takes the pointer and the decoded value of one place and returns what is wrong there and
below, in document order. Nothing here looks from one record to another.

Paths and sources have rules of their own here, wider than those of `domain.sources`: an imported
text stays as it is, so hidden characters or a space in a run's id are no reason to refuse it.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from codeflow_memory.domain.errors import Fault
from codeflow_memory.domain.strict_json import pointer
from codeflow_memory.domain.times import SECOND, parse_rfc3339

Check = Callable[[str, object], Sequence[Fault]]

MAX_REVISION = 2**31 - 1

_WRITABLE = range(-62_135_596_800 * SECOND, 253_402_300_800 * SECOND)
"""The years 1 to 9999 in Unix microseconds."""

_TEXT = ("body", "title", "tags", "paths", "branches", "sources")
_ALWAYS_TEXT = ("body", "title")

_ID = re.compile(r"mem_[0-9A-Za-z]{10,40}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DRIVE = re.compile(r"[A-Za-z]:")
_CITATION = re.compile(r"(.*?)(?:@[0-9a-f]{40})?(?:#L([0-9]{1,9})-L([0-9]{1,9}))?", re.DOTALL)
_SOURCE = re.compile(r"(run|commit|file|session|message|url):(.+)", re.DOTALL)


def check_text(low: int, high: int, rule: Callable[[str], str | None] | None = None) -> Check:
    """Return the check for a string of *low* to *high* characters which also keeps *rule*."""

    def check(place: str, value: object) -> Sequence[Fault]:
        if not isinstance(value, str):
            return [Fault(place, "must be a string")]
        if not low <= len(value) <= high:
            return [Fault(place, f"must have {low} to {high} characters")]
        detail = rule(value) if rule else None
        return [Fault(place, detail)] if detail else ()

    return check


def check_choice(choices: Collection[str | int]) -> Check:
    """Return the check for one of a closed set; the number 1 is not the truth value ``true``."""

    def check(place: str, value: object) -> Sequence[Fault]:
        if type(value) in {str, int} and value in choices:
            return ()
        return [Fault(place, "must be one of " + ", ".join(str(c) for c in choices))]

    return check


def check_list(most: int | None, item: Check) -> Check:
    """Return the check for at most *most* items (``None``: any number) that each keep *item*."""

    def check(place: str, value: object) -> Sequence[Fault]:
        if not isinstance(value, list):
            return [Fault(place, "must be an array")]
        if most is not None and len(value) > most:
            return [Fault(place, f"must have at most {most} items")]
        return [f for i, v in enumerate(value) for f in item(pointer(place, i), v)]

    return check


def check_object(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Check:
    """Return the check for an object with all *required*, any *optional* and no other fields."""
    known = {**required, **optional}

    def check(place: str, value: object) -> Sequence[Fault]:
        if not isinstance(value, dict):
            return [Fault(place, "must be an object")]
        faults = [Fault(pointer(place, k), "is required") for k in required if k not in value]
        for key, item in value.items():
            if key in known:
                faults.extend(known[key](f"{place}/{key}", item))
            else:
                faults.append(Fault(pointer(place, key), "is not a known field"))
        return faults

    return check


def check_path(text: str) -> str | None:
    """Return what keeps *text* from being a path or glob inside a repository, if anything."""
    if text.startswith("/") or _DRIVE.match(text):
        return "must be relative to the repository"
    if ".." in text.split("/"):
        return "must not lead out of the repository"
    if "\\" in text or "\0" in text:
        return "must not contain a backslash or NUL"
    return None


def _matching(form: re.Pattern[str], wanted: str) -> Callable[[str], str | None]:
    return lambda text: None if form.fullmatch(text) else f"must be {wanted}"


def _check_source(text: str) -> str | None:
    found = _SOURCE.fullmatch(text)
    if found is None:
        return "must be a run, commit, file, session, message or url source"
    kind, value = found[1], found[2]
    if kind == "commit" and not _COMMIT.fullmatch(value):
        return "must name a commit by 40 hex digits"
    if kind == "url" and not re.match(r"https://[^\s/]", value):
        return "must be an https URL"
    return _check_citation(value) if kind == "file" else None


def _check_citation(value: str) -> str | None:
    found = _CITATION.fullmatch(value)
    if found is None or not found[1]:
        return "must name a file"
    if found[2] and not 1 <= int(found[2]) <= int(found[3]):
        return "must name lines from 1, the first not after the last"
    return check_path(found[1])


def _check_time(text: str) -> str | None:
    with suppress(ValueError):
        # An offset can carry a time out of the years that can be written.
        if text.isascii() and parse_rfc3339(text) in _WRITABLE:
            return None
    return "must be an RFC 3339 time with an offset, in the years 1 to 9999"


def _check_revision(place: str, value: object) -> Sequence[Fault]:
    if type(value) is int and 1 <= value <= MAX_REVISION:
        return ()
    return [Fault(place, f"must be an integer from 1 to {MAX_REVISION}")]


def _check_truth(place: str, value: object) -> Sequence[Fault]:
    return () if isinstance(value, bool) else [Fault(place, "must be true or false")]


_id = check_text(0, 44, _matching(_ID, "mem_ and 10 to 40 letters and digits"))
_commit = check_text(0, 40, _matching(_COMMIT, "40 lower-case hex digits"))
_sha256 = check_text(0, 64, _matching(_SHA256, "64 lower-case hex digits"))
_time = check_text(0, 64, _check_time)
_name = check_text(1, 200)
_note = check_text(0, 4096)

_approval = check_object(
    {
        "by": _name,
        "at": _time,
        "revision": _check_revision,
        "decision": check_choice(("approve", "reject")),
    },
    {"comment": _note},
)

_entry = check_object(
    {
        "id": _id,
        "revision": _check_revision,
        "collection": check_choice(("private", "team", "project")),
        "repo": check_text(1, 4096),
        "projectId": _name,
        "status": check_choice(
            ("proposed", "accepted", "rejected", "outdated", "superseded", "deleted")
        ),
        "createdAt": _time,
        "updatedAt": _time,
    },
    {
        "runId": _name,
        "agent": _name,
        "teamId": _name,
        "kind": _name,
        "title": check_text(0, 200),
        "body": check_text(0, 16_384),
        "tags": check_list(16, check_text(1, 64)),
        "paths": check_list(64, check_text(1, 1024, check_path)),
        "branches": check_list(16, check_text(1, 255)),
        "sources": check_list(64, check_text(1, 2**25, _check_source)),
        "derivedFrom": check_list(32, check_object({"id": _id, "revision": _check_revision}, {})),
        "verification": check_object({"commit": _commit, "at": _time}, {"by": _name}),
        "approvals": check_list(None, _approval),
        "supersededBy": _id,
        "deletedAt": _time,
    },
)


_REQUIRED_WITH: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("collection", "private"): ("runId", "agent"),
    ("collection", "team"): ("teamId", "runId", "agent"),
    ("status", "superseded"): ("supersededBy",),
    ("status", "deleted"): ("deletedAt",),
}
"""What one field's value requires of others, beyond the shape."""


def check_entry(place: str, value: object) -> Sequence[Fault]:
    """Check one entry, with the fields that its status and collection require or exclude."""
    faults = list(_entry(place, value))
    if isinstance(value, dict):
        required = [] if value.get("status") == "deleted" else list(_ALWAYS_TEXT)
        for (field, wanted), names in _REQUIRED_WITH.items():
            required += names if value.get(field) == wanted else ()
        faults += [Fault(pointer(place, n), "is required") for n in required if n not in value]
        if value.get("status") == "deleted":
            absent = "must be absent from a deleted entry"
            faults += [Fault(pointer(place, n), absent) for n in _TEXT if n in value]
    return faults


check_receipt = check_object(
    {
        "operationId": _name,
        "entryId": _id,
        "revision": _check_revision,
        "action": check_choice(
            ("create", "update", "approve", "reject", "publish", "delete", "verify")
        ),
        "at": _time,
        "requestHash": _sha256,
    },
    {},
)

check_feedback = check_object(
    {"entryId": _id, "revision": _check_revision, "helpful": _check_truth, "at": _time},
    {"runId": _name, "note": _note},
)


def _check_array(place: str, value: object) -> Sequence[Fault]:
    return () if isinstance(value, list) else [Fault(place, "must be an array")]


check_top = check_object(
    {
        "version": check_choice((1, 2)),
        "entries": _check_array,
        "receipts": _check_array,
        "feedback": _check_array,
    },
    {},
)
"""Checks the document but none of its records."""
