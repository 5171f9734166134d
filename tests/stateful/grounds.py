"""Grounds: where homes stand, on either engine; made empty, copied whole, and put back.

Their folders are in memory, because these tests commit thousands of times and each commit syncs.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ..postgresql import Cluster


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """Make a folder in memory where the system has one; gone when its context ends."""
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of a private folder
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


class Ground:
    """Homes in one folder.

    Args:
        folder: Where their files are.
        cluster: Where their databases are; ``None``: they are files.
    """

    def __init__(self, folder: Path, cluster: Cluster | None = None) -> None:
        self.folder = folder
        self._cluster = cluster
        self._made: list[str] = []

    def home(self, name: str) -> Home:
        """Make an empty home."""
        server = None if self._cluster is None else self._kept(self._cluster.make())
        made = Home(self.folder / name, server)
        made.make()
        return made

    def copy(self, home: Home, name: str) -> Home:
        """Copy a home that nobody has open."""
        folder = self.folder / name
        shutil.copytree(home.path, folder)
        if self._cluster is None:
            return Home(folder)
        return Home(folder, self._kept(self._cluster.copy(_database(home))))

    def remove(self, home: Home) -> None:
        """Remove a home of this ground, which nobody has open."""
        shutil.rmtree(home.path)
        if self._cluster is not None:
            self._made.remove(_database(home))
            self._cluster.drop(_database(home))

    def keep(self, tenants: Tenants, built: Home) -> "Kept":
        """Note how *tenants* stand, in a copy of *built*, so that they can be put back."""
        if self._cluster is None:
            return CopiedFiles(tenants, built)
        return LoggedRows(tenants, self._cluster)

    def close(self) -> None:
        """Remove the databases that are left; the folder is who made it's."""
        while self._made:
            self._cluster.drop(self._made.pop())

    def _kept(self, database: str) -> str:
        self._made.append(database)
        return self._cluster.url(database)


@contextmanager
def ground(cluster: Cluster | None) -> Iterator[Ground]:
    """Give a ground of one's own, until the block ends."""
    with in_memory() as folder:
        made = Ground(Path(folder), cluster)
        try:
            yield made
        finally:
            made.close()


def _database(home: Home) -> str:
    return urlsplit(home.server).path.removeprefix("/")


class CopiedFiles:
    """Puts files back as they are in another home.

    Args:
        tenants: The opened home.
        built: The one that it is a copy of.
    """

    def __init__(self, tenants: Tenants, built: Home) -> None:
        self._tenants = tenants
        self._built = built
        self._left = self._state()

    def written(self) -> set[str]:
        """Name the tenants that were written to since the home was put back."""
        return {tenant for tenant, state in self._state().items() if state != self._left[tenant]}

    def put_back(self) -> None:
        self._tenants.close()
        for tenant in self._left:
            shutil.copy2(self._built.database(tenant), self._tenants.home.database(tenant))
        self._left = self._state()

    def close(self) -> None:
        """Hold nothing."""

    def _state(self) -> dict[str, tuple[int, int]]:
        home = self._tenants.home
        found = {tenant: home.database(tenant).stat() for tenant in home.tenants()}
        return {tenant: (stat.st_mtime_ns, stat.st_size) for tenant, stat in found.items()}


class LoggedRows:
    """Puts rows back from a log of what each change replaced, which triggers write.

    A copy of a database takes a tenth of a second, so there could not be one for each cell.
    """

    def __init__(self, tenants: Tenants, cluster: Cluster) -> None:
        url = cluster.url(_database(tenants.home), "postgres")
        self._admin = psycopg.connect(url, autocommit=True)
        self._admin.execute(_LOG)
        # Neither the triggers nor the foreign keys are asked when rows are put back.
        self._admin.execute("SET session_replication_role = replica")

    def written(self) -> set[str]:
        """Name the tenants that were written to since the home was put back."""
        found = self._admin.execute("SELECT DISTINCT schema FROM undo.log").fetchall()
        return {schema.removeprefix("cfm_") for (schema,) in found}

    def put_back(self) -> None:
        self._admin.execute("SELECT undo.back()")

    def close(self) -> None:
        self._admin.close()


Kept = CopiedFiles | LoggedRows

_LOG = """
CREATE SCHEMA undo;
CREATE TABLE undo.log (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schema TEXT NOT NULL,
    place TEXT NOT NULL,
    key TEXT NOT NULL,
    gone TEXT,
    come TEXT
);
CREATE FUNCTION undo.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO undo.log (schema, place, key, gone, come)
    VALUES (TG_TABLE_SCHEMA, format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME), TG_ARGV[0],
            OLD::text, NEW::text);
    RETURN NULL;
END $$;
CREATE FUNCTION undo.back() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    step RECORD;
BEGIN
    FOR step IN SELECT * FROM undo.log ORDER BY number DESC LOOP
        IF step.come IS NOT NULL THEN
            EXECUTE format(
                'DELETE FROM %1$s WHERE (%2$s) = (SELECT %2$s FROM (SELECT ($1::%1$s).*) AS t)',
                step.place, step.key) USING step.come;
        END IF;
        IF step.gone IS NOT NULL THEN
            EXECUTE format('INSERT INTO %1$s SELECT ($1::%1$s).*', step.place) USING step.gone;
        END IF;
    END LOOP;
    DELETE FROM undo.log;
END $$;
DO $$
DECLARE
    known RECORD;
BEGIN
    FOR known IN
        SELECT i.indrelid::regclass AS place, string_agg(quote_ident(a.attname), ', ') AS key
          FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indrelid
          JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indisprimary AND starts_with(c.relnamespace::regnamespace::text, 'cfm_')
         GROUP BY i.indrelid
    LOOP
        EXECUTE format(
            'CREATE TRIGGER undo AFTER INSERT OR UPDATE OR DELETE ON %s'
            ' FOR EACH ROW EXECUTE FUNCTION undo.note(%L)', known.place, known.key);
    END LOOP;
END $$;
"""
