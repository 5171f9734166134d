"""A tenant's role can touch nothing else: tried, with whatever a statement could ask for."""

import threading
from contextlib import closing, suppress

import psycopg
import pytest
from psycopg import errors, sql

from codeflow_memory.domain.errors import CodeflowError, NotFoundError, StoreUnusableError
from codeflow_memory.storage import connections, postgresql
from codeflow_memory.storage.postgresql import as_tenant
from codeflow_memory.storage.schemas import Schemas

from ..postgresql import USER

TABLES = 30
"""At least so many has a tenant."""

VERBS = (
    "SELECT COUNT(*) FROM {}",
    "INSERT INTO {} DEFAULT VALUES",
    "DELETE FROM {}",
    "TRUNCATE {} CASCADE",
    "LOCK TABLE {} IN ACCESS SHARE MODE",
    "ALTER TABLE {} RENAME TO taken",
    "ALTER TABLE {} OWNER TO cfm_ash",
    "DROP TABLE {} CASCADE",
    "COPY {} TO STDOUT",
    "CREATE INDEX ON {} ((1))",
    "CREATE TABLE mine (LIKE {})",
    "CREATE VIEW mine AS SELECT 1 FROM {}",
)


@pytest.fixture(scope="module")
def url(cluster, database, module_schemas):
    """A database with two unlike tenants, and something of others in it."""
    with module_schemas.engine("birch").write() as tx:
        tx.execute("DELETE FROM repositories")
    module_schemas.close()
    for statement in (
        "CREATE TABLE public.common (n INTEGER)",
        "CREATE SCHEMA others",
        "CREATE TABLE others.secrets (n INTEGER)",
        "CREATE FUNCTION cfm_birch.told() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'",
        "SELECT lo_from_bytea(4711, 'secret')",
    ):
        cluster.sql(statement, database)
    return cluster.url(database)


@pytest.fixture(scope="module")
def connection(url):
    with closing(psycopg.connect(url, autocommit=True)) as made:
        yield made


@pytest.fixture
def as_ash(connection):
    """Run statements as the product does for the tenant ``ash``; nothing of it stays."""

    def run(*statements):
        with suppress(psycopg.Rollback), connection.transaction():
            connection.execute(as_tenant("cfm_ash", "cfm_ash"))
            for statement in statements:
                found = connection.execute(statement)
            rows = found.fetchall() if found.description else []
            raise psycopg.Rollback
        return rows

    return run


def tables_of(cluster, database, schema):
    found = cluster.sql("SELECT schemaname, tablename FROM pg_tables ORDER BY tablename", database)
    return [name for place, name in found if place == schema]


def columns_of(cluster, database, schema):
    names = "SELECT table_schema, table_name, column_name FROM information_schema.columns"
    return [(table, name) for place, table, name in cluster.sql(names, database) if place == schema]


@pytest.mark.parametrize("verb", VERBS)
def test_no_table_of_another_tenant_can_be_touched(as_ash, cluster, database, verb):
    tables = tables_of(cluster, database, "cfm_birch")
    assert len(tables) >= TABLES

    for name in tables:
        place = sql.Identifier("cfm_birch", name)
        with pytest.raises(errors.InsufficientPrivilege):
            as_ash(sql.SQL(verb).format(place))


