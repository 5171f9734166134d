"""Schemas: the tenants of one PostgreSQL database, a schema and a role each (spec 07 §4).

A staged or retired schema has a name that no tenant's has, and its tenant's role: its comment says
whose it is and since when. A database changes its place by moving its tables, in one transaction,
which takes no right that the role does not have.
"""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from os import urandom

from psycopg import sql
from psycopg.errors import DataError, DuplicateSchema, IntegrityError

from codeflow_memory.domain.errors import InvalidRequestError, StoreUnusableError
from codeflow_memory.domain.tenant import LOCAL, is_slug
from codeflow_memory.storage import migrate, servers
from codeflow_memory.storage.connections import MAX_CONNECTIONS, Connections
from codeflow_memory.storage.databases import UNFIT, Databases, Earlier, Fill, Finding
from codeflow_memory.storage.engine import Engine, Transaction
from codeflow_memory.storage.home import check_slug
from codeflow_memory.storage.migrate import Migration
from codeflow_memory.storage.postgresql import PostgreSQLEngine, translated

PREFIX = "cfm_"
RETIRED, STAGED = "cfm-old-", "cfm-new-"
"""What names begin with that no tenant's schema has."""

_READ = "BEGIN READ ONLY"
_LONGEST = 59
_KEPT = 42
_DIGITS = 16
_INHERITING_GRANTS = 160_000
"""From this server version on a grant says whether what was granted is inherited."""

_COMMENTED = """
SELECT nspname, obj_description(oid, 'pg_namespace')
  FROM pg_namespace
 WHERE starts_with(nspname, %s) AND pg_has_role(nspowner, 'MEMBER')
 ORDER BY nspname COLLATE "C"
"""


_NAMED = """
SELECT nspname, obj_description(oid, 'pg_namespace'), pg_get_userbyid(nspowner)
  FROM pg_namespace
 WHERE starts_with(nspname, %s)
 ORDER BY nspname COLLATE "C"
"""


