"""The copier: every row, the same on both engines, proven before anything counts."""

from random import Random

import pytest

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import copier, fingerprint, migrate
from codeflow_memory.storage.copier import fingerprint_of
from codeflow_memory.storage.databases import Files, of
from codeflow_memory.storage.home import Home

from ..backup.homes.acting import fill
from ..backup.homes.test_round_trip import Author
from ..conftest import Clock, World

SEEDS = 12
EMPTY = {
    *("imports", "passwords", "jobs", "citations", "verifications", "feedback", "sightings"),
    "rates",
}
"""Tables in which `fill` leaves nothing."""


NAMES = ("sqlite", "postgresql")
REALS = "CREATE TABLE reals (n INTEGER NOT NULL PRIMARY KEY, r REAL, b BLOB) STRICT;"


@pytest.fixture
def homes(tmp_path, cluster):
    """A home of files and one of schemas, under one key; the databases of each."""
    files, name = Home(tmp_path / "files"), cluster.make()
    schemas = Home(tmp_path / "schemas", cluster.url(name))
    for home in (files, schemas):
        home.make()
        (home.path / "key").write_bytes(bytes(32))
    yield dict(zip(NAMES, (files, schemas), strict=True))
    cluster.drop(name)


@pytest.fixture
def places(homes):
    made = {name: of(home) for name, home in homes.items()}
    yield made
    for databases in made.values():
        databases.close()


def filled(home, tenant="local", seed=None):
    """Make a tenant: with a row in each table, or with random ones."""
    clock = Clock()
    chance = Random(seed)  # noqa: S311 - reproducible stores
    tenants = Tenants(home, now=clock, random_bytes=Random(seed or 7).randbytes)  # noqa: S311 - repeatable on purpose
    tenants.create(tenant)
    world = World(tenants, clock, tenant)
    if seed is None:
        fill(world)
    else:
        author = Author(world, chance)
        for _ in range(chance.randrange(1, 12)):
            author.act()
    tenants.close()


def staged(places, source, target, tenant="local"):
    """Copy a tenant into a staged database; return what was copied."""
    engine = places[source].engine(tenant)
    said = []
    _, version = engine.versions()
    places[target].stage(tenant, version, lambda tx: said.append(copier.copy(engine, tx)))
    engine.close()
    return said[0]


def digest(engine):
    found = fingerprint_of(engine)
    engine.close()
    return found


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_every_row_comes_over_whichever_the_engines_are(homes, places, source, target):
    filled(homes[source])
    before = digest(places[source].engine("local"))

    copied = staged(places, source, target)

    assert copied.fingerprint == before == digest(places[target].staged("local"))
    assert digest(places[source].engine("local")) == before
    assert copied.rows > 100
    empty = {table.name for table in copied.tables if table.rows == 0}
    assert empty <= EMPTY


@pytest.mark.parametrize("source", NAMES)
def test_random_stores_come_back_the_same_by_way_of_the_other_engine(homes, places, source):
    (other,) = set(NAMES) - {source}
    for seed in range(SEEDS):
        tenant = f"t{seed}"
        filled(homes[source], tenant, seed)
        before = digest(places[source].engine(tenant))
        staged(places, source, other, tenant)
        places[other].install(tenant)
        places[source].retire(tenant, lambda _: None)
        staged(places, other, source, tenant)

        assert digest(places[source].staged(tenant)) == before, seed


@pytest.mark.parametrize("target", NAMES)
def test_rows_that_name_rows_of_their_own_table_come_in_any_order(homes, places, target):
    """The sponsor's id sorts after that of the agent, and a chain leads back and forth."""
    filled(homes["sqlite"])
    engine = places["sqlite"].engine("local")
    chain = [f"prn_{name}" for name in "kacibjd"]
    with engine.write() as tx:
        for sponsor, name in zip([None, *chain], chain, strict=False):
            tx.execute(
                "INSERT INTO principals (principal_id, name, kind, sponsor_id, created_at)"
                " VALUES (:id, :id, 'agent', :sponsor, 1)",
                {"id": name, "sponsor": sponsor},
            )
    engine.close()

    copied = staged(places, "sqlite", target)

    assert digest(places[target].staged("local")) == copied.fingerprint


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_numbers_with_a_fraction_and_bytes_are_the_same(
    homes, places, source, target, monkeypatch, tmp_path
):
    (tmp_path / "9001_reals.sql").write_text(REALS)
    files = [*migrate.migration_files(), tmp_path / "9001_reals.sql"]
    monkeypatch.setattr(migrate, "migration_files", lambda: files)
    filled(homes[source])
    engine = places[source].engine("local")
    values = (0.1, 5.0, -2.5e300, 5e-324, 1 / 3, None)
    with engine.write() as tx:
        tx.executemany(
            "INSERT INTO reals (n, r, b) VALUES (:n, :r, :b)",
            [(n, value, bytes([0, n, 255])) for n, value in enumerate(values)],
        )
    engine.close()

    staged(places, source, target)

    found = places[target].staged("local")
    with found.read() as tx:
        assert [row[0] for row in tx.rows("SELECT r FROM reals ORDER BY n")] == list(values)
    found.close()


