"""What a repository tells those who work in it, as pieces that become proposals of memories.

Read are ``AGENTS.md``, ``CLAUDE.md``, Cursor's rules, ``CONTRIBUTING`` and decision records
(`adapters.guidance_files`), as committed: what is only in the working tree is not seen. A guidance
file gives one piece per heading down to the third level; a decision record stays whole, because
its options make no sense without its outcome, unless it is long.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codeflow_memory.adapters.decision_records import is_record, record_status, record_title
from codeflow_memory.adapters.git import Repository
from codeflow_memory.adapters.guidance_files import Family, GuidanceFile, guidance_files
from codeflow_memory.adapters.markdown import Document, Line, Section, parse_document
from codeflow_memory.adapters.passages import Passage, passages, shorten, title_from
from codeflow_memory.domain.memory import Kind

MAX_FILES = 1000
MAX_FILE_BYTES = 256 * 1024
MAX_ALL_BYTES = 16 * 1024 * 1024
"""All guidance files together; more is reported as too long."""

MAX_BODY = 16_384
MAX_TITLE = 200
MAX_PATHS = 64
MAX_TAG = 64
RECORD_PART = 6000
"""Characters of a decision record that stay together: half of a selection's usual budget."""

RECORD_LEVEL = 2
"""The level of a record's own headings, below its title."""

SPLIT_LEVEL = 3
"""Deeper headings stay in the body of the piece they are under."""

