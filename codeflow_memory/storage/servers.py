"""The server of a PostgreSQL database: whether it lets us in, and how it is set up for us.

Nothing that is said here holds a password, or what could be a piece of one that was written wrong.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from codeflow_memory.domain.errors import (
    InvalidRequestError,
    StoreUnusableError,
    UnreachableError,
)
from codeflow_memory.storage.databases import Finding

CONNECT_SECONDS: Final = 5
NAME: Final = "codeflow-memory"
"""What the server's own lists call our connections."""

OLDEST: Final = 150_000
"""The oldest version that the tests run on; what is older gets no repairs any more."""

TAKEN_ROLE: Final = "the role is not ours alone"
"""Said by the server where a tenant's role is others' too."""

NO_RIGHTS: Final = "it cannot be made: the login needs CREATEROLE, and CREATE on the database"

_MAJOR: Final = 10_000
_COMMANDS: Final = 4
"""Connections for commands beside a server."""


def checked(url: str) -> dict[str, Any]:
    """Return the parts of a database's address.

    Raises:
        InvalidRequestError: It is none, or a sign in its password cut it at another place.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # What libpq says of it quotes pieces.
        raise _no_address() from None
    ports = str(parts.get("port", "")).replace(",", "")
    if not (ports.isdigit() or not ports) or any(
        "@" in str(parts.get(name, "")) for name in ("host", "dbname")
    ):
        raise _no_address()
    return parts


def reach(url: str, first: str) -> None:
    """Connect once, so that what is wrong is told before anything waits for it or is made.

    Args:
        url: Names the database and the login.
        first: The schema without which nothing is served: it is there, or can be made.

    Raises:
        InvalidRequestError: *url* is no address.
        UnreachableError: Nobody answers there, or not to this login; the sentence says what was.
        StoreUnusableError: The server is too old, the database cannot hold every text, or the
            login may not make what is missing.
    """
    with _connected(url) as connection:
        info = connection.info
        check_fitness(info.server_version, info.parameter_status("server_encoding") or "")
        if connection.execute(_USABLE, {"first": first}).fetchone() is None:
            raise StoreUnusableError("the first tenant", NO_RIGHTS)


def check_fitness(version: int, encoding: str) -> None:
    """Refuse a server that the schema was not made for.

    Raises:
        StoreUnusableError: It is older than `OLDEST`, or its encoding is not UTF-8.
    """
    if version < OLDEST:
        detail = f"PostgreSQL {version // _MAJOR} is too old: {OLDEST // _MAJOR} or newer is needed"
        raise StoreUnusableError("the database", detail)
    if encoding != "UTF8":
        detail = f"its encoding is {encoding}: make it with ENCODING 'UTF8' TEMPLATE template0"
        raise StoreUnusableError("the database", detail)


def findings(url: str, wanted_connections: int) -> Iterator[Finding]:
    """Say how the server is set up, and by which statement what is wrong is put right.

    Args:
        url: Names the database and the login.
        wanted_connections: What one server process may take.
    """
    with _connected(url) as connection:
        facts = connection.cursor(row_factory=dict_row).execute(_FACTS).fetchone()
        version = connection.info.parameter_status("server_version")
    if facts is None:
        return
    where = f"PostgreSQL {version}, database {facts['database']}, login {facts['login']}"
    yield Finding("engine", where)
    yield from _of_login(facts)
    yield from _of_public(facts)
    yield from _of_server(facts, wanted_connections + _COMMANDS)


def _of_login(facts: Mapping[str, Any]) -> Iterator[Finding]:
    login, database = sql.Identifier(facts["login"]), sql.Identifier(facts["database"])
    for wrong, detail, fix in (
        (facts["super"], "the login is a superuser: nothing keeps it", "{0} NOSUPERUSER"),
        (facts["inherits"], "the login inherits what its roles may", "{0} NOINHERIT"),
        (not facts["roles"], "the login may make no role: no tenant is made", "{0} CREATEROLE"),
    ):
        if wrong:
            yield Finding("login", detail, _statement(f"ALTER ROLE {fix}", login))
    if not facts["creates"]:
        yield Finding(
            "login",
            "the login may make no schema: no tenant is made",
            _statement("GRANT CREATE ON DATABASE {1} TO {0}", login, database),
        )


def _of_public(facts: Mapping[str, Any]) -> Iterator[Finding]:
    if facts["public_database"]:
        yield Finding(
            "public",
            "every login of the server may enter the database",
            _statement("REVOKE ALL ON DATABASE {0} FROM PUBLIC", sql.Identifier(facts["database"])),
        )
    if facts["public_schema"]:
        yield Finding(
            "public",
            "everybody may use the schema public",
            _statement("REVOKE ALL ON SCHEMA public FROM PUBLIC"),
        )


def _of_server(facts: Mapping[str, Any], wanted: int) -> Iterator[Finding]:
    if facts["connections"] < wanted:
        yield Finding(
            "connections",
            f"{facts['connections']} are for this login; a server and commands take {wanted}",
            "raise max_connections of the server, or the limit of the login or database",
        )
    off = [name for name in ("fsync", "full_page_writes", "synchronous_commit") if facts[name]]
    if off:
        yield Finding(
            "durability",
            f"{', '.join(off)} is off: what was acknowledged can be lost",
            f"set {off[0]} = on in postgresql.conf",
        )
    if facts["plain"]:
        yield Finding(
            "encryption",
            "what is sent to the database server can be read on the way",
            "put sslmode=verify-full into the URL",
        )


_USABLE: Final = """
SELECT 1
  FROM pg_roles
 WHERE rolname = current_user
   AND ((rolsuper OR rolcreaterole) AND has_database_privilege(current_database(), 'CREATE')
        OR EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %(first)s))
