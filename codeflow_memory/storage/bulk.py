"""Bulk: a statement with all its parameters at once: rows cost less than round trips.

The parameters are a table inside the statement, from JSON: a reading statement is joined to it
sideways, an insert selects from it and a delete uses it. For PostgreSQL alone.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from codeflow_memory.storage import dialect

_KINDS = {int: "bigint", str: "text", float: "double precision"}
"""Types that are the same in JSON."""

_FEW = "given.number + 0 = given.number"
"""Holds always, and lets the planner expect few of them: see `dialect`."""

_NAME = re.compile(r"'(?:[^']|'')*'|::|:([a-z]\w*)")
_INSERT = re.compile(
    r"(?P<into>\s*INSERT INTO [^()]+\([^()]+\)\s*)VALUES\s*\((?P<values>[^()]+)\)\s*"
)
_DELETE = re.compile(r"(?P<from>\s*DELETE FROM \w+\s+)(?P<where>WHERE (?:(?!SELECT).)+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Batch:
    """A statement with one placeholder, and what goes there."""

    statement: bytes
    rows: str


Form = Callable[[str, str], str | None]


def of(
    sql: str, parameters: Sequence[Mapping[str, object] | Sequence[object]], form: Form
) -> Batch | None:
    """Return one statement for all *parameters*; ``None`` where they must be run one by one.

    Args:
        sql: The statement.
        parameters: By name, or in the order of the names in it.
        form: `reading` or `writing`.
    """
    if len(parameters) < 2:  # noqa: PLR2004 - one is no batch
        return None
    names = tuple(_names(sql))
    rows = [
        [given[name] for name in names] if isinstance(given, Mapping) else given
        for given in parameters
    ]
    kinds = tuple(map(_kind, zip(*rows, strict=True)))
    statement = _statement(sql, kinds, form) if None not in kinds else None
    if statement is None:
        return None
    columns = [f"p{place}" for place in range(len(names))]
    objects = [dict(zip(columns, row, strict=True)) for row in rows]
    return Batch(statement, json.dumps(objects, ensure_ascii=False))


def reading(sql: str, given: str) -> str | None:
    """Join a reading statement to the table *given*; its rows begin with the parameters' number."""
    joined = f"FROM {given} CROSS JOIN LATERAL ({sql}) AS found"
    return f"SELECT given.number, found.* {joined} WHERE {_FEW}"


def writing(sql: str, given: str) -> str | None:
    """Let an insert of values select them from the table *given*, or a delete use it."""
    insert = _INSERT.fullmatch(sql)
    if insert is not None:
        return f"{insert['into']} SELECT {insert['values']} FROM {given}"  # noqa: S608 - ours
    delete = _DELETE.fullmatch(sql)
    if delete is not None:
        return f"{delete['from']} USING {given} {delete['where']} AND {_FEW}"
    return None


@lru_cache(maxsize=256)
def _statement(sql: str, kinds: tuple[str, ...], form: Form) -> bytes | None:
    places = iter(range(len(kinds)))

    def placed(found: re.Match[str]) -> str:
        return f"given.p{next(places)}" if found[1] else found[0]

    columns = ", ".join(f"p{place} {kind}" for place, kind in enumerate(kinds))
    bare = ", ".join(f"p{place}" for place in range(len(kinds)))
    given = (
        f"ROWS FROM (json_to_recordset(:rows::json) AS ({columns}))"
        f" WITH ORDINALITY AS given ({bare}, number)"
    )
    whole = form(_NAME.sub(placed, sql), given)
    return None if whole is None else dialect.statement(whole, by_place=True)


def _names(sql: str) -> Iterable[str]:
    return (found[1] for found in _NAME.finditer(sql) if found[1])


def _kind(values: Sequence[object]) -> str | None:
    kinds = {type(value) for value in values} - {type(None)}
    return _KINDS.get(kinds.pop()) if len(kinds) == 1 else None
