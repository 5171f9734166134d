"""Secrets: found in what an author wrote and replaced before anything is stored.

What is looked for, and in which views of the text, is in `secret_search`. All of them see the text
as a reader does, so that a character without width or a look-alike letter does not hide a secret.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codeflow_memory.domain.drafts import MAX_BODY, MAX_TITLE
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.lookalikes import latinised, view
from codeflow_memory.domain.memory import Content
from codeflow_memory.domain.secret_search import find_all
from codeflow_memory.domain.secret_values import Found

_MARKER = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_WORD = re.compile(r"[^\W_]")


Detector = Callable[[str], Iterable[Found]]
"""Finds more of them: kind, start and end of each, as `find_all` does."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's kind and where it stands, in code points from 0; ``text[start:end]``."""

    kind: str
    start: int
    end: int


def find(text: str, detectors: Sequence[Detector] = ()) -> list[Secret]:
    """Find the secrets of *text*, in order and apart from each other.

    Where two forms overlap, the one that starts first, then the longer one, then the one that
    names an issuer gives its kind, and the span covers both. What `redact` left is no secret.
    """
    seen = latinised(view(text))
    # Stable sorting keeps the rows of issuers, which come first, ahead of their surroundings.
    spans = [(*seen.span(start, end), kind) for kind, start, end in find_all(seen.text)]
    spans += [
        (*seen.span(start, end), kind)
        for detect in detectors
        for kind, start, end in detect(seen.text)
    ]
    marked = [found.span() for found in _MARKER.finditer(text)]
    secrets: list[Secret] = []
    for start, end, kind in sorted(spans, key=lambda s: (s[0], -s[1])):
        if any(start < last and first < end for first, last in marked):
            continue
        if secrets and start < secrets[-1].end:
            secrets[-1] = replace(secrets[-1], end=max(end, secrets[-1].end))
        else:
            secrets.append(Secret(kind, start, end))
    return secrets


def redact(text: str, detectors: Sequence[Detector] = ()) -> tuple[str, tuple[str, ...]]:
    """Replace each secret of *text* by ``[redacted:<kind>]``.

    Returns:
        The text, in which `find` finds nothing, and the kinds in the order they were found.
    """
    kinds: list[str] = []
    # A replacement can bare another secret; each turn leaves fewer characters, so this ends.
    while secrets := find(text, detectors):
        pieces: list[str] = []
        end = 0
        for secret in secrets:
            pieces += [text[end : secret.start], f"[redacted:{secret.kind}]"]
            kinds.append(secret.kind)
            end = secret.end
        text = "".join(pieces) + text[end:]
    return text, tuple(dict.fromkeys(kinds))


def redact_content(
    content: Content, detectors: Sequence[Detector] = ()
) -> tuple[Content, tuple[str, ...]]:
    """Redact every text of *content*.

    Returns:
        The content, itself when there was nothing to redact, and the kinds found, each once.

    Raises:
        InvalidRequestError: At ``/title`` or ``/body``, when nothing but secrets stood there, or
            when the text with its replacements is over the field's limit.
    """
    kinds: list[str] = []

    def clean(text: str) -> str:
        text, found = redact(text, detectors)
        kinds.extend(found)
        return text

    redacted = replace(
        content,
        title=clean(content.title),
        body=clean(content.body),
        tags=tuple(map(clean, content.tags)),
        paths=tuple(map(clean, content.paths)),
        branches=tuple(map(clean, content.branches)),
        sources=tuple(map(clean, content.sources)),
        key=None if content.key is None else clean(content.key),
    )
    if not kinds:
        return content, ()
    faults = [*_left("/title", redacted.title, MAX_TITLE), *_left("/body", redacted.body, MAX_BODY)]
    if faults:
        raise InvalidRequestError(faults)
    return redacted, tuple(dict.fromkeys(kinds))


def _left(pointer: str, text: str, maximum: int) -> Iterator[Fault]:
    rest = _MARKER.sub("", text)
    if rest != text and not _WORD.search(rest):
        yield Fault(pointer, "is nothing but a secret")
    elif rest != text and len(text) > maximum:
        yield Fault(pointer, f"has more than {maximum} characters once its secrets are replaced")