_BOILERPLATE = "this file provides guidance to"
_NOT_IN_FORCE = frozenset({"superseded", "rejected"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A proposal in the making.

    ``place`` names the piece for as long as its file and headings stay: it tells a changed piece
    from a new one, and what vanished. ``sources`` name the commit that last changed the file, so
    that a piece of an unchanged file is the same piece at every later commit.
    """

    kind: Kind
    title: str
    body: str
    tags: tuple[str, ...]
    paths: tuple[str, ...]
    sources: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that gave no piece, and why, in a few words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """All pieces in the order of their files, and what was left out."""

    pieces: tuple[Piece, ...]
    skipped: tuple[Skipped, ...]


def read_guidance(repository: Repository, commit: str) -> Guidance:
    """Read the guidance in the tree of *commit*, a full hash.

    Raises:
        CodeflowError: The repository cannot be read.
    """
    files = guidance_files(repository.tree(commit))
    skipped = [Skipped(f.path, f"more than {MAX_FILES} files") for f in files[MAX_FILES:]]
    contents = repository.contents([f.blob for f in files[:MAX_FILES]], max_bytes=MAX_ALL_BYTES)
    pieces: list[Piece] = []
    for file in files[:MAX_FILES]:
        read = _read(file, contents.get(file.blob))
        if isinstance(read, str):
            skipped.append(Skipped(file.path, read))
        elif read:
            changed = repository.last_commit(file.path, commit) or commit
            pieces.extend(_with_sources(piece, file, changed) for piece in read)
    return Guidance(tuple(pieces), tuple(skipped))


def _with_sources(piece: Piece, file: GuidanceFile, commit: str) -> Piece:
    """Complete a piece, whose only source so far is its range of lines."""
    (lines,) = piece.sources
    return replace(piece, sources=(f"file:{file.path}@{commit}#{lines}", f"commit:{commit}"))


def _read(file: GuidanceFile, content: bytes | None) -> list[Piece] | str:
    """Return the pieces of a file, or why it has none; empty where it is no guidance at all."""
    if content is None or len(content) > MAX_FILE_BYTES:
        return "too long"
    try:
        document = parse_document(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "not UTF-8"
    if file.family in {Family.RECORD, Family.NUMBERED}:
        return _read_record(file, document)
    found = list(_pieces(file, _guidance_passages(file, document), _paths(file, document)))
    return found or "no text"


def _read_record(file: GuidanceFile, document: Document) -> list[Piece] | str:
    if file.family is Family.NUMBERED and not is_record(document):
        return []
    title = record_title(document, file.path)
    if title is None:
        return "a template"
    status = record_status(document)
    if status in _NOT_IN_FORCE:
        return status
    tags = () if status in {"", "accepted"} else (status[:MAX_TAG].strip(),)
    found = list(_pieces(file, _record_passages(document, title), _folder(file.scope), tags))
    return found or "no text"


def _guidance_passages(file: GuidanceFile, document: Document) -> Iterator[Passage]:
    """Give each heading down to `SPLIT_LEVEL` its own passage, named by the headings above it."""
    tops = sum(section.level == 1 for section in document.sections)
    for group in _grouped(document.sections):
        section = group[0]
        titles = section.titles
        named = titles[1:] if tops == 1 and len(titles) > 1 else titles
        lines = [*section.lines, *_with_headings(group[1:])]
        if section.level <= 1 and _is_boilerplate(lines):
            continue
        title = ": ".join(named[-2:]) or _untitled(file, document, lines)
        yield Passage(titles, title, tuple(lines))


def _grouped(sections: Sequence[Section]) -> list[list[Section]]:
    groups: list[list[Section]] = []
    for section in sections:
        if section.level <= SPLIT_LEVEL or not groups:
            groups.append([section])
        else:
            groups[-1].append(section)
    return groups


def _with_headings(sections: Iterable[Section]) -> list[Line]:
    lines: list[Line] = []
    for section in sections:
        if section.heading is not None:
            lines.append(replace(section.heading, opens=True))
        lines.extend(section.lines)
    return lines


def _record_passages(document: Document, title: str) -> Iterator[Passage]:
    """Keep a record together up to `RECORD_PART` characters, then go on at its next heading."""
    headings: tuple[str, ...] = ()
    name, lines, length = title, list[Line](), 0
    for section in document.sections:
        top = section.level <= 1
        own = list(section.lines) if top else _with_headings([section])
        size = sum(len(line.text) + 1 for line in own)
        if lines and length + size > RECORD_PART and section.level == RECORD_LEVEL:
            yield Passage(headings, name, tuple(lines))
            headings, lines, length = section.titles[-1:], [], 0
            name, own = f"{title}: {section.titles[-1]}", list(section.lines)
        lines.extend(own)
        length += size
    yield Passage(headings, name, tuple(lines))


def _is_boilerplate(lines: Sequence[Line]) -> bool:
    """Tell a first paragraph that only says what the file is, or only points at another file."""
    texts = [line.text.strip() for line in lines if line.text.strip()]
    if all(text.startswith("@") and " " not in text for text in texts):
        return True
    return len(texts) == 1 and texts[0].lower().startswith(_BOILERPLATE)


def _untitled(file: GuidanceFile, document: Document, lines: Sequence[Line]) -> str:
    described = document.front_matter.get("description") or document.front_matter.get("title")
    return (described or ("",))[0] or title_from(lines) or file.path.rpartition("/")[2]


def _pieces(
    file: GuidanceFile,
    found: Iterable[Passage],
    paths: tuple[str, ...],
    tags: tuple[str, ...] = (),
) -> Iterator[Piece]:
    kind = _KINDS.get(file.family, Kind.DECISION)
    family = Family.RECORD if file.family is Family.NUMBERED else file.family
    seen: dict[tuple[str, ...], int] = {}
    for passage in found:
        for part in passages(passage, MAX_BODY):
            seen[passage.headings] = ordinal = seen.get(passage.headings, 0) + 1
            yield Piece(
                kind,
                shorten(part.title, MAX_TITLE),
                part.body,
                (family.value, *tags),
                paths,
                (f"L{part.first}-L{part.last}",),
                f"{file.path}#{' > '.join(passage.headings)}#{ordinal}",
            )


_KINDS = {
    Family.AGENTS: Kind.GUIDANCE,
    Family.CLAUDE: Kind.GUIDANCE,
    Family.CURSOR: Kind.GUIDANCE,
    Family.CONTRIBUTING: Kind.CONVENTION,
}


def _folder(scope: str) -> tuple[str, ...]:
    return (scope,) if scope else ()


def _paths(file: GuidanceFile, document: Document) -> tuple[str, ...]:
    """Say which paths a file is for: a Cursor rule's own globs, else its folder."""
    globs = document.front_matter.get("globs", ()) if file.family is Family.CURSOR else ()
    found = [path for glob in globs for path in _glob_paths(file.scope, glob)]
    return tuple(dict.fromkeys(found))[:MAX_PATHS] or _folder(file.scope)


def _glob_paths(scope: str, glob: str) -> Iterator[str]:
    """Turn a Cursor glob into paths from the root; ``*.ts`` there means any folder."""
    glob = glob.strip().removeprefix("./").removeprefix("/")
    if not glob or "\\" in glob or ".." in glob.split("/"):
        return
    before, brace, rest = glob.partition("{")
    choices, closing, after = rest.partition("}")
    for choice in choices.split(",") if brace and closing else ("",):
        path = before + choice.strip() + after if brace and closing else glob
        anywhere = path if "/" in path else f"**/{path}"
        yield f"{scope}/{anywhere}" if scope else anywhere
