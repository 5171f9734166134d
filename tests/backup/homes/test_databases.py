"""Backups of databases that are no files: the same container, and back on either engine."""

import fcntl
import json
import os
import shutil
from contextlib import closing, contextmanager
from random import Random

import pytest
from codeflow_backup import creating, restoring
from codeflow_backup import home as homes
from codeflow_backup.errors import HomeInUseError
from codeflow_backup.progress import unwatched

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    NotFoundError,
    StoreUnusableError,
    UnauthenticatedError,
)
from codeflow_memory.services import backups, checkpoints, moving, recomputation, restoration
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import staging
from codeflow_memory.storage.copier import fingerprint_of
from codeflow_memory.storage.databases import Files, of
from codeflow_memory.storage.home import Home

from ...conftest import Clock, World
from .acting import NEEDLE, SECRET, fill

ENGINES = ("sqlite", "postgresql")


@pytest.fixture
def new_home(tmp_path, cluster):
    """Make a home whose tenants are on an engine."""
    names = []

    def make(engine, folder):
        if engine == "sqlite":
            return Home(tmp_path / folder)
        names.append(cluster.make())
        return Home(tmp_path / folder, cluster.url(names[-1]))

    yield make
    for name in names:
        cluster.drop(name)


@pytest.fixture
def clock():
    return Clock()


@contextmanager
def used(home, clock):
    """Use a home as a server does, after its first start."""
    restoration.settle(home, lambda: Tenants(home, now=clock, migrating=True, rekeying=True))
    with closing(Tenants(home, now=clock, random_bytes=Random(7).randbytes)) as tenants:  # noqa: S311 - repeatable on purpose
        yield tenants


def begin(home, clock):
    """Fill ``local`` and ``birch``; return the tokens of a person and of a run."""
    home.make()
    with used(home, clock) as tenants:
        for slug in ("local", "birch"):
            tenants.create(slug)
        world = World(tenants, clock)
        fill(world)
        person = world.token("zoe", Role.READER).text
        run = world.run(world.person("ann"), world.project("late")).text
        for slug in ("local", "birch"):
            checkpoints.write(tenants.get(slug))
    return person, run


def held(home):
    """The fingerprint of each tenant."""
    found = {}
    with closing(of(home)) as databases:
        for slug in databases.slugs():
            with closing(databases.engine(slug)) as engine:
                found[slug] = fingerprint_of(engine)
    return found


def back_up(home, target, tenant=None):
    """Make a backup, as the command does."""
    if home.server is None:
        return creating.create(homes.Home(home.path), target, [SECRET], unwatched, tenant)
    with backups.laid_out(home, tenant) as folder:
        place = homes.Home(folder.home.path)
        return creating.create(place, target, [SECRET], unwatched, tenant)


def restore(home, backup, *, replace=False):
    """Put a backup back, as the command does; return why not, if it is refused."""
    home.make()
    if home.server is None:
        restoring.restore(backup, homes.Home(home.path), [SECRET], unwatched, replace=replace)
        return None
    with home.exclusive():
        restoration.resume(home)
        with staging.folder(home, staging.INCOMING) as folder:
            place = homes.Home(folder.home.path)
            restoring.restore(backup, place, [SECRET], unwatched, replace=False)
            hindrance = backups.find_hindrance(home, folder.home)
            if hindrance is None or replace:
                backups.take_in(home, folder.home)
            return None if replace else hindrance


def change(home, clock):
    with used(home, clock) as tenants:
        world = World(tenants, clock)
        world.propose(world.owner, world.project("since"))


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("source", ENGINES)
def test_a_backup_of_either_engine_comes_back_on_either(new_home, clock, tmp_path, source, target):
    home, again = new_home(source, "home"), new_home(target, "again")
    person, run = begin(home, clock)
    before = held(home)

    said = back_up(home, tmp_path / "b.cfmb")
    assert restore(again, tmp_path / "b.cfmb") is None

    assert held(again) == before == held(home)
    manifest = {
        f.database.tenant: f.database.fingerprint for f in said.manifest.files if f.database
    }
    assert manifest == before
    with used(again, clock) as tenants:
        world = World(tenants, clock)
        assert world.sign_in(person)
        with pytest.raises(UnauthenticatedError):
            world.sign_in(run)
        assert all(checkpoints.verify(tenants.get(slug)).sound for slug in before)
        for slug in before:
            assert recomputation.recompute(tenants.get(slug), sample=None)[1] == []
    assert not (again.path / "restore.json").exists()


def test_one_tenant_of_a_server_is_backed_up_and_no_other(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)

    said = back_up(home, tmp_path / "b.cfmb", "birch")

    assert [f.database.tenant for f in said.manifest.files if f.database] == ["birch"]
    with pytest.raises(NotFoundError), backups.laid_out(home, "acme"):
        pass


