"""Schemas: the tenants of one PostgreSQL database, a schema and a role each (spec 07 §4)."""

import hashlib
import threading
from collections.abc import Callable, Iterator

from psycopg import sql
from psycopg_pool import ConnectionPool

from codeflow_memory.domain.tenant import LOCAL, is_slug
from codeflow_memory.storage import migrate, servers
from codeflow_memory.storage.databases import Databases, Finding
from codeflow_memory.storage.engine import Engine, Row, Transaction
from codeflow_memory.storage.home import check_slug
from codeflow_memory.storage.postgresql import (
    MAX_CONNECTIONS,
    Connection,
    PostgreSQLEngine,
    open_pool,
    translated,
)

PREFIX = "cfm_"

_LONGEST = 59
_KEPT = 42
_DIGITS = 16
_INHERITING_GRANTS = 160_000
"""From this server version on a grant says whether what was granted is inherited."""

_SLUGS = """
SELECT nspname, obj_description(oid, 'pg_namespace'), pg_get_userbyid(nspowner)
  FROM pg_namespace
 WHERE starts_with(nspname, 'cfm_')
"""


class Schemas(Databases):
    """The tenants of one PostgreSQL database.

    Args:
        url: Names the database and the login; ``postgresql://…``.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._opened: ConnectionPool[Connection] | None = None
        self._lock = threading.Lock()

    def reach(self) -> None:
        """Connect once, and see that the server and the database are fit."""
        with translated("the database"):
            servers.reach(self._url, schema_of(LOCAL))

    def findings(self) -> list[Finding]:
        """Look at the server, the login's rights, and schemas that no tenant owns."""
        with translated("the database"):
            found = list(servers.findings(self._url, MAX_CONNECTIONS))
        return [*found, *self._strays()]

    def place(self, tenant: str) -> str:
        """Name *tenant*'s schema."""
        return f"schema {schema_of(check_slug(tenant))}"

    def slugs(self) -> list[str]:
        """List the tenants that have a schema, ``local`` first; its comment says whose it is."""
        slugs = [slug for name, slug, _ in self._marked() if _is_of(name, slug)]
        return sorted(slugs, key=lambda slug: (slug != LOCAL, slug))

    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a schema."""
        name = schema_of(check_slug(tenant))
        with translated("the database"), self._pool.connection() as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,))
            return found.fetchone() is not None

    def engine(self, tenant: str) -> Engine:
        """Return the engine of *tenant*'s schema."""
        return PostgreSQLEngine(self._pool, schema_of(check_slug(tenant)), f"tenant {tenant}")

    def create(self, tenant: str, fill: Callable[[Transaction], None]) -> None:
        """Make role and schema, the tables and the first rows in one transaction."""
        engine = PostgreSQLEngine(self._pool, schema_of(check_slug(tenant)), f"tenant {tenant}")
        migrations = migrate.all_migrations()
        with translated(engine.name), self._pool.connection() as connection:
            version = connection.info.server_version
        engine.create(
            _preparation(engine.schema, tenant, version),
            migrate.script_of(migrations),
            migrate.recorder(migrations, fill),
        )

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            pool, self._opened = self._opened, None
        if pool is not None:
            pool.close()

    def _marked(self) -> list[Row]:
        with translated("the database"), self._pool.connection() as connection:
            return connection.execute(_SLUGS).fetchall()

    def _strays(self) -> Iterator[Finding]:
        for name, slug, owner in self._marked():
            quoted = sql.Identifier(name).as_string(None)
            if not _is_of(name, slug):
                detail = f"no tenant has {name}, which is called as one of ours"
                yield Finding("schemas", detail, "rename it, or drop it if nobody needs it")
            elif owner != name:
                detail = f"{name} belongs to {owner}, not to its role"
                yield Finding("schemas", detail, f"ALTER SCHEMA {quoted} OWNER TO {quoted}")

    @property
    def _pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._opened is None:
                self._opened = open_pool(self._url)
            return self._opened


def _is_of(schema: str, slug: str | None) -> bool:
    """Tell whether *schema* is that of the tenant whom its comment names."""
    return slug is not None and is_slug(slug) and schema_of(slug) == schema


def schema_of(tenant: str) -> str:
    """Return the name of *tenant*'s schema and role; PostgreSQL cuts names at 63 without a word."""
    if len(tenant) <= _LONGEST:
        return PREFIX + tenant
    digest = hashlib.sha256(tenant.encode()).hexdigest()
    return f"{PREFIX}{tenant[:_KEPT]}_{digest[:_DIGITS]}"


def _preparation(schema: str, tenant: str, server_version: int) -> str:
    """Return the statements that make role and schema, as the login."""
    how = " WITH INHERIT FALSE, SET TRUE" if server_version >= _INHERITING_GRANTS else ""
    made = sql.SQL(
        "DO $do$ BEGIN CREATE ROLE {role} NOLOGIN;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $do$;"
        " GRANT {role} TO CURRENT_USER{how};"
        " CREATE SCHEMA {role} AUTHORIZATION {role};"
        " SET LOCAL ROLE {role}; COMMENT ON SCHEMA {role} IS {tenant}"
    )
    return made.format(
        role=sql.Identifier(schema), tenant=sql.Literal(tenant), how=sql.SQL(how)
    ).as_string(None)
