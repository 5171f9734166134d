"""PostgreSQL, the engine beyond one machine: what it refuses, how it says so, and what it keeps."""

import threading
from contextlib import ExitStack
from random import Random

import psycopg
import pytest
from psycopg import errors

from codeflow_memory.domain.errors import (
    BusyError,
    CodeflowError,
    ContentionError,
    DeadlineExceededError,
    InternalError,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    StorageFullError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.storage import connections, postgresql, repositories
from codeflow_memory.storage.postgresql import translated
from codeflow_memory.storage.schemas import Schemas

from .conftest import fill, repository

PASSWORD = "pass-w0rd"  # noqa: S105 - of a scratch server


@pytest.fixture
def ash(module_schemas):
    """The engine of a tenant that is as it was made, whatever a test did to it."""
    engine = module_schemas.engine("ash")
    yield engine
    engine._busy_timeout_ms = 5_000
    with engine.write() as tx:
        tx.execute(
            "DELETE FROM repositories WHERE repository_id NOT IN ('rep_1', 'rep_2', 'rep_3')"
        )


def add(tx, *names):
    for name in names:
        repositories.insert(tx, repository(name))


def count(engine):
    with engine.read() as tx:
        return tx.value("SELECT COUNT(*) FROM repositories")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"user": "nobody-here"}, "the login is refused"),
        ({"dbname": "nothing-here"}, "the login is refused"),
        ({"user": "sleeper"}, "the login is refused"),
        ({"user": "stranger"}, "the login is refused"),
        ({"sslmode": "sometimes"}, "the login is refused"),
    ],
)
def test_a_login_that_is_refused_is_no_matter_of_time(cluster, database, change, told):
    """Not busy: whoever tries again is refused again. No address and no password is told."""
    roles = {"sleeper": "NOLOGIN", "stranger": "LOGIN"}
    wanted = change.get("user")
    if wanted in roles:
        cluster.sql(f"CREATE ROLE {wanted} {roles[wanted]}")
    address = psycopg.conninfo.make_conninfo(cluster.url(database), password=PASSWORD, **change)
    made = Schemas(address)
    try:
        for ask in (made.slugs, made.engine("ash").versions, lambda: made.create("oak", fill)):
            with pytest.raises(StoreUnusableError) as refused:
                ask()
            assert str(refused.value).startswith(f"the database: {told}")
            shown = f"{refused.value!r} {refused.value.__cause__!r} {made!r} {made.engine('ash')!r}"
            assert not any(word in shown for word in (PASSWORD, str(cluster.folder), "postgresql:"))
    finally:
        made.close()
        if wanted in roles:
            cluster.sql(f"DROP ROLE {wanted}")


@pytest.mark.parametrize(
    "url",
    ["postgresql://a:b@h/d?no=1", "postgresql://[::", "x = 'y", "a b", "postgresql://h:none/d"],
)
def test_what_is_no_address_is_refused_without_repeating_it(url):
    with pytest.raises(InvalidRequestError, match="is no postgresql://user@host/name") as refused:
        Schemas(url)

    assert url not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["postgresql://codeflow@/x?host=/nowhere", "postgresql://codeflow@127.0.0.1:1/x"],
)
def test_a_server_that_is_not_there_is_busy_at_once(url):
    made = Schemas(url)

    for ask in (made.slugs, made.engine("ash").versions, lambda: made.create("oak", fill)):
        with pytest.raises(UnreachableError) as refused:
            ask()
        assert refused.value.code == "busy"
        assert "127.0.0.1" not in f"{refused.value} {refused.value.__cause__}"


def test_the_first_server_of_an_address_that_answers_is_used(cluster, database):
    for form in (
        "postgres://{user}@/{name}?host=/nowhere,{folder}&target_session_attrs=read-write",
        "host=/nowhere,{folder} dbname={name} user={user}",
    ):
        made = Schemas(form.format(user="codeflow", name=database, folder=cluster.folder))
        made.slugs()
        made.close()


@pytest.mark.parametrize("slug", ["gone", "local"])
def test_a_tenant_without_schema_or_role_is_unusable(module_schemas, slug):
    engine = module_schemas.engine(slug)

    for opening in (engine.read, engine.write):
        with (
            pytest.raises(StoreUnusableError, match=f"tenant {slug}: its schema or role"),
            opening(),
        ):
            pass


