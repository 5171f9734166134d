"""The logical fingerprint: what changes it, and what does not."""

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.storage import fingerprint, migrate, principals
from codeflow_memory.storage.migrate import Migration

STORE = "CREATE TABLE store (singleton INTEGER PRIMARY KEY) STRICT; INSERT INTO store VALUES (1);"

TABLE = """
CREATE TABLE things (
    name    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    integer INTEGER,
    real    REAL,
    text    TEXT,
    blob    BLOB,
    PRIMARY KEY (at, name)
) STRICT;
"""
COLUMNS = ("name", "at", "integer", "real", "text", "blob")
ROWS = [("a", 2, None), ("b", 1, 7), ("ä", 1, b"\0"), ("", -(2**63), 0.5), ("z", 2**63 - 1, "x")]


def spread(name, at, value):
    """Return a row of the table; a value stands in the column of its type."""
    types = (int, float, str, bytes)
    return (name, at, *(value if isinstance(value, kind) else None for kind in types))


@pytest.fixture
def made(bare):
    """Make databases of one table with rows and return their fingerprints."""

    def make(rows, *, table=TABLE, more=(), without=()):
        first = [Migration(1, "0001_things.sql", "\n".join((STORE, table)))]

        def record(tx):
            names = ", ".join(f":{column}" for column in COLUMNS)
            tx.executemany(f"INSERT INTO things VALUES ({names})", [spread(*row) for row in rows])  # noqa: S608 - columns of ours
            for sql in more:
                tx.execute(sql)

        engine = bare()
        engine.script(
            migrate.script_of(first), user_version=1, record=migrate.recorder(first, record)
        )
        with engine.read() as tx:
            return fingerprint.of_database(tx, {"store", "schema_migrations", *without})

    return make


def test_it_is_made_as_the_format_says(made):
    """Written down once more by hand, from the format's own words."""
    names = (b"name", b"at", b"integer", b"real", b"text", b"blob")
    columns = b"".join(struct.pack(">I", len(n)) + n for n in names)
    first = b"t" + struct.pack(">I", 1) + b"b" + b"i" + struct.pack(">q", 1)
    first += b"i" + struct.pack(">q", 7) + b"nnn"
    second = b"t" + struct.pack(">I", 1) + b"a" + b"i" + struct.pack(">q", 2) + b"nnnn"
    table = hashlib.sha256(columns + first + second).digest()
    whole = struct.pack(">I", 6) + b"things" + struct.pack(">Q", 2) + table

    assert made(ROWS[:2]) == hashlib.sha256(whole).hexdigest()


def test_the_order_in_which_rows_came_does_not_count(made):
    assert made(ROWS) == made(list(reversed(ROWS)))


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        ([], "4003fb7668d1c337f507427c502aca06dd49ef72ba3f84b037e14b174ef89e6c"),
        (ROWS, "ee4f7af1d3c0dfd8b3b6b3cd1406ff6856686de654149106f840e61fa9442381"),
    ],
)
def test_it_is_one_and_the_same_on_every_engine(made, rows, known):
    assert made(rows) == known


def test_indexes_and_gaps_do_not_count(made):
    gone = ["INSERT INTO things (name, at) VALUES ('gone', 9)", "DELETE FROM things WHERE at = 9"]

    assert made(ROWS, more=["CREATE INDEX by_text ON things (text)", *gone]) == made(ROWS)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[1:],
        [*ROWS, ("more", 0, None)],
        [("A", 2, None), *ROWS[1:]],
        [("a", 3, None), *ROWS[1:]],
        [("a", 2, ""), *ROWS[1:]],
        [("a", 2, b""), *ROWS[1:]],
        [("a", 2, 0), *ROWS[1:]],
        [*ROWS[:1], ("b", 1, 7.0), *ROWS[2:]],
        [*ROWS[:1], ("b", 1, "7"), *ROWS[2:]],
        [*ROWS[:1], ("b", 1, b"7"), *ROWS[2:]],
        [*ROWS[:2], ("ä", 1, b"\0\0"), *ROWS[3:]],
        [*ROWS[:2], ("ä", 1, "0"), *ROWS[3:]],
        [*ROWS[:2], ("a\u0308", 1, b"\0"), *ROWS[3:]],
    ],
)
def test_any_other_row_or_value_or_type_is_another_fingerprint(made, rows):
    assert made(rows) != made(ROWS)


def test_a_value_cannot_move_into_its_neighbour(made):
    assert made([("ab", 1, "c")]) != made([("a", 1, "bc")])


def test_other_names_of_columns_are_another_fingerprint(made):
    renamed = TABLE.replace("name    TEXT", "names TEXT").replace("at, name", "at, names")

    assert made(ROWS, table=renamed) != made(ROWS)


def test_an_empty_table_counts_and_one_left_out_does_not(made):
    more = ["CREATE TABLE empty (a TEXT)"]

    assert made(ROWS, more=more) != made(ROWS)
    assert made(ROWS, more=more, without={"empty"}) == made(ROWS)


def test_names_that_need_quotes_are_read_like_others(made):
    odd = 'CREATE TABLE "a ""b"" -- c" ("select" TEXT, "ö :x %s" TEXT)'
    filled = """INSERT INTO "a ""b"" -- c" VALUES ('1', '2')"""

    assert made(ROWS, more=[odd, filled]) != made(ROWS, more=[odd])


def test_rows_without_a_key_are_ordered_by_all_they_hold(made):
    table = TABLE.replace(",\n    PRIMARY KEY (at, name)", "")
    rows = [*ROWS, ("a", 2, 1), ("a", 2, None), ("a", 2, "y")]

    assert table != TABLE
    assert made(rows, table=table) == made(list(reversed(rows)), table=table)


@pytest.mark.files
def test_a_text_that_is_none_is_told_by_its_table(made):
    with pytest.raises(StoreUnusableError, match="table things: a text in it is no UTF-8"):
        made([], more=["INSERT INTO things (name, at) VALUES (CAST(x'ff' AS TEXT), 1)"])


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3), st.binary(max_size=3))))
def test_two_tables_have_one_fingerprint_exactly_when_they_have_the_same_rows(rows):
    """Of the encoding alone, without a database: what is hashed can be read back."""

    def encoded(some):
        return b"".join(fingerprint._ENCODED[type(v)](v) for row in some for v in row)

    assert encoded(rows) == encoded([tuple(row) for row in rows])
    for other in (rows[1:], [*rows, ("", 0, b"")], [(*row[:2], row[2] + b"\0") for row in rows]):
        assert (encoded(other) == encoded(rows)) is (other == rows)


def test_each_table_of_a_store_is_listed_with_its_rows(engine):
    with engine.read() as tx:
        tables = fingerprint.of_tables(tx)
        names = [table.name for table in tables]
        assert names == sorted(names)
        assert {"memories", "audit", "schema_migrations"} <= set(names)
        assert {t.name: t.rows for t in tables}["principals"] == 1
        assert fingerprint.combined(tables) == fingerprint.of_database(tx)


def test_a_change_of_a_store_is_seen(engine):
    with engine.write() as tx:
        before = fingerprint.of_database(tx)
        principals.remove(tx, "prn_1", 5)
        assert fingerprint.of_database(tx) != before
