"""Logs of a serving process: one JSON object a line on stderr, of fields that are listed here.

Nothing of a request gets in but ids, its route's template and how it ended: no body, query, token,
title or path that a client chose. Of an error its kind and where it came from are told, and never
its message, which may quote what was being read.
"""

import json
import logging
import sys
import traceback
from typing import TextIO

from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.settings import Logging

FIELDS = (
    *("request_id", "method", "route", "status", "code", "duration_ms"),
    *("principal_id", "token_id", "tenant", "job", "result", "version"),
)
"""What a record may carry beside its time, level, source and event."""

_EVENT_CHARACTERS = 1_000
_FRAMES = 30


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; whatever is no visible ASCII is escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        fields: dict[str, object] = {
            "time": to_rfc3339(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "source": record.name,
            "event": record.getMessage()[:_EVENT_CHARACTERS],
        }
        fields |= {
            name: getattr(record, name)
            for name in FIELDS
            if getattr(record, name, None) is not None
        }
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = _kinds(record.exc_info[1])
            fields["at"] = _places(record.exc_info[1])
        return json.dumps(fields, default=str, ensure_ascii=True)


def begin(settings: Logging, stream: TextIO | None = None) -> None:
    """Let every record of the process, those of its libraries too, be written to stderr."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())


def _kinds(error: BaseException) -> list[str]:
    """Name the kinds of an error and of what caused it, outermost first."""
    kinds: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(kinds) < _FRAMES:
        kinds.append(f"{type(cause).__module__}.{type(cause).__qualname__}")
        cause = cause.__cause__ or cause.__context__
    return kinds


def _places(error: BaseException) -> list[str]:
    """Name where an error came from, outermost first: no line of text, no value."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
