"""Schemas: the tenants of one PostgreSQL database, a schema and a role each (spec 07 §4)."""

import hashlib
import threading
from collections.abc import Callable

from psycopg import sql

from codeflow_memory.domain.tenant import LOCAL, is_slug
from codeflow_memory.storage import migrate
from codeflow_memory.storage.connections import Connections
from codeflow_memory.storage.databases import Databases
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import check_slug
from codeflow_memory.storage.postgresql import PostgreSQLEngine, translated

PREFIX = "cfm_"

_READ = "BEGIN READ ONLY"
_LONGEST = 59
_KEPT = 42
_DIGITS = 16
_INHERITING_GRANTS = 160_000
"""From this server version on a grant says whether what was granted is inherited."""

_SLUGS = """
SELECT nspname, obj_description(oid, 'pg_namespace')
  FROM pg_namespace
 WHERE starts_with(nspname, 'cfm_')
"""


class Schemas(Databases):
    """The tenants of one PostgreSQL database.

    Args:
        url: Names the database and the login; ``postgresql://…``.
        alone: Whether no other process may use the database meanwhile.
    """

    shared = True

    def __init__(self, url: str, *, alone: bool = False) -> None:
        self._url = url
        self._alone = alone
        self._opened: Connections | None = None
        self._lock = threading.Lock()

    def slugs(self) -> list[str]:
        """List the tenants that have a schema, ``local`` first; its comment says whose it is."""
        with translated("the database"), self._connections.transaction(_READ) as connection:
            found = connection.execute(_SLUGS).fetchall()
        slugs = [s for name, s in found if s and is_slug(s) and schema_of(s) == name]
        return sorted(slugs, key=lambda slug: (slug != LOCAL, slug))

    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a schema."""
        name = schema_of(check_slug(tenant))
        with translated("the database"), self._connections.transaction(_READ) as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,))
            return found.fetchone() is not None

    def engine(self, tenant: str) -> Engine:
        """Return the engine of *tenant*'s schema."""
        schema = schema_of(check_slug(tenant))
        return PostgreSQLEngine(self._connections, schema, f"tenant {tenant}")

    def create(self, tenant: str, fill: Callable[[Transaction], None]) -> None:
        """Make role and schema, the tables and the first rows in one transaction."""
        schema = schema_of(check_slug(tenant))
        engine = PostgreSQLEngine(self._connections, schema, f"tenant {tenant}")
        migrations = migrate.all_migrations()
        with translated(engine.name), self._connections.transaction(_READ) as connection:
            version = connection.info.server_version
        engine.create(
            _preparation(engine.schema, tenant, version),
            migrate.script_of(migrations),
            migrate.recorder(migrations, fill),
        )

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    @property
    def _connections(self) -> Connections:
        with self._lock:
            if self._opened is None:
                self._opened = Connections(self._url, alone=self._alone)
            return self._opened


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
