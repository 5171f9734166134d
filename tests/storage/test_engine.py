"""The seam: what a transaction keeps and shows, the same on both engines."""

import threading
import time

import pytest

from codeflow_memory.domain import deadline
from codeflow_memory.domain.deadline import Deadline
from codeflow_memory.domain.errors import BusyError, DeadlineExceededError, NotFoundError
from codeflow_memory.storage import migrate
from codeflow_memory.storage.engine import APPLICATION_ID, Table
from codeflow_memory.storage.migrate import Migration

STORE = "CREATE TABLE store (singleton INTEGER PRIMARY KEY) STRICT; INSERT INTO store VALUES (1);"
NUMBERS = "CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT;"
VALUES = """
CREATE TABLE "values" (
    place   INTEGER NOT NULL PRIMARY KEY,
    integer INTEGER,
    real    REAL,
    text    TEXT,
    blob    BLOB
) STRICT;
"""


@pytest.fixture
def empty(bare):
    return bare(busy_timeout_ms=50)


@pytest.fixture
def made(empty):
    """The engine of a database of one schema, whose tables are the test's."""

    def make(*tables: str):
        apply(empty, *tables)
        return empty

    return make


@pytest.fixture
def numbers(made):
    return made(NUMBERS)


def apply(engine, *tables, record=None) -> None:
    """Bring an empty database to its first schema."""
    first = [Migration(1, "0001_first.sql", "\n".join((STORE, *tables)))]
    script, recorder = migrate.script_of(first), migrate.recorder(first, record)
    engine.script(script, user_version=1, record=recorder)


def add(tx, *values):
    for n in values:
        tx.execute("INSERT INTO numbers (n) VALUES (:n)", {"n": n})


def fail(tx):
    """Write, on two levels, and then refuse."""
    add(tx, 2)
    with tx.attempt():
        add(tx, 3)
    raise NotFoundError("memory", "mem_1")


def read(engine):
    with engine.read() as tx:
        return [n for (n,) in tx.rows("SELECT n FROM numbers ORDER BY n")]


def test_a_script_whose_record_fails_leaves_nothing(empty):
    with pytest.raises(NotFoundError):
        apply(empty, NUMBERS, record=fail)

    assert empty.versions() == (0, 0)
    apply(empty, NUMBERS)
    assert read(empty) == []


def test_a_script_and_its_record_are_written_together(empty):
    apply(empty, NUMBERS, record=lambda tx: add(tx, 7))

    assert empty.versions() == empty.header() == (APPLICATION_ID, 1)
    assert read(empty) == [7]


def test_an_error_in_the_block_keeps_nothing(numbers):
    with pytest.raises(NotFoundError), numbers.write() as tx:
        fail(tx)

    assert read(numbers) == []
    assert not numbers.written


def test_a_block_that_ends_is_kept_and_said_to_have_written(numbers):
    with numbers.write() as tx:
        add(tx, 1)

    assert read(numbers) == [1]
    assert numbers.written


def test_an_attempt_that_fails_undoes_itself_alone(numbers):
    with numbers.write() as tx:
        add(tx, 1)
        with pytest.raises(NotFoundError), tx.attempt():
            fail(tx)
        with tx.attempt():
            add(tx, 4)

    assert read(numbers) == [1, 4]


def test_a_statement_that_fails_in_an_attempt_leaves_the_transaction_alive(
    numbers, constraint_error
):
    with numbers.write() as tx:
        add(tx, 1)
        for _ in range(2):
            with pytest.raises(constraint_error), tx.attempt():
                add(tx, 2, 3, 1)
        assert tx.is_alive()
        add(tx, 4)

    assert read(numbers) == [1, 4]