def test_a_snapshot_is_copied_and_not_what_came_meanwhile(homes, places):
    filled(homes["postgresql"])
    source = places["postgresql"].engine("local")
    before = digest(source)

    def writing(items, _label):
        for item in items:
            with source.write() as tx:
                tx.execute("UPDATE store SET latest_at = latest_at + 1 WHERE singleton = 1")
            yield item

    places["sqlite"].stage(
        "local", migrate.newest_version(), lambda tx: copier.copy(source, tx, writing)
    )

    assert digest(places["sqlite"].staged("local")) == before != digest(source)


class Lossy:
    """A transaction that loses or changes something on its way."""

    def __init__(self, tx, change) -> None:
        self._tx, self._change = tx, change

    def __getattr__(self, name):
        return getattr(self._tx, name)

    def executemany(self, sql, parameters):
        rows = list(parameters)
        self._tx.executemany(sql, self._change(rows) if 'INTO "approvals"' in sql else rows)


def one_less(rows):
    return rows[1:]


def later(rows):
    return [(*row[:7], row[7] + 1, *row[8:]) for row in rows]


def no_null(rows):
    return [tuple("" if value is None else value for value in row) for row in rows]


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("change", [one_less, later, no_null])
def test_a_copier_that_loses_or_changes_one_value_is_found_out(homes, places, change, target):
    """Control: the store has approvals without a comment."""
    filled(homes["sqlite"])
    engine = places["sqlite"].engine("local")

    with pytest.raises(StoreUnusableError, match="not the same: table approvals"):
        places[target].stage(
            "local", migrate.newest_version(), lambda tx: copier.copy(engine, Lossy(tx, change))
        )

    assert places[target].staged("local") is None
    engine.close()


def test_the_controls_change_something(homes, places):
    filled(homes["sqlite"])
    engine = places["sqlite"].engine("local")
    with engine.read() as tx:
        (table,) = [table for table in tx.tables() if table.name == "approvals"]
        rows = tx.rows(fingerprint.all_rows(table))
    engine.close()

    assert table.columns[7:] == ("at", "comment")
    assert all(change(rows) != rows for change in (one_less, later, no_null))


def test_a_text_that_the_other_engine_cannot_hold_is_refused(homes, places):
    filled(homes["sqlite"])
    engine = places["sqlite"].engine("local")
    with engine.write() as tx:
        tx.execute("UPDATE principals SET name = 'a' || CAST(x'00' AS TEXT) WHERE name = 'ann'")

    with pytest.raises(StoreUnusableError, match="does not fit"):
        staged(places, "sqlite", "postgresql")

    assert places["postgresql"].staged("local") is None
    staged(places, "sqlite", "sqlite")


@pytest.mark.parametrize("target", NAMES)
def test_a_database_with_another_table_is_not_copied_in_part(homes, places, target):
    filled(homes["sqlite"])
    engine = places["sqlite"].engine("local")
    with engine.write() as tx:
        tx.execute("CREATE TABLE more (n INTEGER PRIMARY KEY) STRICT")

    with pytest.raises(StoreUnusableError, match="its tables are not those"):
        staged(places, "sqlite", target)

    assert places[target].staged("local") is None
    engine.close()


@pytest.mark.parametrize("target", NAMES)
def test_an_older_database_is_copied_as_the_older_one_it_is(places, target, monkeypatch):
    files = migrate.migration_files()
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "migration_files", lambda: files[:2])
        places["sqlite"].create("local", lambda _: None)

    staged(places, "sqlite", target)

    found = places[target].staged("local")
    assert found.versions()[1] == 2
    found.close()


def test_a_staged_database_is_no_tenant_and_an_earlier_one_gives_way(homes, places):
    for name in NAMES:
        filled(homes[name])
        for other in NAMES:
            staged(places, name, other)
            staged(places, name, other)
            assert places[other].slugs() == ["local"] * places[other].exists("local")
    assert isinstance(places["sqlite"], Files)
    for name in NAMES:
        (kept,) = places[name].earlier()
        assert (kept.tenant, kept.retired) == ("local", False)
        places[name].discard(kept.name)
        assert places[name].earlier() == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_retired_is_served_no_more_and_kept_as_it_was(homes, places, name):
    filled(homes[name])
    filled(homes[name], "birch", 1)
    before = digest(places[name].engine("local"))

    kept = places[name].retire("local", lambda _: None)

    assert places[name].slugs() == ["birch"]
    assert not places[name].exists("local")
    if name == "sqlite":
        assert digest(places[name].at(homes[name].path / kept / "memory.sqlite")) == before
    else:
        (earlier,) = places[name].earlier()
        assert (earlier.name, earlier.tenant, earlier.retired) == (kept, "local", True)
        assert digest(places[name]._engine(kept, "local")) == before
        places[name].discard(kept)
        assert places[name].earlier() == []


@pytest.mark.parametrize("name", NAMES)
def test_what_the_check_refuses_stays_where_it_is(homes, places, name):
    filled(homes[name])
    before = digest(places[name].engine("local"))

    def refuse(_):
        raise StoreUnusableError("it", "changed")

    with pytest.raises(StoreUnusableError):
        places[name].retire("local", refuse)

    assert digest(places[name].engine("local")) == before
    assert places[name].earlier() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_staged_database_replaces_one_only_when_that_is_meant(homes, places, name):
    (other,) = set(NAMES) - {name}
    filled(homes[name])
    filled(homes[other], seed=3)
    copied = staged(places, other, name)

    with pytest.raises(FileExistsError):
        places[name].install("local")
    places[name].install("local", replace=True)

    assert digest(places[name].engine("local")) == copied.fingerprint
    assert places[name].staged("local") is None
