"""Dialect: the one set of statements, as PostgreSQL spells what little it spells otherwise.

Tables: ``STRICT`` and ``WITHOUT ROWID`` go, ``INTEGER`` is ``BIGINT``, ``REAL`` is ``DOUBLE
PRECISION``, ``BLOB`` is ``BYTEA``, and ``TEXT`` has the collation ``"C"``, which orders by bytes.
Statements: ``json_each(:x)`` is ``jsonb_array_elements_text``, and ``:x`` is a placeholder of
psycopg; ``bulk.py`` has what runs many times at once. Source: design, architecture §1.1.
Parameters: no stored text has U+0000, so who looks for one finds nothing, as in SQLite.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.storage.engine import Parameters

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
_LISTED = (
    "(SELECT value FROM jsonb_array_elements_text(%({name})s::jsonb) AS value"
    " WHERE value || '' = value){alias}"
)


_LIST = re.compile(r"json_each\(:(\w+)\)")
_READING = re.compile(r"\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_UNSENT = re.compile("[\0\ud800-\udfff]")
_STAND_IN = "\x01"
"""What nothing that is looked up by its text has; of all that is stored it sorts nearest."""


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
            return _LISTED.format(name=found["list"], alias=found["alias"] or " AS listed")
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


def sendable(sql: str, given: Parameters) -> Parameters:
    """Return the parameters of a statement with nothing in them that PostgreSQL would not take.

    Raises:
        InvalidRequestError: A statement that writes has a text with U+0000.
    """
    # Lists are JSON, which spells U+0000 and half a surrogate pair with an escape.
    if not any(isinstance(v, str) and ("\0" in v or "\\u" in v) for v in given.values()):
        return given
    lists, reads = set(_LIST.findall(sql)), _READING.match(sql) is not None
    return {
        name: _list(value) if name in lists else _plain(value, reads=reads)
        for name, value in given.items()
    }


def is_unkept(given: Parameters | Sequence[object]) -> bool:
    """Tell whether a value among the parameters of a write is a text with U+0000."""
    values = given.values() if isinstance(given, Mapping) else given
    return any(isinstance(value, str) and "\0" in value for value in values)


def unkept() -> InvalidRequestError:
    """Return the refusal of a text that PostgreSQL cannot keep."""
    return InvalidRequestError.at("", "holds U+0000, which the database cannot keep")


def _list(value: object) -> object:
    return value if not isinstance(value, str) else json.dumps(_replaced(json.loads(value)))


def _replaced(value: object) -> object:
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    return _UNSENT.sub(_STAND_IN, value) if isinstance(value, str) else value


def _plain(value: object, *, reads: bool) -> object:
    if not isinstance(value, str) or "\0" not in value:
        return value
    if not reads:
        raise unkept()
    return value.replace("\0", _STAND_IN)