def test_a_tenant_whose_schema_is_gone_is_unusable_and_not_anothers(module_schemas):
    module_schemas.create("alder", fill)
    engine = module_schemas.engine("alder")
    with engine.write() as tx:
        tx.execute("DROP SCHEMA cfm_alder CASCADE")

    assert engine.versions() == (0, 0)
    with pytest.raises(StoreUnusableError), engine.write():
        pass
    with pytest.raises(StoreUnusableError), engine.read() as tx:
        tx.value("SELECT COUNT(*) FROM repositories")


def test_a_writer_gives_up_after_its_timeout_and_others_are_not_in_its_way(ash, module_schemas):
    ash._busy_timeout_ms = 50
    with ash.write() as tx:
        add(tx, "rep_8")
        with pytest.raises(BusyError) as refused, ash.write():
            pass
        assert type(refused.value) is BusyError
        with module_schemas.engine("birch").write() as other:
            assert other.value("SELECT COUNT(*) FROM repositories") == 3

    assert count(ash) == 4


def test_a_reader_keeps_its_snapshot_while_another_writes(ash):
    with ash.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3
        with ash.write() as other:
            add(other, "rep_8")
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3

    assert count(ash) == 4


def test_a_writer_that_waited_sees_what_the_one_before_it_wrote(ash):
    seen, started = [], threading.Event()

    def write():
        started.set()
        with ash.write() as tx:
            seen.append(tx.value("SELECT COUNT(*) FROM repositories"))

    with ash.write() as tx:
        waits = threading.Thread(target=write)
        waits.start()
        started.wait()
        add(tx, "rep_8")
    waits.join()

    assert seen == [4]


def test_a_reader_writes_nothing(ash):
    with pytest.raises(StoreUnusableError, match="read only"), ash.read() as tx:
        add(tx, "rep_8")

    assert count(ash) == 3


def pass_over(tx):
    add(tx, "rep_8")
    with pytest.raises(psycopg.IntegrityError):
        add(tx, "rep_1")


@pytest.mark.parametrize(
    "work", [pass_over, lambda tx: tx.execute("COMMIT"), lambda tx: tx.execute("ROLLBACK")]
)
def test_a_commit_that_would_keep_nothing_is_an_error_and_no_success(ash, work):
    with pytest.raises(InternalError), ash.write() as tx:
        work(tx)

    assert count(ash) == 3


def test_a_connection_that_is_lost_is_an_error_and_no_success(ash, cluster):
    def lose(tx):
        add(tx, "rep_8")
        pid = tx.value("SELECT pg_backend_pid()")
        cluster.sql(f"SELECT pg_terminate_backend({pid}, 5000)")
        with pytest.raises(psycopg.OperationalError):
            tx.value("SELECT 1")
        assert not tx.is_alive()

    with pytest.raises(UnreachableError), ash.write() as tx:
        lose(tx)

    assert count(ash) == 3


def test_a_transaction_without_statements_ends_after_a_time(ash, module_schemas, monkeypatch):
    """A process that hangs must not keep all others from writing."""
    monkeypatch.setattr(connections, "IN_TRANSACTION_SECONDS", 1)
    own = Schemas(module_schemas._url)

    def hang(tx):
        add(tx, "rep_8")
        with ash.write():
            pass
        tx.value("SELECT 1")

    try:
        with pytest.raises(UnreachableError), own.engine("ash").write() as tx:
            hang(tx)
    finally:
        own.close()

    assert count(ash) == 3


def test_a_transaction_that_is_over_runs_nothing_on_the_connection_of_another(
    module_schemas, monkeypatch
):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    own = Schemas(module_schemas._url)
    with own.engine("ash").read() as tx:
        unread, unbegun = (tx.stream("SELECT repository_id FROM repositories") for _ in range(2))
        assert next(unread)
        over = tx

    with own.engine("birch").write() as tx:
        ours = tx.stream("SELECT repository_id FROM repositories ORDER BY repository_id")
        first = next(ours)
        for use in (
            lambda: over.value("SELECT 1"),
            lambda: over.execute("DELETE FROM repositories"),
            lambda: over.executemany("DELETE FROM repositories WHERE name = :n", [("x",)]),
            lambda: next(unbegun),
        ):
            with pytest.raises(InternalError):
                use()
        unread.close()
        assert [first, *ours] == [("rep_1",), ("rep_2",), ("rep_3",)]
    own.close()


