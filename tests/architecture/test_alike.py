"""Statements mean the same on both engines, also where these differ without a word."""

import re

import pytest

from .test_sql import Statement, one, orders, portable_statements

_OF_ONE_ENGINE = re.compile(
    r"\b(?:IFNULL|IIF|INSTR|TOTAL|AVG|PRINTF|HEX|QUOTE|TYPEOF|RANDOM|RANDOMBLOB|ZEROBLOB|UNICODE"
    r"|DATE|TIME|DATETIME|JULIANDAY|STRFTIME|NOW|CHANGES|LAST_INSERT_ROWID|JSON_(?!EACH\b)\w+"
    r"|STRING_AGG|ARRAY_AGG|GREATEST|LEAST)\s*\(|==|::|\bIS\s+(?:NOT\s+)?(?!NULL\b|NOT\b)\S+"
    r"|\bLIMIT\s+-|\bOFFSET\b|\bCOLLATE\s+(?!\"C\")\w+|\bINSERT\s+OR\b|\bREPLACE\s+INTO\b",
    re.IGNORECASE,
)
"""What one of them does not know, or answers otherwise: a mean is a float or a numeric."""

_DIVIDED = re.compile(r"[\w)]\s*[/%]\s*[\w(:]")
"""Both round a quotient of integers towards zero, but not one of what only looks like them."""

_ITEM = re.compile(
    r"(?P<place>\d+)?(?:(?P<table>\w+)\.)?(?P<column>[a-z_]\w*)?"
    r"(?: COLLATE \"C\")?(?: ASC| DESC)?(?P<nulls> NULLS (?:FIRST|LAST))?"
)
_SOURCES = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)(?:\s+AS\s+(\w+))?")


def items(statement: Statement) -> list[str]:
    return [item.strip() for order in orders(statement) for item in order.split(",")]


def foreign(statement: Statement) -> list[str]:
    """List what one engine says otherwise than the other."""
    found = [*_OF_ONE_ENGINE.findall(statement.bare), *_DIVIDED.findall(statement.bare)]
    return [f"{statement.place} {word}" for word in found]


def computed(statement: Statement) -> list[str]:
    """List what is ordered by that is no column.

    A column of text has the collation of bytes; a computed one has the database's, unless it says.
    """
    return [
        f"{statement.place} {item}"
        for item in items(statement)
        if not _ITEM.fullmatch(item) and not re.search(r"COLLATE \"C\"", item)
    ]


def nullable(schema) -> set[tuple[str, str]]:
    """Return table and name of each column that may be NULL."""
    tables = schema.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {
        (table, name)
        for (table,) in tables
        for name, always in schema.execute(
            'SELECT name, "notnull" FROM pragma_table_info(?)', (table,)
        )
        if not always
    }


def silent(statement: Statement, may_be_null: set[tuple[str, str]]) -> list[str]:
    """List the columns that may be NULL and are ordered by without saying where NULL goes.

    SQLite has NULL first, PostgreSQL last. What a statement compares or wants is not NULL.
    """
    names = {alias or table: table for table, alias in _SOURCES.findall(statement.bare)}
    found = []
    for item in items(statement):
        match = _ITEM.fullmatch(item)
        if not match or match["nulls"] or not match["column"]:
            continue
        column = match["column"]
        tables = {names.get(match["table"])} if match["table"] else set(names.values())
        wanted = re.search(rf"\b{column} (?:IS NOT NULL|(?:[<>=]|<=|>=) )", statement.bare)
        if not wanted and any((table, column) in may_be_null for table in tables):
            found.append(f"{statement.place} {item}")
    return found


def test_no_statement_says_what_the_engines_understand_differently():
    assert [fault for s in portable_statements() for fault in foreign(s)] == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT IFNULL(name, '') FROM teams",
        "SELECT AVG(at) FROM audit",
        "SELECT name FROM teams WHERE name IS :name",
        "SELECT name FROM teams WHERE name == :name",
        "SELECT at / 2 FROM audit",
        "SELECT name FROM teams LIMIT -1",
        "INSERT OR REPLACE INTO teams (name) VALUES (:name)",
        "SELECT json_extract(name, '$') FROM teams",
    ],
)
def test_the_check_sees_what_they_understand_differently(sql):
    assert foreign(one(sql)) != []


def test_every_order_is_of_columns_or_of_bytes():
    assert [fault for s in portable_statements() for fault in computed(s)] == []


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("name, team_id", 0),
        ("t.name DESC NULLS LAST, t.team_id", 0),
        ("2 NULLS FIRST, 1", 0),
        ("'x' || name, team_id", 1),
        ("COALESCE(name), team_id", 1),
        ('COALESCE(name) COLLATE "C", team_id', 0),
    ],
)
def test_the_check_sees_an_order_of_what_is_computed(order, expected):
    sql = f"SELECT name FROM teams AS t ORDER BY {order}"  # noqa: S608 - the test's own words

    assert len(computed(one(sql))) == expected


def test_where_null_can_be_an_order_says_where_it_goes(schema):
    may_be_null = nullable(schema)

    assert ("memories", "valid_to") in may_be_null
    assert ("memories", "memory_id") not in may_be_null
    assert [fault for s in portable_statements() for fault in silent(s, may_be_null)] == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT title FROM memories ORDER BY title, memory_id", 1),
        ("SELECT m.title FROM memories AS m ORDER BY m.title DESC, m.memory_id", 1),
        ("SELECT title FROM memories ORDER BY title NULLS FIRST, memory_id", 0),
        ("SELECT title FROM memories WHERE title IS NOT NULL ORDER BY title, memory_id", 0),
        ("SELECT name FROM teams ORDER BY name, team_id", 0),
    ],
)
def test_the_check_sees_where_null_could_be(schema, sql, expected):
    assert len(silent(one(sql), nullable(schema))) == expected
