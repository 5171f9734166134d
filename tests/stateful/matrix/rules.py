"""Reading the tables, and what they say of one cell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from . import table

AXES = {
    "operation": table.OPERATIONS,
    "caller": table.CALLERS,
    "relation": table.RELATIONS,
    "collection": table.COLLECTIONS,
    "state": table.STATES,
}
_STANDS_FOR = {
    "secret": "proposed",
    "returned": "proposed",
    "withdrawn": "deleted",
    "lapsed": "outdated",
}
"""What a move depends on is the status, not how an entry came to it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One question: may this caller do that to an entry in this state?"""

    operation: str
    caller: str
    relation: str
    collection: str
    state: str
    writer: str = "person"

    def __str__(self) -> str:
        return (
            f"{self.operation} by {self.caller} ({self.relation}) of a {self.state} "
            f"{self.collection} entry of {self.writer}"
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A rule: where it holds, by axis, what it answers, and the section that says so."""

    where: Mapping[str, frozenset[str]]
    answer: str
    source: str

    def fits(self, cell: Cell) -> bool:
        return all(getattr(cell, axis) in values for axis, values in self.where.items())

    def within(self, other: "Row") -> bool:
        return all(values <= other.where[axis] for axis, values in self.where.items())


class UndecidedError(AssertionError):
    """No row, or no single most specific row, fits a cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of which the most specific one that fits a cell decides it."""

    name: str
    rows: tuple[Row, ...]
    known: dict[tuple[str, ...], Row] = field(default_factory=dict)

    def row(self, cell: Cell) -> Row:
        """Return the row that decides *cell*.

        Raises:
            UndecidedError: None does, or several.
        """
        key = tuple(getattr(cell, axis) for axis in self.rows[0].where)
        if key not in self.known:
            self.known[key] = self._decided(cell)
        return self.known[key]

    def _decided(self, cell: Cell) -> Row:
        fitting = [row for row in self.rows if row.fits(cell)]
        deciding = [r for r in fitting if all(r.within(other) for other in fitting)]
        if len(deciding) != 1:
            raise UndecidedError(
                f"{self.name}: {len(deciding)} of {len(fitting)} rows decide {cell}"
            )
        return deciding[0]

    def answer(self, cell: Cell) -> str:
        return self.row(cell).answer


def parse(
    name: str,
    text: str,
    axes: Mapping[str, list[str]] = AXES,
    groups: Mapping[str, str] = table.GROUPS,
) -> Table:
    """Read a table of rules: columns between bars, the answer and its source last."""
    head, *lines = ([part.strip() for part in line.split("|")] for line in text.split("\n")[1:-1])
    rows = []
    for *where, answer, source in lines:
        named = zip(head[:-2], where, strict=True)
        rows.append(
            Row({axis: _values(axes[axis], groups, w) for axis, w in named}, answer, source)
        )
    return Table(name, tuple(rows))


def _values(axis: list[str], groups: Mapping[str, str], words: str) -> frozenset[str]:
    if words == "*":
        return frozenset(axis)
    values: set[str] = set()
    for word in words.split():
        values.update(groups.get(word, word).split())
    assert values <= set(axis), words
    return frozenset(values)


def parse_grid(text: str) -> dict[tuple[str, str], str]:
    """Read a grid of operations and statuses."""
    head, *lines = text.strip().splitlines()
    statuses = head.split()[1:-1]
    grid: dict[tuple[str, str], str] = {}
    for line in lines:
        operation, *answers = line.split()[: len(statuses) + 1]
        grid |= {(operation, s): a for s, a in zip(statuses, answers, strict=True)}
    return grid


SPACE = parse("SPACE", table.SPACE)
SIGHT = parse("SIGHT", table.SIGHT)
RIGHTS = parse("RIGHTS", table.RIGHTS)
REPLAY = parse("REPLAY", table.REPLAY)
ENTRANCE = parse("ENTRANCE", table.ENTRANCE)
BOUND = parse("BOUND", table.BOUND)
TABLES = (SPACE, SIGHT, RIGHTS, REPLAY, ENTRANCE, BOUND)
MOVES = parse_grid(table.MOVES)
APPEARS = parse_grid(table.APPEARS)


@cache
def expected(cell: Cell) -> str:
    """Return what the tables say of *cell*."""
    if cell.operation in table.CREATIONS:
        return (ENTRANCE if cell.operation == "create" else BOUND).answer(cell)
    if cell.operation == "replay":
        space = SPACE.answer(cell)
        return REPLAY.answer(cell) if space == "open" else space
    if cell.operation in table.LOOKUPS:
        return _looked_up(cell)
    sight = SIGHT.answer(cell)
    if sight != "there":
        return sight
    if cell.operation == "stale":
        return MOVES["stale", "accepted"]
    right = RIGHTS.answer(cell)
    return right if right != "may" else _moved(cell)


def _looked_up(cell: Cell) -> str:
    space = SPACE.answer(cell)
    if space != "open":
        return space
    right = RIGHTS.answer(cell)
    if right != "may":
        return right
    shown = SIGHT.answer(cell) == "there" and APPEARS[cell.operation, status(cell)] == "yes"
    if cell.operation == "export-md" and cell.collection != "project":
        shown = False
    return "listed" if shown else "unlisted"


def _moved(cell: Cell) -> str:
    if cell.operation == "publish" and cell.collection == "project":
        return "refused"
    return MOVES[cell.operation, status(cell)]


def status(cell: Cell) -> str:
    """Return the status that an entry of the cell has."""
    return _STANDS_FOR.get(cell.state, cell.state)


def hidden(cell: Cell) -> bool:
    """Tell whether what *cell* is about is not there for its caller; a revision alone may be."""
    seen = cell.operation == "first" and SIGHT.answer(cell) == "there"
    return expected(cell) == "missing" and not seen


def deciding(cell: Cell) -> Iterable[tuple[str, Row]]:
    """Name the rows that have a say in *cell*, for a report."""
    named = [SIGHT, RIGHTS]
    if cell.operation == "create":
        named = [ENTRANCE]
    if cell.operation in table.BOUND_TO:
        named = [BOUND]
    if cell.operation in {*table.LOOKUPS, "replay"}:
        named = [SPACE, *([REPLAY] if cell.operation == "replay" else named)]
    return [(t.name, t.row(cell)) for t in named]
