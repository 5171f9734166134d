"""SQLite, the engine of files: how they are opened, kept open and closed, and its errors."""

import threading
from collections import Counter
from stat import S_IMODE

import apsw
import pytest

from codeflow_memory.domain.errors import (
    BusyError,
    CodeflowError,
    DeadlineExceededError,
    InternalError,
    StorageFullError,
    StoreUnusableError,
)
from codeflow_memory.storage import approvals
from codeflow_memory.storage import sqlite as engines
from codeflow_memory.storage.engine import APPLICATION_ID
from codeflow_memory.storage.sqlite import SQLiteEngine, translated

pytestmark = pytest.mark.files


@pytest.fixture
def empty(tmp_path):
    made = SQLiteEngine(tmp_path / "some.sqlite", busy_timeout_ms=50)
    made.create()
    yield made
    made.close()


class Time:
    """Stands still but for those who sleep; remembers how long they did."""

    def __init__(self):
        self.at = 1_000.0
        self.waits = []

    def monotonic(self):
        return self.at

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.at += seconds


@pytest.fixture
def still(monkeypatch):
    """The engine's time, in the test's hand."""
    made = Time()
    monkeypatch.setattr(engines, "time", made)
    return made


@pytest.fixture
def numbers(empty):
    empty.script("CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT", user_version=1)
    return empty


def add(tx, *values):
    for n in values:
        tx.execute("INSERT INTO numbers (n) VALUES (:n)", {"n": n})


def read(engine):
    with engine.read() as tx:
        return [n for (n,) in tx.rows("SELECT n FROM numbers ORDER BY n")]


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("journal_mode", "delete"),
        ("synchronous", 3),
        ("secure_delete", 1),
        ("foreign_keys", 1),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
        ("temp_store", 2),
        ("mmap_size", 0),
    ],
)
def test_a_database_is_opened_as_the_contract_says(numbers, pragma, expected):
    with numbers.read() as tx:
        found = tx.value(f"PRAGMA {pragma}")

    assert found in {expected, None}
    assert found == expected or pragma == "mmap_size"


def test_a_connection_is_defensive(numbers):
    """Else a statement could write to the schema's own table, and damage the file by it."""
    with numbers.write() as tx:
        tx.execute("PRAGMA writable_schema = ON")
        with pytest.raises(apsw.SQLError, match="may not be modified"):
            tx.execute("UPDATE sqlite_schema SET sql = ''")


def test_the_file_is_its_owners_alone_and_keeps_room_for_checksums(numbers):
    assert S_IMODE(numbers.path.stat().st_mode) == 0o600
    assert numbers.path.read_bytes()[20] == 8
    assert numbers.header() == numbers.versions() == (APPLICATION_ID, 1)


def test_an_existing_name_is_not_overwritten_and_a_link_not_followed(empty, tmp_path):
    with pytest.raises(StoreUnusableError):
        empty.create()
    link = tmp_path / "link.sqlite"
    link.symlink_to(empty.path)

    with pytest.raises(StoreUnusableError), SQLiteEngine(link).read():
        pass


def test_a_statement_is_prepared_once_whatever_its_values(tx):
    """Where statistics are compiled in, SQLite else prepares anew for each value of a key."""
    prepared = []
    # Whether a statement may be run is asked while it is prepared, and at no other time.
    tx._connection.authorizer = lambda *_: prepared.append(1) or apsw.SQLITE_OK
    for n in range(3):
        approvals.find_all(tx, "rep_1", f"mem_{n}")
        prepared.append(0)

    assert prepared[0] == 1
    assert prepared[-3:] == [0] * 3


def test_a_writer_asks_for_the_lock_every_1_to_3_ms_for_5_seconds(numbers, still):
    other = SQLiteEngine(numbers.path)

    with numbers.write(), pytest.raises(BusyError), other.write():
        pass

    assert all(0.001 <= wait <= 0.003 for wait in still.waits)
    assert len(set(still.waits)) > 1
    assert 5.0 <= sum(still.waits) < 5.003


