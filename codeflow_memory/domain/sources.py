"""Sources: the evidence that an entry cites, and the paths that entries and requests name.

The grammar is 01 §2's: ``run:<id>`` ``commit:<40 hex>`` ``session:<id>`` ``message:<id>``
``url:<https url>`` and ``[required:]file:<path>[@<commit>][#L<a>-L<b>]``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from codeflow_memory.domain.text import hidden

MAX_PATH = 1024
"""Characters of a path or glob."""

MAX_SOURCE = 2048
"""Characters of a source; room for a path with its commit and lines, and for most addresses."""

_ID = re.compile(r"[^\s]{1,200}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_URL = re.compile(r"https://[^\s/?#@]+(?:[/?#]\S*)?")
_FORMS = {"run": _ID, "commit": _COMMIT, "session": _ID, "message": _ID, "url": _URL}
_LINES = re.compile(r"#L([0-9]{1,9})-L([0-9]{1,9})\Z")
_AT_COMMIT = re.compile(r"@([0-9a-f]{40})\Z")
_DRIVE = re.compile(r"[A-Za-z]:")

# What is left of a citation whose commit or lines are not well-formed: `a.py@main`, `a.py#L3`.
# `logo@2x.png` and `src/C#/a.cs` are ordinary names.
_TORN = re.compile(r"[@#][^/.@#]*\Z")


class SourceKind(StrEnum):
    """What a source points at."""

    RUN = "run"
    COMMIT = "commit"
    FILE = "file"
    SESSION = "session"
    MESSAGE = "message"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source.

    ``value`` is what follows the kind's colon: an id, a commit, an address, or for a file its
    path. The other fields belong to files: ``path``, the ``commit`` it was read at, its lines
    (from 1, both ends included, both or neither), and whether the entry is eligible only while
    the citation holds. A ``commit:`` source has its hash in ``commit`` too.
    """

    kind: SourceKind
    value: str
    path: str | None = None
    commit: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    required: bool = False


def parse_source(text: str) -> Source | None:
    """Read one source; ``None`` when it is not of the grammar."""
    if len(text) > MAX_SOURCE or hidden(text, multiline=False):
        return None
    required = text.startswith("required:")
    name, colon, value = text.removeprefix("required:").partition(":")
    if not colon or (required and name != SourceKind.FILE):
        return None
    if name == SourceKind.FILE:
        return _file(value, required=required)
    form = _FORMS.get(name)
    if form is None or form.fullmatch(value) is None:
        return None
    return Source(SourceKind(name), value, commit=value if name == SourceKind.COMMIT else None)


def check_path(text: str, *, glob: bool) -> str | None:
    """Say what is wrong with a repository-relative path, or ``None`` when nothing is.

    Args:
        text: A POSIX path; only its form is looked at.
        glob: Whether ``*`` and ``?`` may stand in it.
    """
    found = hidden(text, multiline=False)
    if found:
        return f"{found[0].name} at offset {found[0].offset} is not allowed"
    if len(text) > MAX_PATH:
        return f"has {len(text)} characters; at most {MAX_PATH} are allowed"
    faults = (
        (not text.strip(), "must not be empty"),
        (text.startswith("/"), "must be relative to the repository, without a leading /"),
        ("\\" in text, "must not contain a backslash"),
        (_DRIVE.match(text) is not None, "must not name a drive"),
        (".." in text.split("/"), "must not contain a .. segment"),
        (not glob and ("*" in text or "?" in text), "must name one file or folder, not a glob"),
    )
    return next((fault for wrong, fault in faults if wrong), None)


def is_commit(text: str) -> bool:
    """Tell whether *text* is a full commit hash: 40 lower-case hex digits."""
    return _COMMIT.fullmatch(text) is not None


def _file(value: str, *, required: bool) -> Source | None:
    path, commit, first, last = value, None, None, None
    lines = _LINES.search(path)
    if lines is not None:
        first, last = int(lines[1]), int(lines[2])
        path = path[: lines.start()]
    at = _AT_COMMIT.search(path)
    if at is not None:
        commit, path = at[1], path[: at.start()]
    if _TORN.search(path) or check_path(path, glob=False) is not None:
        return None
    if first is not None and last is not None and not 1 <= first <= last:
        return None
    return Source(SourceKind.FILE, path, path, commit, first, last, required)


def cited_files(sources: Iterable[str]) -> list[str]:
    """Return the paths of the files among *sources*, each once, in their order."""
    parsed = (parse_source(text) for text in sources)
    return list(dict.fromkeys(s.path for s in parsed if s is not None and s.path is not None))
