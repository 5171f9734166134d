"""From the JSON values of a request to `Content`: every limit of 01 §2, every fault at once.

`supersedes`, `collection`, `team_id` and `run_id` are facts about an entry and no part of its
content; whoever reads a request takes them out first.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Content, Kind, Pair, Sensitivity
from codeflow_memory.domain.sources import check_path, is_commit, parse_source
from codeflow_memory.domain.text import escape_hidden, hidden, normalise
from codeflow_memory.domain.times import parse_rfc3339

__all__ = ["check_path", "parse_changes", "parse_draft"]

MAX_TITLE = 200
MAX_BODY = 16_384
MAX_TAGS = 16
MAX_TAG = 64
MAX_PATHS = 64
MAX_BRANCHES = 16
MAX_BRANCH = 255
MAX_SOURCES = 64
MAX_PAIRS = 32
MAX_REVISION = 2**31 - 1
MAX_KEY = 200
MAX_ID = 200
"""Counts are items, lengths are characters: code points after NFC."""

MAX_FAULTS = 100
"""Faults reported for one request."""

_MAX_HIDDEN = 10
"""Hidden characters reported for one field."""

_SHRINK = 4
"""How many code points NFC can compose into one; longer texts need no normalising to be refused."""

_EARLIEST = parse_rfc3339("0001-01-01T00:00:00Z")
_LATEST = parse_rfc3339("9999-12-31T23:59:59.999999Z")

# What git allows in the name of a branch, and `*`, `?` and `[` of a glob.
_BRANCH = re.compile(r"(?![-/])(?!.*(?:\.\.|//|@\{))[^\s~^:\\]+(?<![/.])")

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(slots=True)
class _Reading:
    """The faults met so far."""

    faults: list[Fault] = field(default_factory=list)

    def fault(self, pointer: str, detail: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(pointer, detail))

    def text(self, value: object, pointer: str, maximum: int, *, multiline: bool = False) -> str:
        """Return *value* as canonical text of 1 to *maximum* characters."""
        if not isinstance(value, str):
            self.fault(pointer, "must be a string")
            return ""
        text = normalise(value) if len(value) <= _SHRINK * maximum else value
        if len(text) > maximum:
            self.fault(pointer, f"has {len(text)} characters; at most {maximum} are allowed")
            return ""
        # NFC can split a character in two, so a run of marks may pass its limit only afterwards.
        found = hidden(value, multiline=multiline) or hidden(text, multiline=multiline)
        for character in found[:_MAX_HIDDEN]:
            self.fault(pointer, f"{character.name} at offset {character.offset} is not allowed")
        if not found and not text.strip():
            self.fault(pointer, "must not be empty")
        return text

    def items(self, value: object, pointer: str, maximum: int) -> Sequence[tuple[str, object]]:
        """Return the items of a list, each with its pointer; none when the list is refused."""
        if not isinstance(value, list | tuple):
            self.fault(pointer, "must be a list")
            return ()
        if len(value) > maximum:
            self.fault(pointer, f"has {len(value)} items; at most {maximum} are allowed")
            return ()
        return [(f"{pointer}/{index}", item) for index, item in enumerate(value)]

    def choice(self, value: object, pointer: str, choices: type[_Choice]) -> _Choice:
        """Return the member of a closed set that *value* names."""
        members = list(choices)
        if isinstance(value, str) and value in members:
            return choices(value)
        self.fault(pointer, "must be one of " + ", ".join(members))
        return members[0]


def parse_draft(raw: Mapping[str, object]) -> Content:
    """Read a whole draft; ``kind``, ``title`` and ``body`` are required.

    Raises:
        InvalidRequestError: With every fault of the draft, in the order of its fields, at most
            `MAX_FAULTS`.
    """
    reading = _Reading()
    for name in ("kind", "title", "body"):
        if name not in raw:
            reading.fault(f"/{name}", "is required")
    values = _values(raw, reading)
    _check_period(values.get("valid_from"), values.get("valid_to"), raw, reading)
    if reading.faults:
        raise InvalidRequestError(reading.faults)
    return Content(**values)


def parse_changes(content: Content, raw: Mapping[str, object]) -> Content:
    """Read an edit: the fields that *raw* gives replace those of *content*.

    Returns:
        An equal content when *raw* is empty or says what is so already.

    Raises:
        InvalidRequestError: With every fault of *raw*.
    """
    reading = _Reading()
    values = _values(raw, reading)
    valid_from = values.get("valid_from", content.valid_from)
    valid_to = values.get("valid_to", content.valid_to)
    _check_period(valid_from, valid_to, raw, reading)
    if reading.faults:
        raise InvalidRequestError(reading.faults)
    return replace(content, **values)


def _values(raw: Mapping[str, object], reading: _Reading) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in raw.items():
        read = _FIELDS.get(name)
        if read is None:
            reading.fault(f"/{_token(name)}", "is not a field that can be given")
        else:
            values[name] = read(reading, value, f"/{name}")
    return values


def _check_period(
    valid_from: int | None, valid_to: int | None, raw: Mapping[str, object], reading: _Reading
) -> None:
    if valid_from is not None and valid_to is not None and valid_from > valid_to:
        pointer = "/valid_to" if "valid_to" in raw else "/valid_from"
        reading.fault(pointer, "valid_from must not be later than valid_to")


def _token(name: str) -> str:
    """Write a field's name as a part of a JSON pointer (RFC 6901), short and without surprises."""
    shown = escape_hidden(name[:MAX_KEY], multiline=False)
    return shown.replace("~", "~0").replace("/", "~1")