def test_a_server_may_write_while_a_backup_is_made(new_home, clock):
    home = new_home("postgresql", "home")
    begin(home, clock)
    with home.shared(), backups.laid_out(home, None) as folder:
        laid_out = held(folder.home)
        change(home, clock)

        assert held(folder.home) == laid_out != held(home)


def test_nobody_else_reads_what_is_laid_out_and_nothing_of_it_stays(new_home, clock):
    home = new_home("postgresql", "home")
    begin(home, clock)

    with pytest.raises(KeyboardInterrupt), backups.laid_out(home, None) as folder:  # noqa: PT012 - both are meant
        path = folder.home.path
        assert path.stat().st_mode & 0o777 == 0o700
        modes = {p.stat().st_mode & 0o077 for p in path.rglob("*")}
        assert modes == {0}
        assert (path / "tenants" / "birch" / "memory.sqlite").exists()
        raise KeyboardInterrupt

    assert not list(home.path.glob(".backup-*"))


def test_what_a_killed_backup_left_goes_with_the_next_and_a_running_one_stays(new_home, clock):
    home = new_home("postgresql", "home")
    begin(home, clock)
    left, running = home.path / ".backup-0", home.path / ".backup-1"
    for folder in (left, running):
        folder.mkdir()
        (folder / "memory.sqlite").write_text(NEEDLE)
    handle = os.open(running, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)

    with backups.laid_out(home, None):
        assert running.exists()
        assert not left.exists()

    os.close(handle)


