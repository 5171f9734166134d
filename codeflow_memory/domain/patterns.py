"""Patterns of the catalogues, compiled when a text first has one of their marks.

Nearly every text has none, and compiling them all was 25 to 40 ms of every start.
"""

import re
from functools import cache


@cache
def compiled(expression: str, flags: int) -> re.Pattern[str]:
    """Return the pattern of a row; kept, as `re` itself keeps only some hundreds."""
    return re.compile(expression, flags)
