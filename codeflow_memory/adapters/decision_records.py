"""Decision records: the title and the status of one, in the forms that are in use.

Source:
    Markdown Architectural Decision Records (status in the front matter, or as ``* Status: …``);
    M. Nygard, "Documenting Architecture Decisions" (a section "Status").
"""

import re
from collections.abc import Iterator

from codeflow_memory.adapters.markdown import Document

_STATUS_LINE = re.compile(r"\s*[-*+]?\s*[*_]*status[*_]*\s*:\s*(.+)", re.IGNORECASE)
_SUPERSEDED = re.compile(r"\bsuper[sc]ee?ded\b", re.IGNORECASE)
_KNOWN = re.compile(r"\b(rejected|deprecated|accepted|proposed|draft)\b", re.IGNORECASE)
_MARKS = re.compile(r"[*_`\[\]\"']")
_PLACEHOLDER = re.compile(r"\{.*\}|\[.*\]|<.*>")
_TELLING = frozenset({"decision", "decision outcome", "considered options", "consequences"})
_HEAD_LINES = 30
"""Lines of a record in which a ``Status:`` line is looked for; below, it is an example of one."""


def record_title(document: Document, path: str) -> str | None:
    """Return a record's title, or ``None`` for a template that still has a placeholder there."""
    named = next((s.titles[-1] for s in document.sections if s.level == 1 and s.titles[-1]), None)
    title = named or (document.front_matter.get("title") or ("",))[0] or _spoken(path)
    return None if _PLACEHOLDER.fullmatch(title) else title


def record_status(document: Document) -> str:
    """Return ``superseded``, ``rejected``, ``deprecated``, ``accepted``, ``proposed``, ``draft``.

    Any other status is returned as it is written, in lower case; empty when there is none.
    """
    texts = list(_status_texts(document))
    if any(_SUPERSEDED.search(text) for text in texts):
        return "superseded"
    for text in texts:
        known = _KNOWN.search(text)
        if known:
            return known[1].lower()
    return texts[0].lower() if texts else ""


def is_record(document: Document) -> bool:
    """Tell whether a document reads like a decision record: its headings are those of one."""
    return any(s.titles[-1].lower() in _TELLING for s in document.sections if s.titles)


def _status_texts(document: Document) -> Iterator[str]:
    yield from (_clean(value) for value in document.front_matter.get("status", ()))
    for section in document.sections:
        of_status = bool(section.titles) and section.titles[-1].lower() == "status"
        for line in section.lines:
            match = _STATUS_LINE.fullmatch(line.text) if line.number <= _HEAD_LINES else None
            if match is not None and section.level <= 1:
                yield _clean(match[1])
            elif of_status and line.text.strip():
                yield _clean(line.text)


def _clean(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _spoken(path: str) -> str:
    """Turn ``0007-use-dashes.md`` into ``Use dashes``."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    words = re.sub(r"^\d+[-_ ]", "", stem).replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]
