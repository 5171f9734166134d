"""Which cells a run plays: all of them in a long one, else a share chosen by their names."""

import os
from collections.abc import Iterable
from zlib import crc32

from .rules import Cell, expected

LONG = os.environ.get("CODEFLOW_LONG") == "1"

DULL = {"missing", "unauthenticated", "unlisted"}
"""What most cells answer, for few reasons."""

SHARES = {True: 12, False: 3}
"""One in so many, of the dull cells and of the others."""


def sampled(cells: Iterable[Cell], *, sparse: int = 1) -> list[Cell]:
    """Return the cells to play; *sparse* times fewer than usual, and all in a long run."""
    if LONG:
        return [cell for cell in cells if chosen(cell, sparse)]
    return [cell for cell in cells if chosen(cell, SHARES[expected(cell) in DULL] * sparse)]


def chosen(cell: Cell, one_in: int) -> bool:
    """Choose by the name, so that the share does not shift when the tables grow."""
    return crc32(str(cell).encode()) % one_in == 0
