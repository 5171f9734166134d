"""Which files of a repository are guidance for those who work in it, and which part they are for.

Looked for at the root and in packages of a repository with many (``packages/api``); never in what
was copied in, and never in templates and examples, whose text is not about this repository.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MAX_FOLDERS = 2
"""Folders above a guidance file: ``packages/api/AGENTS.md``."""

_FOREIGN = frozenset({"node_modules", "vendor", "third_party", "site-packages", ".venv", "venv"})
_ABOUT_OTHERS = frozenset(
    {"testdata", "fixtures", "template", "templates", "example", "examples", "sample", "samples"}
)
_RECORD_FOLDERS = frozenset({"adr", "adrs", "decisions"})
_HOUSING = _RECORD_FOLDERS | {"docs", "doc", "architecture", ".github", ".cursor", ".claude"}
_NUMBERED = re.compile(r"\d{3,5}[-_ ].+\.(?:md|markdown)", re.IGNORECASE)
_NO_RECORD = re.compile(r"(?:readme|index|toc|.*template.*)\.(?:md|markdown)", re.IGNORECASE)
_CONTRIBUTING = re.compile(r"contributing(?:[-_.].*)?", re.IGNORECASE)
_TEXT = re.compile(r"[^.]+|.*\.(?:md|markdown|mdx|mdc|rst|txt|adoc)", re.IGNORECASE)


class Family(StrEnum):
    """What a guidance file is; the value is also its memories' tag."""

    AGENTS = "agents"
    CLAUDE = "claude"
    CURSOR = "cursor"
    CONTRIBUTING = "contributing"
    RECORD = "decision-record"
    NUMBERED = "numbered"


@dataclass(frozen=True, slots=True)
class GuidanceFile:
    """A file to read. ``scope`` is the folder it speaks for, empty for the whole repository.

    ``NUMBERED`` files only look like decision records: their text has to confirm it.
    """

    path: str
    blob: str
    family: Family
    scope: str


def guidance_files(files: Iterable[tuple[str, str]]) -> list[GuidanceFile]:
    """Choose from the files of a tree, given as path and blob hash.

    Returns:
        Families in the order of `Family`, then by path. Of copies with the same content the first
        is kept, so a ``CLAUDE.md`` that repeats ``AGENTS.md`` counts once.
    """
    order = list(Family)
    chosen = [
        GuidanceFile(path, blob, family, _scope(path))
        for path, blob in files
        if (family := family_of(path)) is not None
    ]
    chosen.sort(key=lambda file: (order.index(file.family), file.path))
    first: dict[tuple[str, str], GuidanceFile] = {}
    for file in chosen:
        first.setdefault((file.blob, file.scope), file)
    return list(first.values())


def family_of(path: str) -> Family | None:
    """Tell what guidance the file at *path* is, by its name and folders alone."""
    *folders, name = path.split("/")
    if (_FOREIGN | _ABOUT_OTHERS).intersection(folder.lower() for folder in folders):
        return None
    above = next((i for i, f in enumerate(folders) if f.lower() in _HOUSING), len(folders))
    if above > MAX_FOLDERS:
        return None
    housed = folders[above:]
    return _named(name, housed) or _record(name, folders)


def _named(name: str, housed: list[str]) -> Family | None:
    """Tell files that are known by their name, in a folder or where tools also look for them."""
    if housed[:2] == [".cursor", "rules"]:
        return Family.CURSOR if name.lower().endswith((".mdc", ".md")) else None
    if housed in ([], [".claude"]) and name in {"AGENTS.md", "CLAUDE.md"}:
        return Family.AGENTS if name == "AGENTS.md" else Family.CLAUDE
    if not housed and name == ".cursorrules":
        return Family.CURSOR
    if housed in ([], [".github"], ["docs"]) and _CONTRIBUTING.fullmatch(name):
        return Family.CONTRIBUTING if _TEXT.fullmatch(name) else None
    return None


def _record(name: str, folders: list[str]) -> Family | None:
    if not name.lower().endswith((".md", ".markdown")) or _NO_RECORD.fullmatch(name):
        return None
    if _RECORD_FOLDERS.intersection(folder.lower() for folder in folders):
        return Family.RECORD
    return Family.NUMBERED if _NUMBERED.fullmatch(name) else None


def _scope(path: str) -> str:
    """Return the package that a file speaks for: the folders above those that only house it."""
    folders = path.split("/")[:-1]
    above = next((i for i, f in enumerate(folders) if f.lower() in _HOUSING), len(folders))
    return "/".join(folders[:above])