def test_each_wait_of_a_connection_has_the_whole_of_its_time(still):
    wait = engines._polling(5_000)
    assert wait(0)

    still.at += 60
    assert wait(0)
    assert wait(1)

    still.at += 5
    assert not wait(2)


def test_a_connection_is_kept_until_it_has_idled_for_a_second(numbers, still):
    read(numbers)
    assert numbers._reaper.interval == 1.0
    ((_, connection),) = numbers._idle

    kept = []
    for seconds in (0.9, 0.2):
        numbers._reaper.cancel()
        still.at += seconds
        numbers._reap()
        kept.append(len(numbers._idle))

    assert kept == [1, 0]
    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")


def test_a_damaged_file_is_said_to_be_damaged(numbers):
    with numbers.write() as tx:
        add(tx, *range(500))
    numbers.close()
    whole = numbers.path.read_bytes()
    numbers.path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

    with pytest.raises(StoreUnusableError) as refused:
        read(numbers)

    assert str(refused.value).startswith("some.sqlite: the file is damaged")
    assert str(numbers.path.parent) not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (apsw.BusyError("x"), BusyError),
        (apsw.FullError("x"), StorageFullError),
        (apsw.InterruptError("x"), DeadlineExceededError),
        (apsw.CorruptError("x"), StoreUnusableError),
        (apsw.NotADBError("x"), StoreUnusableError),
        (apsw.CantOpenError("x"), StoreUnusableError),
        (apsw.ReadOnlyError("x"), StoreUnusableError),
        (apsw.PermissionsError("x"), StoreUnusableError),
        (apsw.IOError("x"), StoreUnusableError),
        (InternalError(), InternalError),
    ],
)
def test_errors_of_the_engine_are_told_in_the_products_words(error, expected):
    with pytest.raises(CodeflowError) as told, translated("memory.sqlite"):
        raise error

    assert type(told.value) is expected
    assert told.value.__cause__ in {error, None}


def test_a_journal_that_goes_while_it_is_asked_for_is_no_error(numbers):
    """Another process's commit takes it away between any two looks at it."""
    journal = numbers.path.with_name("some.sqlite-journal")
    done = threading.Event()

    def come_and_go():
        while not done.is_set():
            journal.write_bytes(b"x")
            journal.unlink()

    other = threading.Thread(target=come_and_go)
    other.start()
    seen = Counter[bool]()
    try:
        while seen.total() < 5_000 or len(seen) < 2:
            seen[numbers.has_journal()] += 1
    finally:
        done.set()
        other.join()

    assert set(seen) == {True, False}


def test_a_closed_engine_holds_no_connection_and_opens_again(numbers, monkeypatch):
    assert read(numbers) == []
    numbers.close()
    assert not numbers.path.with_name("some.sqlite-journal").exists()
    monkeypatch.setattr(engines, "IDLE_SECONDS", 0.01)

    assert read(numbers) == []


def test_a_connection_that_has_idled_for_a_second_is_closed_then(numbers, monkeypatch):
    """Not at the second look a second later, whatever others have been used for meanwhile."""
    clock, timers = [100.0], []

    class Timer:
        def __init__(self, seconds, look):
            timers.append((clock[0] + seconds, look))

        def start(self):
            """Time is the test's."""

        cancel = start

    monkeypatch.setattr(engines.threading, "Timer", Timer)
    monkeypatch.setattr(engines.time, "monotonic", lambda: clock[0])
    numbers.close()
    with numbers.read(), numbers.read():
        clock[0] = 100.0
    first, look = timers.pop()
    clock[0] = 100.75
    read(numbers)
    clock[0] = first
    look()
    second, look = timers.pop()
    clock[0] = second

    look()

    assert (first, second) == (101.0, 101.75)
    assert timers == []
    assert numbers._idle == []
