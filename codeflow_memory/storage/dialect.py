"""Dialect: the one set of statements, as PostgreSQL spells what little it spells otherwise.

Tables: ``STRICT`` and ``WITHOUT ROWID`` go, ``INTEGER`` is ``BIGINT``, ``REAL`` is ``DOUBLE
PRECISION``, ``BLOB`` is ``BYTEA``, and ``TEXT`` has the collation ``"C"``, which orders by bytes.
Statements: ``json_each(:x)`` is ``jsonb_array_elements_text``, and ``:x`` is a placeholder of
psycopg; ``bulk.py`` has what runs many times at once. Source: design, architecture §1.1.
"""

import re
from functools import lru_cache

_TYPES = {"INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "BLOB": "BYTEA"}

_DEFINITION = re.compile(
    r"""(?P<kept>'(?:[^']|'')*'|--[^\n]*)
      | \)\s*(?P<strict>(?:STRICT|WITHOUT\s+ROWID|,|\s)+)(?=;|$)
      | \b(?P<type>INTEGER|REAL|BLOB|TEXT)\b""",
    re.VERBOSE,
)
_STATEMENT = re.compile(
    r"""(?P<kept>'(?:[^']|'')*'|"[^"]*"|::)
      | json_each\(:(?P<list>\w+)\)(?P<alias>\s+AS\b)?
      | :(?P<name>[a-z]\w*)
      | AS\s+(?P<cast>INTEGER)\b
      | (?P<percent>%)""",
    re.VERBOSE,
)

# An equality that always holds, because the planner takes it for one row in two hundred. Left to
# itself it expects a hundred of every list, reads a whole scope instead, and looks in the list for
# each of its entries: 10 ms instead of 0.2 for 50 of 1,000 (PostgreSQL 15).
_LIST = (
    "(SELECT value FROM jsonb_array_elements_text(%({name})s::jsonb) AS value"
    " WHERE value || '' = value){alias}"
)


@lru_cache(maxsize=8)
def definition(sql: str) -> bytes:
    """Return statements of a migration, which have no parameters, for PostgreSQL."""

    def spelled(found: re.Match[str]) -> str:
        if found["kept"]:
            return found["kept"]
        if found["strict"]:
            return ")"
        return _TYPES.get(found["type"], 'TEXT COLLATE "C"')

    return _DEFINITION.sub(spelled, sql).encode()


@lru_cache(maxsize=2_048)
def statement(sql: str, *, by_place: bool = False) -> bytes:
    """Return a statement of the program for PostgreSQL, with psycopg's placeholders.

    Args:
        sql: The statement.
        by_place: Whether its parameters come as sequences, in the order of their names in it.
    """

    def spelled(found: re.Match[str]) -> str:
        if found["list"]:
            return _LIST.format(name=found["list"], alias=found["alias"] or " AS listed")
        match found.lastgroup:
            case "kept":
                return found["kept"].replace("%", "%%")
            case "name":
                return "%s" if by_place else f"%({found['name']})s"
            case "cast":
                return "AS BIGINT"
            case _:
                return "%%"

    return _STATEMENT.sub(spelled, sql).encode()