def test_a_statement_tells_how_many_rows_it_changed(numbers):
    with numbers.write() as tx:
        add(tx, 1, 2, 3)

        assert tx.execute("UPDATE numbers SET n = n + 10 WHERE n > 1") == 2
        assert tx.execute("DELETE FROM numbers WHERE n > 10 RETURNING n") == 2
        assert tx.execute("DELETE FROM numbers WHERE n > 99") == 0
        assert tx.execute("INSERT INTO numbers VALUES (1) ON CONFLICT (n) DO NOTHING") == 0
        assert (tx.row("SELECT n FROM numbers WHERE n = 9"), tx.value("SELECT 7")) == (None, 7)


def test_a_writer_waits_no_longer_than_its_timeout_and_writes_nothing(numbers):
    with numbers.write() as tx:
        add(tx, 1)
        with pytest.raises(BusyError), numbers.write() as other:
            add(other, 2)

    assert read(numbers) == [1]


def test_what_a_writer_writes_is_seen_when_it_is_committed(numbers):
    seen = []
    with numbers.write() as tx:
        add(tx, 1)
        reader = threading.Thread(target=lambda: seen.append(read(numbers)))
        reader.start()
        reader.join()

    assert seen == [[]]
    assert read(numbers) == [1]


def test_rows_are_streamed_while_other_statements_run_and_more_of_them_than_a_batch(numbers):
    with numbers.write() as tx:
        tx.executemany("INSERT INTO numbers (n) VALUES (:n)", ({"n": n} for n in range(1_200)))
        pairs = zip(
            tx.stream("SELECT n FROM numbers ORDER BY n"),
            tx.stream("SELECT n FROM numbers ORDER BY n DESC"),
            strict=True,
        )
        for (up,), (down,) in pairs:
            assert up + down == 1_199
            assert tx.value("SELECT COUNT(*) FROM numbers WHERE n < :n", {"n": up}) == up


def test_a_stream_that_nobody_reads_to_its_end_disturbs_nothing(numbers):
    with numbers.write() as tx:
        add(tx, *range(3))
    with numbers.read() as tx:
        left = tx.stream("SELECT n FROM numbers ORDER BY n")
        assert next(left) == (0,)
    with numbers.write() as tx:
        left.close()
        add(tx, 9)

    assert read(numbers) == [0, 1, 2, 9]


@pytest.mark.parametrize("count", [0, 1, 1_001])
def test_many_rows_are_written_by_name_or_by_place(made, count):
    engine = made(VALUES)
    sql = 'INSERT INTO "values" (place, text) VALUES (:place, :text)'
    with engine.write() as tx:
        tx.executemany(sql, ({"text": f"{n}", "place": n} for n in range(count)))
        tx.executemany(sql, ((-n, f"{-n}") for n in range(1, count)))

    with engine.read() as tx:
        rows = tx.rows('SELECT place, text FROM "values" ORDER BY place')
    assert rows == [(n, str(n)) for n in range(1 - count, count)]


def test_of_many_rows_of_which_one_is_refused_none_is_kept(numbers, constraint_error):
    with numbers.write() as tx, pytest.raises(constraint_error), tx.attempt():
        tx.executemany("INSERT INTO numbers (n) VALUES (:n)", [(1,), (2,), (1,)])

    assert read(numbers) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("integer", n) for n in (0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))),
        *(("real", x) for x in (0.1, -0.5, 1e-300, 1.7e308, 5e-324, 0.0)),
        *(("text", s) for s in ("", "ä a\u0308 \U0001f9ff", "':x' %s %% \\ \"", "\x01\n\u2028")),
        *(("blob", b) for b in (b"", b"\0\xff\\000'", bytes(range(256)))),
        *((c, None) for c in ("integer", "real", "text", "blob")),
    ],
)
def test_a_value_comes_back_as_it_went(made, column, value):
    engine = made(VALUES)
    with engine.write() as tx:
        tx.execute(f'INSERT INTO "values" (place, {column}) VALUES (1, :value)', {"value": value})  # noqa: S608 - a column of ours

    with engine.read() as tx:
        found = tx.value(f'SELECT {column} FROM "values" WHERE {column} IS NOT NULL')  # noqa: S608 - a column of ours
    assert found == value
    assert type(found) is type(value)


