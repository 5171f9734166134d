"""Times: Unix microseconds inside, RFC 3339 in UTC outside."""

from datetime import UTC, datetime
from typing import Final

MAX: Final = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""


def rfc3339(at: int) -> str:
    """Write a time, to the second; what lies behind the year 9999 is shown as its end."""
    return f"{moment(at):%Y-%m-%dT%H:%M:%SZ}"


def moment(at: int) -> datetime:
    """Return a time, to the second, as a date in UTC; at most the end of the year 9999."""
    return datetime.fromtimestamp(min(at, MAX) // 1_000_000, UTC)