REFUSED = (psycopg.DataError, UnicodeEncodeError, InvalidRequestError)


def test_a_value_that_no_column_can_hold_is_an_error_and_nothing_is_kept(ash):
    with ash.write() as tx:
        for value in (2**63, -(2**63) - 1, "\0", "\ud800"):
            with pytest.raises(REFUSED), tx.attempt():
                tx.execute("UPDATE repositories SET name = :value", {"value": value})

    assert count(ash) == 3


def test_a_text_that_no_index_can_hold_is_beyond_a_limit_and_not_a_matter_of_time(ash):
    """Only one that cannot be compressed: nobody has such a path, but anybody can send one."""
    like_a_path = "/srv/" + "/".join(f"folder-{n}" for n in range(400))
    chance = Random(7).randbytes(1_400).hex()  # noqa: S311 - repeatable on purpose
    assert len(like_a_path) > 4_000

    with ash.write() as tx:
        repositories.add_aliases(tx, "rep_1", [Alias(Fact.PATH, like_a_path[:4_096])], 1)
        with pytest.raises(psycopg.OperationalError, match="maximum 2704"), tx.attempt():
            repositories.add_aliases(tx, "rep_1", [Alias(Fact.PATH, chance)], 1)
    with pytest.raises(LimitExceededError), ash.write() as tx:
        repositories.add_aliases(tx, "rep_1", [Alias(Fact.PATH, chance)], 1)


STATES = [
    ("55P03", BusyError),
    ("40001", ContentionError),
    ("40P01", ContentionError),
    ("57014", DeadlineExceededError),
    ("53100", StorageFullError),
    ("XX001", StoreUnusableError),
    ("XX002", StoreUnusableError),
    ("58000", StoreUnusableError),
    ("58030", StoreUnusableError),
    ("58P01", StoreUnusableError),
    ("58P02", StoreUnusableError),
    ("42P01", StoreUnusableError),
    ("42704", StoreUnusableError),
    ("3F000", StoreUnusableError),
    ("42501", StoreUnusableError),
    ("22023", StoreUnusableError),
    ("25006", StoreUnusableError),
    ("54000", LimitExceededError),
    ("54001", InternalError),
    ("54011", InternalError),
    ("25P03", UnreachableError),
    ("53200", UnreachableError),
    ("53300", UnreachableError),
    ("57P01", UnreachableError),
    ("08006", UnreachableError),
]


@pytest.mark.parametrize(("state", "expected"), STATES)
def test_errors_of_the_server_are_told_in_the_products_words(ash, state, expected):
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'secret words' USING ERRCODE = '{state}'; END $$"

    def work(tx):
        add(tx, "rep_8")
        tx.execute(raising)

    with pytest.raises(CodeflowError) as told, ash.write() as tx:
        work(tx)

    assert type(told.value) is expected
    assert "secret" not in str(told.value)
    assert count(ash) == 3


def test_each_entry_of_the_table_of_errors_is_tried():
    tried = {errors.lookup(state) for state, _ in STATES}
    known = {kind for kinds, _ in postgresql._TRANSLATED for kind in kinds}

    assert known - tried == {psycopg.OperationalError, psycopg.InterfaceError}


@pytest.mark.parametrize("error", [psycopg.OperationalError("x"), psycopg.InterfaceError("x")])
def test_an_error_of_the_connection_itself_means_that_it_is_unreachable(error):
    with pytest.raises(UnreachableError), translated("tenant ash"):
        raise error


@pytest.mark.parametrize(
    "error",
    [
        errors.UndefinedColumn("x"),
        errors.SyntaxError("x"),
        errors.UniqueViolation("x"),
        psycopg.DataError("x"),
        NotFoundError("memory", "mem_1"),
        KeyError("x"),
    ],
)
def test_any_other_error_stays_what_it_is(error):
    with pytest.raises(type(error)) as told, translated("tenant ash"):
        raise error

    assert told.value is error


def test_more_at_once_than_connections_wait_and_are_busy_at_last(module_schemas, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 0.1)
    own = Schemas(module_schemas._url)
    engine = own.engine("ash")
    with ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(engine.read())
        with pytest.raises(BusyError), engine.read():
            pass

    assert count(engine) == 3
    own.close()