def test_truths_are_0_and_1_and_sums_are_integers(made):
    engine = made(VALUES)
    with engine.write() as tx:
        for place, flag in enumerate((True, False, True)):
            tx.execute(
                'INSERT INTO "values" (place, integer) VALUES (:place, :flag)',
                {"place": place, "flag": flag},
            )

        row = tx.row(
            """
            SELECT SUM(integer), COUNT(*), MAX(integer), MIN(integer) = 0, 1 > 2,
                   COALESCE(SUM(real), 0), EXISTS (SELECT 1 FROM store)
              FROM "values"
            """
        )

    assert row == (2, 3, 1, 1, 0, 0, 1)
    assert {type(value) for value in row} <= {int, float}


def test_texts_are_ordered_by_their_bytes(made):
    engine = made(VALUES)
    texts = ["B", "a", "Z", "ä", "a b", "a-b", "_", "\U0001f9ff", "é", "1", "10", "2"]
    with engine.write() as tx:
        tx.executemany('INSERT INTO "values" (place, text) VALUES (:p, :t)', enumerate(texts))
        found = [text for (text,) in tx.rows('SELECT text FROM "values" ORDER BY text')]
        below = tx.value('SELECT COUNT(*) FROM "values" WHERE text < :t', {"t": "a"})

    assert found == sorted(texts, key=str.encode)
    assert below == len([text for text in texts if text < "a"])


def test_a_list_goes_in_by_one_parameter(numbers):
    with numbers.write() as tx:
        add(tx, *range(5))

        found = tx.rows(
            """
            SELECT n
              FROM numbers
             WHERE n IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))
             ORDER BY n
            """,
            {"ids": "[1, 3, 99]"},
        )

    assert found == [(1,), (3,)]


def test_the_tables_are_told_with_columns_and_key_in_their_order(made):
    pairs = 'CREATE TABLE "Pairs" (c TEXT, b INTEGER, a TEXT, PRIMARY KEY (a, b)) STRICT;'
    engine = made(VALUES, pairs, "CREATE TABLE loose (x TEXT) STRICT;")

    with engine.read() as tx:
        tables = {table.name: table for table in tx.tables()}

    assert list(tables) == ["Pairs", "loose", "schema_migrations", "store", "values"]
    assert tables["Pairs"] == Table("Pairs", ("c", "b", "a"), ("a", "b"))
    assert tables["loose"] == Table("loose", ("x",), ())
    assert tables["values"].key == ("place",)


ENDLESS = """
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 999999999)
SELECT MAX(n) FROM r
"""
"""A statement that takes much longer than a test may."""


@pytest.fixture
def limited():
    """Set the deadline, so many seconds from now."""
    tokens = []

    def limit(seconds: float) -> Deadline:
        made = Deadline(time.monotonic() + seconds)
        tokens.append(deadline.current.set(made))
        return made

    yield limit
    for token in reversed(tokens):
        deadline.current.reset(token)


@pytest.mark.parametrize("seconds", [-1, 0.05])
def test_a_deadline_stops_a_statement_before_or_while_it_runs(numbers, limited, seconds):
    limited(seconds)

    with pytest.raises(DeadlineExceededError), numbers.read() as tx:
        tx.value(ENDLESS)


def test_what_is_cancelled_meanwhile_writes_nothing(numbers, limited):
    limit = limited(60)

    def work(tx):
        add(tx, 1)
        limit.cancelled = True
        tx.value(ENDLESS)

    with pytest.raises(DeadlineExceededError), numbers.write() as tx:
        work(tx)

    limit.cancelled = False
    assert read(numbers) == []


def test_the_size_grows_with_what_is_kept(made):
    engine = made(VALUES)
    before = engine.size_bytes()
    with engine.write() as tx:
        tx.execute('INSERT INTO "values" (place, blob) VALUES (1, :b)', {"b": b"x" * 9_999})

    assert engine.size_bytes() > before > 0
    assert engine.quick_check() is None
    assert not engine.has_journal()