def test_what_operations_shows_of_the_last_backup_is_in_the_home(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    (home.path / "operations.json").write_text('{"last_drill": {"at": "then"}}')

    said = back_up(home, tmp_path / "b.cfmb")

    shown = json.loads((home.path / "operations.json").read_text())
    assert shown["last_backup"]["backup_id"] == said.core.backup_id
    assert shown["last_drill"] == {"at": "then"}


def test_a_store_that_stands_is_not_replaced_unasked(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    before = held(home)

    assert "stands already" in restore(home, tmp_path / "b.cfmb")
    change(home, clock)
    changed = held(home)
    assert "changes since" in restore(home, tmp_path / "b.cfmb")

    assert held(home) == changed != before
    assert not (home.path / "restore.json").exists()
    assert not list(home.path.glob(".restore-*"))


def test_another_store_is_not_replaced_unasked(new_home, clock, tmp_path):
    home, other = new_home("postgresql", "home"), new_home("sqlite", "other")
    begin(home, clock)
    with used(_made(other), Clock(clock.at + 1)) as tenants:
        tenants._random_bytes = Random(9).randbytes  # noqa: S311 - repeatable on purpose
        tenants.create("local")
    back_up(other, tmp_path / "b.cfmb")

    assert "is another" in restore(home, tmp_path / "b.cfmb")


def _made(home):
    home.make()
    return home


def test_what_is_replaced_is_kept_and_the_epoch_grows(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    before = held(home)
    change(home, clock)

    for epoch in (1, 2):
        restore(home, tmp_path / "b.cfmb", replace=True)
        assert held(home) == before
        with used(home, clock) as tenants:
            for slug in ("local", "birch"):
                with tenants.get(slug).engine.read() as tx:
                    found = tx.value("SELECT restore_epoch FROM store WHERE singleton = 1")
                assert found == epoch
                assert checkpoints.verify(tenants.get(slug)).sound

    with closing(of(home)) as databases:
        assert [k.tenant for k in databases.earlier() if k.retired].count("local") == 2
    assert len(restoration.discard_all(home)) == 4
    with closing(of(home)) as databases:
        assert databases.earlier() == []


def test_until_the_first_start_no_tenant_is_opened(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    restore(home, tmp_path / "b.cfmb", replace=True)

    refused = pytest.raises(StoreUnusableError, match="a restore waits")
    with closing(Tenants(home, now=clock)) as tenants, refused:
        tenants.get("local")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_start_on_the_other_engine_is_refused(new_home, clock, tmp_path, engine):
    home, again = new_home("postgresql", "home"), new_home(engine, "again")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    restore(again, tmp_path / "b.cfmb")
    wrong = Home(again.path, home.server if engine == "sqlite" else None)

    with pytest.raises(StoreUnusableError, match="--database"):
        restoration.settle(wrong, lambda: Tenants(wrong, now=clock))

    assert (again.path / "restore.json").exists()


def test_a_home_in_use_is_not_restored_into(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")

    with home.shared(), pytest.raises(StoreUnusableError, match="in use"):
        restore(home, tmp_path / "b.cfmb", replace=True)


@pytest.fixture
def beside(tmp_path, clock):
    """A second home of the same databases, which are open there as at a server."""
    opened = []

    def use(home):
        second = Home(tmp_path / "second", home.server)
        second.make()
        (second.path / "key").write_bytes((home.path / "key").read_bytes())
        opened.append(Tenants(second, now=clock))
        return World(opened[-1], clock)

    yield use
    for tenants in opened:
        tenants.close()


def test_beside_a_server_of_another_home_nothing_is_restored(new_home, clock, tmp_path, beside):
    """It would serve the tokens of runs that the first start revokes."""
    home = new_home("postgresql", "home")
    _, run = begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    change(home, clock)
    before = held(home)
    world = beside(home)
    assert world.sign_in(run)

    with pytest.raises(StoreUnusableError, match="stop its other servers first"):
        restore(home, tmp_path / "b.cfmb", replace=True)

    assert held(home) == before
    assert not (home.path / "restore.json").exists()
    world.tenants.close()
    restore(home, tmp_path / "b.cfmb", replace=True)
    assert held(home) != before


def test_nor_is_a_restore_ended_beside_one(new_home, clock, tmp_path, beside):
    home = new_home("postgresql", "home")
    _, run = begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    restore(home, tmp_path / "b.cfmb", replace=True)
    world = beside(home)
    assert world.store

    refused = pytest.raises(StoreUnusableError, match="stop its other servers first")
    with refused, used(home, clock):
        pass

    world.tenants.close()
    with used(home, clock) as tenants, pytest.raises(UnauthenticatedError):
        World(tenants, clock).sign_in(run)


def test_a_copy_that_is_not_what_the_backup_says_changes_nothing(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    before = held(home)
    with home.exclusive(), staging.folder(home, staging.INCOMING) as folder:
        place = homes.Home(folder.home.path)
        restoring.restore(tmp_path / "b.cfmb", place, [SECRET], unwatched, replace=False)
        with closing(Files(folder.home).engine("local")) as engine, engine.write() as tx:
            tx.execute("UPDATE store SET latest_at = latest_at + 1 WHERE singleton = 1")

        with pytest.raises(StoreUnusableError, match="not what the backup held"):
            backups.take_in(home, folder.home)

    assert held(home) == before
    assert not (home.path / "restore.json").exists()


@pytest.mark.parametrize("tenant", ["birch", "local"])
def test_a_restore_that_is_cut_off_between_two_tenants_is_finished_by_a_start(
    new_home, clock, tmp_path, tenant, monkeypatch
):
    home, again = new_home("postgresql", "home"), new_home("postgresql", "again")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    with closing(of(again)) as databases:
        kind = type(databases)
    whole = kind.install

    def install(self, slug, *, replace):
        if slug == tenant:
            raise KeyboardInterrupt
        whole(self, slug, replace=replace)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "install", install)
        with pytest.raises(KeyboardInterrupt):
            restore(again, tmp_path / "b.cfmb")
    assert (again.path / "restore.json").exists()

    with used(again, clock) as tenants:
        assert tenants.slugs() == ["local", "birch"]
    assert (again.path / "key").read_bytes() == (home.path / "key").read_bytes()


def test_a_tenant_that_moved_away_is_not_restored_unasked(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb", "birch")
    with moving.opened(home, Home(home.path), "birch") as move:
        moving.confirm(move, moving.prepare(move))

    assert "was moved" in restore(home, tmp_path / "b.cfmb")


def test_a_tenant_of_another_key_comes_under_the_homes(new_home, clock, tmp_path):
    """As with files: its tokens end, and those of the tenants that stay do not."""
    home, again = new_home("sqlite", "home"), new_home("postgresql", "again")
    person, _ = begin(home, clock)
    back_up(home, tmp_path / "b.cfmb", "local")
    again.make()
    with used(again, clock) as tenants:
        tenants.create("acme")
    own = (again.path / "key").read_bytes()

    assert restore(again, tmp_path / "b.cfmb") is None

    assert (again.path / "key").read_bytes() == own
    with used(again, clock) as tenants:
        assert tenants.get("acme")
        with pytest.raises(UnauthenticatedError):
            World(tenants, clock).sign_in(person)
        assert checkpoints.verify(tenants.get("local")).sound


def test_a_backup_of_the_folder_while_it_is_restored_is_refused(new_home, clock, tmp_path):
    home = new_home("postgresql", "home")
    begin(home, clock)
    back_up(home, tmp_path / "b.cfmb")
    restore(home, tmp_path / "b.cfmb", replace=True)

    with pytest.raises(StoreUnusableError, match="a restore waits"), backups.laid_out(home, None):
        pass
    with home.exclusive(), pytest.raises((StoreUnusableError, HomeInUseError)):
        back_up(home, tmp_path / "c.cfmb")
    shutil.rmtree(home.path)