def test_no_column_of_another_tenant_can_be_changed(as_ash, cluster, database):
    columns = columns_of(cluster, database, "cfm_birch")
    assert len(columns) > 100

    for table, column in columns:
        update = sql.SQL("UPDATE {} SET {} = NULL")
        with pytest.raises(errors.InsufficientPrivilege):
            as_ash(update.format(sql.Identifier("cfm_birch", table), sql.Identifier(column)))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.mine (n INTEGER)",
        "CREATE TABLE others.mine (n INTEGER)",
        "CREATE TABLE cfm_birch.mine (n INTEGER)",
        "CREATE TEMPORARY TABLE mine (n INTEGER)",
        "CREATE SCHEMA mine",
        "CREATE EXTENSION pg_trgm",
        "SELECT n FROM public.common",
        "SELECT n FROM others.secrets",
        "SELECT cfm_birch.told()",
        "DROP SCHEMA cfm_birch CASCADE",
        "ALTER SCHEMA cfm_birch OWNER TO cfm_ash",
        "ALTER SCHEMA cfm_birch RENAME TO mine",
        "COMMENT ON SCHEMA cfm_birch IS 'ash'",
        "GRANT USAGE ON SCHEMA cfm_birch TO cfm_ash",
        "CREATE ROLE mine",
        "ALTER ROLE cfm_ash SUPERUSER",
        "ALTER ROLE cfm_ash LOGIN",
        f"ALTER ROLE {USER} CREATEDB",
        f"ALTER ROLE {USER} PASSWORD 'mine'",
        "ALTER ROLE cfm_birch LOGIN",
        "DROP ROLE cfm_birch",
        "GRANT cfm_birch TO cfm_ash",
        "GRANT pg_read_all_data TO cfm_ash",
        f"GRANT {USER} TO cfm_ash",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "COPY repositories TO PROGRAM 'cat'",
        "COPY repositories TO '/mine'",
        "COPY repositories FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_read_binary_file('postgresql.conf')",
        "SELECT pg_ls_dir('.')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(4711, '/mine')",
        "SELECT lo_get(4711)",
        "SELECT lo_unlink(4711)",
        "SELECT rolpassword FROM pg_authid",
        "SET LOCAL session_replication_role = replica",
        "SELECT pg_reload_conf()",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "CREATE FUNCTION mine() RETURNS INTEGER LANGUAGE internal AS 'int4pl'",
        "CREATE FUNCTION mine() RETURNS INTEGER LANGUAGE c AS 'libc'",
    ],
)
def test_nothing_outside_of_its_schema_can_be_done(as_ash, statement):
    with pytest.raises((errors.InsufficientPrivilege, errors.FeatureNotSupported)):
        as_ash(statement)


@pytest.mark.parametrize(
    "statement",
    ["CREATE DATABASE mine", "ALTER SYSTEM SET log_statement = 'all'", "DROP DATABASE postgres"],
)
def test_neither_can_what_is_done_outside_of_a_transaction(connection, statement):
    connection.execute("SET ROLE cfm_ash")
    try:
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement)
    finally:
        connection.execute("RESET ROLE")


def test_what_others_run_is_not_shown(as_ash, url):
    with closing(psycopg.connect(url)) as other:
        other.execute("SELECT 'what another runs'")
        shown = as_ash("SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    assert shown
    assert {query for (query,) in shown} <= {"", "<insufficient privilege>"}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (n INTEGER)",
        "SELECT COUNT(*) FROM repositories",
        "SELECT relname FROM pg_class WHERE relnamespace = 'cfm_birch'::regnamespace",
        "SELECT rolname FROM pg_roles",
        "SELECT datname FROM pg_database",
        "SELECT pg_advisory_xact_lock(1)",
        "SELECT lo_create(0)",
        "NOTIFY somebody",
    ],
)
def test_what_the_role_can_still_do_is_known(as_ash, statement):
    """The names of others' tables are no secret of the server, which has one catalogue."""
    as_ash(statement)


@pytest.mark.parametrize("way", ["SET LOCAL ROLE cfm_birch", f"SET ROLE {USER}", "RESET ROLE"])
def test_statements_of_an_intruder_could_take_another_role(as_ash, way):
    """As much as can be said for it: the role guards against mistakes of the program. Who can put
    statements of his own into a transaction acts as the login, and is every tenant."""
    ((role,),) = as_ash(way, "SELECT current_user")

    assert role != "cfm_ash"


def test_the_login_by_itself_reads_no_tenant(connection, cluster, database):
    for schema in ("cfm_ash", "cfm_birch"):
        for name in tables_of(cluster, database, schema):
            read = sql.SQL("SELECT 1 FROM {}").format(sql.Identifier(schema, name))
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(read)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.mine (n INTEGER)",
        "CREATE TEMPORARY TABLE mine (n INTEGER)",
        "CREATE DATABASE mine",
        "SELECT pg_read_file('/etc/passwd')",
        "SET ROLE postgres",
    ],
)
def test_the_login_by_itself_can_do_little(connection, statement):
    with pytest.raises(errors.InsufficientPrivilege):
        connection.execute(statement)