class Schemas(Databases):
    """The tenants of one PostgreSQL database.

    Args:
        url: Names the database and the login; ``postgresql://…``.
        alone: Whether no other process may use the database meanwhile.
    """

    shared = True

    def __init__(self, url: str, *, alone: bool = False) -> None:
        super().__init__(_address(url))
        self._url = url
        self._alone = alone
        self._opened: Connections | None = None
        self._lock = threading.Lock()

    def reach(self) -> None:
        """Connect once, and see that the server and the database are fit."""
        with translated("the database"):
            servers.reach(self._url, schema_of(LOCAL))

    def ask(self) -> None:
        """Begin and end a transaction, on a connection that is kept where one is."""
        with translated("the database"), self._connections.transaction(_READ):
            pass

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
        slugs = [slug for name, slug in self._commented(PREFIX) if _is_of(name, slug)]
        return sorted(slugs, key=lambda slug: (slug != LOCAL, slug))

    def exists(self, tenant: str) -> bool:
        """Tell whether *tenant* has a schema."""
        return self._has(schema_of(check_slug(tenant)))

    def engine(self, tenant: str) -> Engine:
        """Return the engine of *tenant*'s schema."""
        return self._engine(schema_of(check_slug(tenant)), tenant)

    def create(self, tenant: str, fill: Fill) -> None:
        """Make role and schema, the tables and the first rows in one transaction."""
        migrations = migrate.all_migrations()
        engine = self._engine(schema_of(check_slug(tenant)), tenant)
        self._make(engine, tenant, tenant, migrations, migrate.recorder(migrations, fill))

    def stage(self, tenant: str, schema: int, fill: Fill) -> None:
        """Make role and schema and every row in one transaction; an earlier staged one goes."""
        name = _staged(tenant)
        if self._has(name):
            self.discard(name)
        comment = f"{tenant} {_stamp()}"
        migrations = migrate.all_migrations()[:schema]
        try:
            self._make(self._engine(name, tenant), tenant, comment, migrations, fill)
        except (DataError, IntegrityError, InvalidRequestError):
            # Such as a text with U+0000, which only SQLite can hold.
            raise StoreUnusableError(f"tenant {tenant}", UNFIT) from None

    def staged(self, tenant: str) -> Engine | None:
        """Return the engine of the staged schema."""
        name = _staged(check_slug(tenant))
        return self._engine(name, tenant) if self._has(name) else None

    def install(self, tenant: str, *, replace: bool = False) -> None:
        """Move the tables of the staged schema into the tenant's, in one transaction."""
        own, staged = schema_of(check_slug(tenant)), _staged(tenant)
        stands = self._has(own)
        if stands and not replace:
            raise FileExistsError
        try:
            with self._engine(own if stands else staged, tenant).alone() as tx:
                if stands:
                    _move(tx, own, _retired(), tenant, f"{tenant} {_stamp()}")
                _move(tx, staged, own, tenant, tenant)
        except DuplicateSchema:
            raise FileExistsError from None

    def retire(self, tenant: str, check: Fill) -> str:
        """Move the tables to a schema that no tenant has, in one transaction."""
        own, name = schema_of(check_slug(tenant)), _retired()
        with self._engine(own, tenant).alone() as tx:
            check(tx)
            _move(tx, own, name, tenant, f"{tenant} {_stamp()}")
        return name

    def earlier(self) -> list[Earlier]:
        """List the schemas beside those of tenants, by their names."""
        found = []
        for prefix in (STAGED, RETIRED):
            for name, comment in self._commented(prefix):
                tenant, _, stamp = comment.partition(" ")
                at = _moment(stamp)
                if is_slug(tenant) and at is not None:
                    found.append(Earlier(name, tenant, retired=prefix == RETIRED, at=at))
        return found

    def discard(self, name: str) -> None:
        """Drop a schema, as the role that owns it; its tables go with it."""
        tenant = next((kept.tenant for kept in self.earlier() if kept.name == name), None)
        if tenant is not None:
            with self._engine(name, tenant).alone() as tx:
                tx.execute(_statement("DROP SCHEMA {} CASCADE", name))

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _engine(self, schema: str, tenant: str) -> PostgreSQLEngine:
        return PostgreSQLEngine(
            self._connections, schema, f"tenant {tenant}", role=schema_of(tenant)
        )

    def _make(
        self,
        engine: PostgreSQLEngine,
        tenant: str,
        comment: str,
        migrations: Sequence[Migration],
        record: Fill,
    ) -> None:
        with translated(engine.name), self._connections.transaction(_READ) as connection:
            version = connection.info.server_version
        prepare = _preparation(engine.schema, schema_of(tenant), comment, version)
        engine.create(prepare, migrate.script_of(migrations), record)

    def _has(self, name: str) -> bool:
        with translated("the database"), self._connections.transaction(_READ) as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,))
            return found.fetchone() is not None

    def _commented(self, prefix: str) -> list[tuple[str, str]]:
        with translated("the database"), self._connections.transaction(_READ) as connection:
            found = connection.execute(_COMMENTED, (prefix,)).fetchall()
        return [(name, comment or "") for name, comment in found]

    def _strays(self) -> Iterator[Finding]:
        with translated("the database"), self._connections.transaction(_READ) as connection:
            found = connection.execute(_NAMED, (PREFIX,)).fetchall()
        for name, slug, owner in found:
            quoted = sql.Identifier(name).as_string(None)
            if not _is_of(name, slug):
                detail = f"no tenant has {name}, which is called as one of ours"
                yield Finding("schemas", detail, "rename it, or drop it if nobody needs it")
            elif owner != name:
                detail = f"{name} belongs to {owner}, not to its role"
                yield Finding("schemas", detail, f"ALTER SCHEMA {quoted} OWNER TO {quoted}")

    @property
    def _connections(self) -> Connections:
        with self._lock:
            if self._opened is None:
                self._opened = Connections(self._url, alone=self._alone)
            return self._opened


def _is_of(schema: str, slug: str | None) -> bool:
    """Tell whether *schema* is that of the tenant whom its comment names."""
    return slug is not None and is_slug(slug) and schema_of(slug) == schema


