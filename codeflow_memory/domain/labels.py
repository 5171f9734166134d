"""Labels: the one-line names, slugs and paths that people give to things."""

import posixpath
import re

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.text import hidden, normalise

MAX_LABEL = 200
"""Code points."""

MAX_PATH = 4096

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def label(pointer: str, text: str, *, maximum: int = MAX_LABEL) -> str:
    """Return *text* in NFC when it is one line of 1 to *maximum* visible characters.

    Raises:
        InvalidRequestError: At *pointer*.
    """
    text = normalise(text)
    if not 1 <= len(text) <= maximum:
        raise InvalidRequestError.at(pointer, f"must have 1 to {maximum} characters")
    if text != text.strip():
        raise InvalidRequestError.at(pointer, "must not begin or end with a space")
    found = hidden(text, multiline=False)
    if found:
        detail = f"must not contain {found[0].name} (at offset {found[0].offset})"
        raise InvalidRequestError.at(pointer, detail)
    return text


def slug(pointer: str, text: str) -> str:
    """Return *text* when it is a slug: lower case, so that none reads like an id.

    Raises:
        InvalidRequestError: At *pointer*.
    """
    if not _SLUG.fullmatch(text):
        raise InvalidRequestError.at(
            pointer,
            "must be 1 to 100 of a-z, 0-9, '.', '_' and '-', beginning with one of a-z, 0-9",
        )
    return text


def folder(pointer: str, text: str) -> str | None:
    """Return a folder of a repository without slashes at its ends; ``None`` for the whole.

    Raises:
        InvalidRequestError: At *pointer*: not a relative POSIX path below the repository's top.
    """
    text = label(pointer, text, maximum=MAX_PATH)
    if text.startswith("/") or "\\" in text or ".." in text.split("/"):
        raise InvalidRequestError.at(
            pointer, "must be a folder below the repository's top, with forward slashes"
        )
    path = posixpath.normpath(text)
    return None if path == "." else path


def absolute_path(text: str) -> str | None:
    """Reduce an absolute path of a POSIX or Windows machine to one spelling.

    Nothing is looked up: links stay as they are written.

    Returns:
        The path without doubled or final slashes, ``.`` and ``..``, drives in upper case and with
        forward slashes; ``None`` for what is no absolute path.
    """
    if not 0 < len(text) <= MAX_PATH or "\0" in text or hidden(text, multiline=False):
        return None
    if text.startswith("/"):
        return "/" + posixpath.normpath(text).lstrip("/")
    if _DRIVE.match(text):
        return text[0].upper() + ":" + posixpath.normpath(text[2:].replace("\\", "/"))
    return None