def test_who_has_no_right_to_it_does_not_get_into_the_database(cluster, database):
    cluster.sql("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(cluster.url(database, "guest"))
    finally:
        cluster.sql("DROP ROLE guest")


@pytest.fixture
def alone(url, monkeypatch):
    """The tenants by way of one connection, which all share."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    made = []

    def make():
        made.append(Schemas(url))
        return made[-1]

    yield make
    for one in made:
        one.close()


def commit(engine):
    with engine.write() as tx:
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3
        tx.execute("UPDATE repositories SET name = 'ash'")


def refuse(engine):
    def work(tx):
        tx.execute("DELETE FROM repositories")
        raise NotFoundError("memory", "mem_1")

    with pytest.raises(NotFoundError), engine.write() as tx:
        work(tx)


def fail(engine):
    with pytest.raises(psycopg.ProgrammingError), engine.write() as tx:
        tx.value("SELECT nothing_of_the_kind")


def refuse_commit(engine):
    def work(tx):
        with pytest.raises(psycopg.ProgrammingError):
            tx.value("SELECT nothing_of_the_kind")

    with pytest.raises(CodeflowError), engine.write() as tx:
        work(tx)


def cancel(engine):
    """The server is asked to stop the statement, as a deadline or an operator does."""

    def work(tx):
        timer = threading.Timer(0.05, tx._connection.cancel_safe)
        timer.start()
        try:
            tx.value("SELECT pg_sleep(60)")
        finally:
            timer.join()

    with pytest.raises(CodeflowError), engine.read() as tx:
        work(tx)


def leave_a_stream(engine):
    with engine.read() as tx:
        assert next(tx.stream("SELECT repository_id FROM repositories"))


def repeat(engine):
    """So often that the library prepares the statement for good."""
    for _ in range(8):
        with engine.read() as tx:
            assert tx.value("SELECT COUNT(*) FROM repositories") == 3


ENDS = [commit, refuse, fail, refuse_commit, cancel, leave_a_stream, repeat]


def check(schemas, end):
    """Let a transaction of one tenant end, and look at the connection, then as another tenant."""
    end(schemas.engine("ash"))

    ((_, kept),) = schemas._connections._kept
    state = kept.execute("SELECT current_user, session_user, current_setting('search_path')")
    assert state.fetchone() == (USER, USER, '"$user", public')
    assert not kept.execute("SELECT name FROM pg_cursors").fetchall()
    with pytest.raises(errors.UndefinedTable):
        kept.execute("SELECT COUNT(*) FROM repositories")
    with schemas.engine("birch").write() as tx:
        assert tx._connection is kept
        assert tx.value("SELECT current_user") == "cfm_birch"
        assert tx.value("SELECT COUNT(*) FROM repositories") == 0
    with schemas.engine("ash").read() as tx:
        assert tx._connection is kept
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3


@pytest.mark.parametrize("end", ENDS)
def test_a_connection_forgets_whose_it_was_however_the_transaction_ended(alone, end):
    check(alone(), end)


def test_a_temporary_table_that_one_tenant_left_hides_no_table(alone, cluster, database):
    """It outlives its transaction, and can be made where the database was left open to that."""
    schemas = alone()
    ash, birch = schemas.engine("ash"), schemas.engine("birch")
    cluster.sql(f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")
    try:
        with ash.write() as tx:
            tx.execute("CREATE TEMPORARY TABLE repositories (n INTEGER)")
        for engine, count in ((ash, 3), (birch, 0)):
            with engine.read() as tx:
                assert tx.value("SELECT to_regclass('pg_temp.repositories') IS NOT NULL")
                assert tx.value("SELECT COUNT(*) FROM repositories") == count
    finally:
        cluster.sql(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")


@pytest.mark.parametrize("forgotten", ["SET LOCAL ROLE", "SET LOCAL search_path"])
@pytest.mark.parametrize("end", [commit, leave_a_stream, repeat])
def test_the_check_sees_a_connection_that_remembers(alone, monkeypatch, end, forgotten):
    """Control: without LOCAL role and path outlive the transaction, and that is noticed."""

    def mutant(*names):
        kept = as_tenant(*names)
        assert forgotten in kept
        return kept.replace(forgotten, forgotten.replace("LOCAL ", ""))

    monkeypatch.setattr(postgresql, "as_tenant", mutant)

    with pytest.raises(AssertionError):
        check(alone(), end)


def test_the_check_sees_a_transaction_that_takes_no_role(alone, monkeypatch):
    """Control."""

    def mutant(*names):
        role, path = as_tenant(*names).split("; ")
        assert role.startswith("SET LOCAL ROLE")
        return path

    monkeypatch.setattr(postgresql, "as_tenant", mutant)

    with pytest.raises(StoreUnusableError):
        check(alone(), commit)
