"""Which cells a run plays: all of them in a long one, else a share chosen by their names."""

import os
from collections.abc import Iterable
from zlib import crc32

from .rules import Cell, deciding, expected
from .table import CREATIONS

LONG = os.environ.get("CODEFLOW_LONG") == "1"

ABSENT = "mem_01ABSENTABSENTABSENTABSENT"
ABSENT_PROJECT = "prj_01ABSENTABSENTABSENTABSENT"
ABSENT_MANIFEST = "sel_01ABSENTABSENTABSENTABSENT"
"""Ids of nothing on the stage."""

QUIET = {"missing", "unauthenticated", "unlisted"}
"""What most cells answer, for few reasons."""

FAR = {"elsewhere", "outside"}
SHARES = {"far": 40, "quiet": 12, "telling": 4}
"""One in so many, of the cells of each sort."""

FEW = set(CREATIONS)
"""Operations with so few cells that each is played."""


def sampled(cells: Iterable[Cell], *, sparse: int = 1) -> list[Cell]:
    """Return the cells to play; *sparse* times fewer than usual, and all in a long run.

    Of the cells that the same rows decide one at least is among them.
    """
    cells = list(cells)
    if LONG:
        return cells
    kept = [cell for cell in cells if chosen(cell, _share(cell) * sparse)]
    told = {_rows(cell) for cell in kept}
    left = {_rows(cell): cell for cell in reversed(cells) if _rows(cell) not in told}
    return [*kept, *left.values()]


def _rows(cell: Cell) -> tuple[int, ...]:
    return tuple(id(row) for _, row in deciding(cell))


def _share(cell: Cell) -> int:
    return 1 if cell.operation in FEW else SHARES[_sort(cell)]


def _sort(cell: Cell) -> str:
    if cell.relation in FAR or cell.caller == "operator":
        return "far"
    return "quiet" if expected(cell) in QUIET else "telling"


def chosen(cell: Cell, one_in: int) -> bool:
    """Choose by the name, so that the share does not shift when the tables grow."""
    return crc32(str(cell).encode()) % one_in == 0
