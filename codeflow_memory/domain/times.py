"""Times: integer microseconds since the Unix epoch inside, RFC 3339 in UTC on the wire."""

import re
from datetime import UTC, datetime, time, timedelta

SECOND = 1_000_000
"""Microseconds."""

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EARLIEST = -62_135_596_800 * SECOND
"""The first moment of year 1."""

LATEST = 253_402_300_800 * SECOND
"""The first moment of year 10000."""

LEAP = 60
"""The number of a leap second in its minute."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})",
    re.ASCII,
)


def to_rfc3339(at: int) -> str:
    """Write *at* (Unix microseconds) as ``2026-11-30T14:00:00.000000Z``, always 27 characters."""
    moment = _EPOCH + timedelta(microseconds=at)
    # Not strftime: glibc writes the year 1 as "1", and such a time would not be read back.
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_rfc3339(text: str) -> int:
    """Read an RFC 3339 time with an offset; digits beyond microseconds are cut off.

    Raises:
        ValueError: *text* is not such a time, or lies outside the years 1 to 9999.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError("not an RFC 3339 time with an offset")
    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    fraction = int((found[7] or "").ljust(6, "0")[:6])
    moment = datetime(year, month, day, hour, minute, min(second, LEAP - 1), fraction, tzinfo=UTC)
    offset = timedelta()
    if found[8] not in "Zz":
        # The time of day is read by its own rules: at most 23:59.
        ahead = time.fromisoformat(found[8][1:])
        offset = timedelta(hours=ahead.hour, minutes=ahead.minute)
        offset = -offset if found[8][0] == "-" else offset
    if second > LEAP:
        raise ValueError("a minute has at most 60 seconds and one leap second")
    at = (moment - _EPOCH - offset) // timedelta(microseconds=1) + (second == LEAP) * SECOND
    if not EARLIEST <= at < LATEST:
        raise ValueError("not in the years 1 to 9999")
    return at