def _title(reading: _Reading, value: object, pointer: str) -> str:
    return reading.text(value, pointer, MAX_TITLE)


def _body(reading: _Reading, value: object, pointer: str) -> str:
    return reading.text(value, pointer, MAX_BODY, multiline=True)


def _kind(reading: _Reading, value: object, pointer: str) -> Kind:
    return reading.choice(value, pointer, Kind)


def _sensitivity(reading: _Reading, value: object, pointer: str) -> Sensitivity:
    return reading.choice(value, pointer, Sensitivity)


def _tags(reading: _Reading, value: object, pointer: str) -> tuple[str, ...]:
    items = reading.items(value, pointer, MAX_TAGS)
    return tuple(reading.text(item, at, MAX_TAG) for at, item in items)


def _paths(reading: _Reading, value: object, pointer: str) -> tuple[str, ...]:
    paths: list[str] = []
    for at, item in reading.items(value, pointer, MAX_PATHS):
        if not isinstance(item, str):
            reading.fault(at, "must be a string")
            continue
        path = normalise(item)
        fault = check_path(item, glob=True) or check_path(path, glob=True)
        if fault is not None:
            reading.fault(at, fault)
        paths.append(path)
    return tuple(paths)


def _branches(reading: _Reading, value: object, pointer: str) -> tuple[str, ...]:
    branches: list[str] = []
    for at, item in reading.items(value, pointer, MAX_BRANCHES):
        known = len(reading.faults)
        branch = reading.text(item, at, MAX_BRANCH)
        branches.append(branch)
        if len(reading.faults) > known:
            continue
        if branch.startswith("commit:"):
            if not is_commit(branch.removeprefix("commit:")):
                reading.fault(at, "must be commit: and 40 lower-case hex digits")
        elif _BRANCH.fullmatch(branch) is None:
            reading.fault(at, "must be the name of a branch, or a glob")
    return tuple(branches)


def _sources(reading: _Reading, value: object, pointer: str) -> tuple[str, ...]:
    sources: list[str] = []
    for at, item in reading.items(value, pointer, MAX_SOURCES):
        if not isinstance(item, str):
            reading.fault(at, "must be a string")
            continue
        source = normalise(item)
        found = hidden(item, multiline=False)
        if found:
            reading.fault(at, f"{found[0].name} at offset {found[0].offset} is not allowed")
        elif parse_source(source) is None:
            reading.fault(at, "must be run:, commit:, file:, session:, message: or url: as defined")
        sources.append(source)
    return tuple(sources)


def _pairs(reading: _Reading, value: object, pointer: str) -> tuple[Pair, ...]:
    items = reading.items(value, pointer, MAX_PAIRS)
    return tuple(_pair(reading, item, at) for at, item in items)


def _pair(reading: _Reading, value: object, pointer: str) -> Pair:
    if not isinstance(value, Mapping):
        reading.fault(pointer, "must be an object with memory_id and revision")
        return Pair("", 0)
    for name in sorted(value.keys() - {"memory_id", "revision"}):
        reading.fault(f"{pointer}/{_token(str(name))}", "is not a field that can be given")
    memory_id = ""
    if "memory_id" in value:
        memory_id = reading.text(value["memory_id"], f"{pointer}/memory_id", MAX_ID)
    else:
        reading.fault(f"{pointer}/memory_id", "is required")
    revision = value.get("revision")
    if type(revision) is int and 1 <= revision <= MAX_REVISION:
        return Pair(memory_id, revision)
    reading.fault(f"{pointer}/revision", f"must be an integer from 1 to {MAX_REVISION}")
    return Pair(memory_id, 0)


def _key(reading: _Reading, value: object, pointer: str) -> str | None:
    return None if value is None else reading.text(value, pointer, MAX_KEY)


def _time(reading: _Reading, value: object, pointer: str) -> int | None:
    if value is None:
        return None
    try:
        at = parse_rfc3339(value) if isinstance(value, str) else _EARLIEST - 1
    except ValueError:
        at = _EARLIEST - 1
    if _EARLIEST <= at <= _LATEST:
        return at
    reading.fault(pointer, "must be an RFC 3339 time with an offset, or null")
    return None


_FIELDS: Mapping[str, Callable[[_Reading, object, str], object]] = {
    "kind": _kind,
    "title": _title,
    "body": _body,
    "tags": _tags,
    "paths": _paths,
    "branches": _branches,
    "sources": _sources,
    "derived_from": _pairs,
    "sensitivity": _sensitivity,
    "key": _key,
    "valid_from": _time,
    "valid_to": _time,
}