"""
_FACTS: Final = """
SELECT d.datname AS database, r.rolname AS login, r.rolsuper AS super, r.rolinherit AS inherits,
       r.rolsuper OR r.rolcreaterole AS roles, has_database_privilege(d.oid, 'CREATE') AS creates,
       has_database_privilege('public', d.oid, 'CONNECT')
       OR has_database_privilege('public', d.oid, 'TEMPORARY')
       OR has_database_privilege('public', d.oid, 'CREATE') AS public_database,
       EXISTS (SELECT 1
                 FROM pg_namespace AS n
                WHERE n.nspname = 'public'
                  AND (has_schema_privilege('public', n.oid, 'USAGE')
                       OR has_schema_privilege('public', n.oid, 'CREATE'))) AS public_schema,
       LEAST(current_setting('max_connections')::int
             - current_setting('superuser_reserved_connections')::int,
             NULLIF(r.rolconnlimit, -1), NULLIF(d.datconnlimit, -1)) AS connections,
       current_setting('fsync') = 'off' AS fsync,
       current_setting('full_page_writes') = 'off' AS full_page_writes,
       current_setting('synchronous_commit') = 'off' AS synchronous_commit,
       NOT COALESCE(s.ssl, FALSE) AND NOT COALESCE(inet_server_addr() <<= '127.0.0.0/8'
           OR inet_server_addr() = '::1', TRUE) AS plain
  FROM pg_database AS d
 CROSS JOIN pg_roles AS r
  LEFT JOIN pg_stat_ssl AS s ON s.pid = pg_backend_pid()
 WHERE d.datname = current_database() AND r.rolname = current_user
"""


def _statement(text: str, *names: sql.Identifier) -> str:
    return sql.SQL(text).format(*names).as_string(None)


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    password = str(checked(url).get("password") or "")
    try:
        connection = psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name=NAME
        )
    except psycopg.OperationalError as error:
        sentence = _said(error)
        if password:
            sentence = sentence.replace(password, "…")
        # Its own text quotes the address.
        raise UnreachableError(sentence) from None
    with connection:
        yield connection


def _said(error: psycopg.OperationalError) -> str:
    """Say why there is no connection: in the server's own words where it spoke."""
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return f"the database server does not answer within {CONNECT_SECONDS} seconds"
    if error.pgconn is None:
        return "the name of the database server's host is not known"
    lines = (line for line in str(error).splitlines() if ": " in line)
    tries = [
        line.rpartition("failed: ")[2] for line in lines if not line.startswith(("DETAIL", "HINT"))
    ]
    reason = (tries or [str(error)])[-1].strip()
    _, refused, answer = reason.partition("FATAL:")
    if refused:
        return f"the database server refuses us: {answer.strip()}"
    return f"the database server cannot be reached: {reason}"


def _no_address() -> InvalidRequestError:
    return InvalidRequestError.at(
        "database",
        "is no postgresql://user@host/name; in a password write %25 %40 %3A %2F for % @ : /",
    )
