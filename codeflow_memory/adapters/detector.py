"""Betterleaks: a maintained detector of credentials, asked beside the rules of the product.

Its library is loaded for the first text (0.2 s, 20 MiB) and opens no connection. Platforms for
which no package is served do without it, as does a text at which it fails: own rules find what is
asked of the product alone, and it adds credentials of issuers that they do not know.
"""

import os
import threading
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from codeflow_memory.domain.secret_values import Found, is_data, is_password, is_token

_MIN_VALUE = 8
"""Characters; what is shorter is in too many other words."""

_BROAD = "generic-"
"""How rules begin that know a credential by the words around it."""

_ALONE = threading.Event()
# The library has threads of its own, which a fork leaves behind: its child would wait for them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ALONE.set)


def detect(text: str) -> Iterator[Found]:
    """Yield kind, start and end of each credential that the detector knows in *text*."""
    library = None if _ALONE.is_set() else _library()
    if library is None:
        return
    try:
        findings = library.scan_string(text)
    except library.BetterleaksError:
        return
    for finding in findings:
        value = finding.match.value
        if len(value) < _MIN_VALUE or (finding.rule_id.startswith(_BROAD) and _is_none(value)):
            continue
        # It counts bytes and lines; equal values are one secret wherever they stand.
        start = text.find(value)
        while start >= 0:
            yield "credential", start, start + len(value)
            start = text.find(value, start + len(value))


def is_present() -> bool:
    """Tell whether the detector can be asked here."""
    return not _ALONE.is_set() and _library() is not None


def _is_none(value: str) -> bool:
    return is_data(value) or not (is_token(value) or is_password(value))


@cache
def _library() -> ModuleType | None:
    try:
        import betterleaks  # noqa: PLC0415 - 20 MiB that commands which write nothing do without
    except ImportError:
        return None
    return betterleaks
