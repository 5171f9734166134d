"""Which cells a run plays: all of them in a long one, else a share chosen by their names."""

import os
from collections.abc import Iterable
from zlib import crc32

from .rules import Cell, expected

LONG = os.environ.get("CODEFLOW_LONG") == "1"

ABSENT = "mem_01ABSENTABSENTABSENTABSENT"
ABSENT_PROJECT = "prj_01ABSENTABSENTABSENTABSENT"
ABSENT_MANIFEST = "sel_01ABSENTABSENTABSENTABSENT"
"""Ids of nothing on the stage."""

DULL = {"missing", "unauthenticated", "unlisted"}
"""What most cells answer, for few reasons."""

SHARES = {True: 15, False: 4}
"""One in so many, of the dull cells and of the others."""

FEW = {"create"}
"""Operations with so few cells that each is played."""


def sampled(cells: Iterable[Cell], *, sparse: int = 1) -> list[Cell]:
    """Return the cells to play; *sparse* times fewer than usual, and all in a long run."""
    return [cell for cell in cells if chosen(cell, _share(cell) * sparse)]


def _share(cell: Cell) -> int:
    return 1 if LONG or cell.operation in FEW else SHARES[expected(cell) in DULL]


def chosen(cell: Cell, one_in: int) -> bool:
    """Choose by the name, so that the share does not shift when the tables grow."""
    return crc32(str(cell).encode()) % one_in == 0
