"""Tenants: made whole or not at all, and refused when they are not ours."""

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import apsw
import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    StoreUnusableError,
    UnauthenticatedError,
)
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import audit, migrate, principals
from codeflow_memory.storage import tenants as rows


def alter(path, sql):
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("slug", ["", "-a", "A", "a_b", "../a", "a" * 64, "a/b", "local\n"])
def test_what_is_no_slug_makes_no_tenant_and_names_none(tenants, slug):
    with pytest.raises(InvalidRequestError):
        tenants.create(slug)
    with pytest.raises(NotFoundError):
        tenants.get(slug)

    assert tenants.slugs() == []


def test_a_tenant_that_exists_is_not_made_again(tenants):
    instance = tenants.create("birch").keys.instance_id

    with pytest.raises(InvalidRequestError):
        tenants.create("birch")

    assert tenants.get("birch").keys.instance_id == instance


def test_an_absent_tenant_is_not_found_and_not_made(tenants):
    with pytest.raises(NotFoundError):
        tenants.get("birch")

    assert tenants.slugs() == []


@pytest.mark.files
@pytest.mark.parametrize(
    "sql", ["PRAGMA application_id = 7", "PRAGMA user_version = 999"], ids=["foreign", "newer"]
)
def test_a_foreign_or_newer_file_is_refused_and_not_written_to(tenants, sql):
    tenants.create("local")
    tenants.close()
    path = tenants.home.database("local")
    alter(path, sql)
    before = path.read_bytes()

    with pytest.raises(StoreUnusableError) as refused:
        tenants.get("local")

    assert refused.value.name == "memory.sqlite"
    assert str(tenants.home.path) not in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.files
def test_a_damaged_file_is_refused_and_not_written_to(tenants):
    tenants.create("local")
    tenants.close()
    path = tenants.home.database("local")
    data = bytearray(path.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)

    with pytest.raises(StoreUnusableError):
        tenants.get("local")

    assert path.read_bytes() == bytes(data)


@pytest.mark.files
def test_damage_that_no_read_would_meet_is_found_when_the_file_is_first_opened(tenants):
    """Without the check such a file is opened and served: its first page and tenant are sound."""
    store = tenants.create("local")
    with store.engine.read() as tx:
        page = tx.value("SELECT rootpage FROM sqlite_schema WHERE name = 'feedback'")
    tenants.close()
    path = tenants.home.database("local")
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(data)

    with pytest.raises(StoreUnusableError, match="damaged"):
        tenants.get("local")

    assert path.read_bytes() == bytes(data)


def bring_to_schema(tenants, version):
    """Let the database of ``local`` say that it has the schema *version*."""
    store = tenants.create("local")
    if tenants.shared:
        with store.engine.write() as tx:
            tx.execute(
                "UPDATE schema_migrations SET version = :new WHERE version = :newest",
                {"new": version, "newest": migrate.newest_version()},
            )
    tenants.close()
    if not tenants.shared:
        alter(tenants.home.database("local"), f"PRAGMA user_version = {version}")


def test_an_older_schema_waits_for_up(tenants):
    bring_to_schema(tenants, 0)

    with pytest.raises(StoreUnusableError, match="older"):
        tenants.get("local")


def test_a_newer_schema_waits_for_an_update(tenants):
    bring_to_schema(tenants, 999)

    with pytest.raises(StoreUnusableError, match="999 is newer"):
        tenants.get("local")


def test_another_tenants_database_is_refused(tenants):
    with tenants.create("oak").engine.write() as tx:
        tx.execute("UPDATE store SET tenant = 'birch'")
    tenants.close()

    with pytest.raises(StoreUnusableError, match="another tenant"):
        tenants.get("oak")


def test_a_new_tenant_has_one_owner_and_a_chain_of_audit(tenants):
    store = tenants.create("birch")

    with store.engine.read() as tx:
        owner = principals.first_owner(tx)
        assert (owner.name, owner.kind) == ("owner", "user")
        assert audit.count(tx) == 3
        assert audit.first_fault(tx, store.keys.audit_hash) is None
        assert rows.find(tx).tenant == "birch"
    assert store.engine.versions()[1] == migrate.newest_version()


@pytest.mark.files
@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_files_are_private_whatever_the_umask(tenants, umask):
    previous = os.umask(umask)
    try:
        tenants.create("birch")
        tenants.create("local")
    finally:
        os.umask(previous)

    files = [p for p in tenants.home.path.rglob("*") if p.is_file()]
    assert {p.name for p in files} == {"memory.sqlite", "key"}
    assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o600}


def files_of(home):
    return sorted(path.name for path in home.path.rglob("*") if path.is_file())


class CrashError(Exception):
    """A crash."""


def test_of_a_failed_making_nothing_remains_and_the_next_one_succeeds(tenants, monkeypatch):
    def crash(*_, **__):
        raise CrashError

    with monkeypatch.context() as broken:
        broken.setattr(rows, "insert", crash)
        with pytest.raises(CrashError):
            tenants.create("birch")

    assert tenants.slugs() == []
    assert files_of(tenants.home) == ["key"]
    assert tenants.create("birch").tenant == "birch"


def test_of_eight_makers_one_wins_and_the_others_find_its_tenant(home, clock):
    seeds = [Random(place) for place in range(8)]  # noqa: S311 - repeatable on purpose
    registries = [Tenants(home, now=clock, random_bytes=seed.randbytes) for seed in seeds]
    start = threading.Barrier(8)

    def make(registry):
        start.wait()
        try:
            return registry.create("birch").keys.instance_id
        except InvalidRequestError:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [m for m in pool.map(make, registries) if m is not None]

    assert len(made) == 1
    assert {r.get("birch").keys.instance_id for r in registries} == set(made)
    assert files_of(home) == ["key", "memory.moved" if home.server else "memory.sqlite"]
    for registry in registries:
        registry.close()


def test_a_token_of_one_tenant_names_nobody_in_another(world):
    text = world.token("ann", Role.OWNER).text
    world.tenants.create("birch")
    world.tenant = "birch"

    with pytest.raises(UnauthenticatedError):
        world.sign_in(text)