def schema_of(tenant: str) -> str:
    """Return the name of *tenant*'s schema and role; PostgreSQL cuts names at 63 without a word."""
    if len(tenant) <= _LONGEST:
        return PREFIX + tenant
    return f"{PREFIX}{tenant[:_KEPT]}_{_digest(tenant)}"


def _digest(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()[:_DIGITS]


def _staged(tenant: str) -> str:
    return STAGED + _digest(tenant)


def _retired() -> str:
    return RETIRED + urandom(8).hex()


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _moment(stamp: str) -> int | None:
    try:
        return int(datetime.fromisoformat(stamp).timestamp()) * 1_000_000
    except ValueError:
        return None


def _address(url: str) -> str:
    """Return where a URL leads to, without login, password and options."""
    said = servers.checked(url)
    host, port = said.get("host") or "", said.get("port") or ""
    return f"postgresql://{host}{f':{port}' if port else ''}/{said.get('dbname') or ''}"


_MAKE_ROLE = """
DO $do$
BEGIN
    CREATE ROLE {role} NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    IF EXISTS (
        SELECT 1
          FROM pg_roles AS r
         WHERE r.rolname = {name}
           AND (   r.rolcanlogin OR r.rolsuper OR r.rolbypassrls
                OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication
                OR EXISTS (SELECT 1 FROM pg_auth_members AS m WHERE m.member = r.oid)
                OR EXISTS (SELECT 1
                             FROM pg_auth_members AS m
                             JOIN pg_roles AS other ON other.oid = m.member
                            WHERE m.roleid = r.oid AND other.rolname <> current_user))
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = {taken};
    END IF;
END $do$;
DO $do$
BEGIN
    GRANT {role} TO CURRENT_USER{how};
EXCEPTION WHEN unique_violation THEN
    -- Another maker of this login did so at the same moment.
    NULL;
END $do$;
"""
"""A role is the whole server's: one may be left of a tenant that went, or be one of another
database. It is taken only when nobody else can act as it, and it can do nothing of its own."""

_MAKE_SCHEMA = """
CREATE SCHEMA {schema} AUTHORIZATION {role};
SET LOCAL ROLE {role};
COMMENT ON SCHEMA {schema} IS {comment}
"""


def _preparation(schema: str, role: str, comment: str, server_version: int) -> str:
    """Return the statements that make role and schema, as the login."""
    how = " WITH INHERIT FALSE, SET TRUE" if server_version >= _INHERITING_GRANTS else ""
    made = sql.SQL(_MAKE_ROLE + _MAKE_SCHEMA)
    return made.format(
        role=sql.Identifier(role),
        name=sql.Literal(role),
        taken=sql.Literal(servers.TAKEN_ROLE),
        schema=sql.Identifier(schema),
        comment=sql.Literal(comment),
        how=sql.SQL(how),
    ).as_string(None)


def _move(tx: Transaction, old: str, new: str, tenant: str, comment: str) -> None:
    """Move every table of a schema into a new one, and drop what is left of the old.

    A schema is renamed by who owns it and may make schemas in this database: the role is the one,
    the login the other.
    """
    role = schema_of(tenant)
    tx.execute("SET LOCAL ROLE NONE")
    tx.execute(_statement("CREATE SCHEMA {} AUTHORIZATION {}", new, role))
    tx.execute(_statement("SET LOCAL ROLE {}", role))
    tx.execute(_statement("SET LOCAL search_path = {}, pg_temp", old))
    for table in tx.tables():
        tx.execute(_statement("ALTER TABLE {}.{} SET SCHEMA {}", old, table.name, new))
    # Without CASCADE: whatever else stands in it is not lost.
    tx.execute(_statement("DROP SCHEMA {}", old))
    tx.execute(_statement("COMMENT ON SCHEMA {} IS ", new) + sql.Literal(comment).as_string(None))


def _statement(text: str, *names: str) -> str:
    return sql.SQL(text).format(*map(sql.Identifier, names)).as_string(None)
