"""A tenant moves between engines and homes: whole, once, and in one place at every moment."""

from contextlib import closing
from random import Random
from threading import Thread

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    CodeflowError,
    InvalidRequestError,
    NotFoundError,
    StoreUnusableError,
)
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import checkpoints, moving, restoration
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import moves
from codeflow_memory.storage.copier import fingerprint_of
from codeflow_memory.storage.databases import Files, of
from codeflow_memory.storage.home import Home

from ..backup.homes.acting import fill
from ..conftest import Clock, World

DIRECTIONS = ("to-postgresql", "to-files", "to-postgresql-elsewhere", "to-another-home")


@pytest.fixture
def urls(cluster):
    names = [cluster.make(), cluster.make()]
    yield [cluster.url(name) for name in names]
    for name in names:
        cluster.drop(name)


@pytest.fixture
def ends(tmp_path, urls):
    """Name a direction; get the home of both ends."""

    def choose(direction):
        here = tmp_path / "home"
        return {
            "to-postgresql": (Home(here), Home(here, urls[0])),
            "to-files": (Home(here, urls[0]), Home(here)),
            "to-postgresql-elsewhere": (Home(here, urls[0]), Home(here, urls[1])),
            "to-another-home": (Home(here), Home(tmp_path / "other")),
        }[direction]

    return choose


def begin(home, *others):
    """Make a home with the tenant ``birch``, filled, and others; return a token of an owner."""
    home.make()
    clock = Clock()
    tenants = Tenants(home, now=clock, random_bytes=Random(7).randbytes)  # noqa: S311 - repeatable on purpose
    for slug in ("birch", *others):
        tenants.create(slug)
    world = World(tenants, clock, "birch")
    fill(world)
    checkpoints.write(world.store)
    token = world.token("zoe", Role.OWNER).text
    tenants.close()
    return token


def held(home, tenant="birch"):
    """The fingerprint of a tenant; ``None`` where it is not."""
    with closing(of(home)) as databases:
        if not databases.exists(tenant):
            return None
        with closing(databases.engine(tenant)) as engine:
            return fingerprint_of(engine)


def write(databases, engine_of, sql):
    with closing(databases), closing(engine_of(databases)) as engine, engine.write() as tx:
        tx.execute(sql)


def move_the_clock(home):
    """Change one value, as any write does."""
    sql = "UPDATE store SET latest_at = latest_at + 1 WHERE singleton = 1"
    write(of(home), lambda databases: databases.engine("birch"), sql)


def move(home, to, tenant="birch"):
    """Move a tenant to the end, as the command does."""
    with moving.opened(home, to, tenant) as found:
        if found.cut_off:
            return moving.finish(found)
        return moving.confirm(found, moving.prepare(found))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_tenant_that_is_not_there_is_not_moved(ends, direction):
    home, to = ends(direction)
    begin(home)

    with pytest.raises(NotFoundError), moving.opened(home, to, "acme"):
        pass


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_tenant_that_stands_there_is_not_replaced(ends, direction):
    home, to = ends(direction)
    home.make()
    key = home.key()
    if to.path != home.path:
        to.make()
        (to.path / "key").write_bytes(key)
    # Files last: a home with a tenant's file makes it nowhere else.
    for place in sorted((home, to), key=lambda place: place.server is None):
        if place is home:
            begin(home)
        else:
            with closing(Tenants(to, now=Clock())) as tenants:
                tenants.create("birch")
        # An older program left none.
        moves.remove(place, "birch")
    before = held(home), held(to)

    with pytest.raises(InvalidRequestError, match="exists there"), moving.opened(home, to, "birch"):
        pass

    assert (held(home), held(to)) == before


def test_what_is_there_already_is_not_moved(ends):
    home, to = ends("to-postgresql")
    begin(home)

    for end in (Home(home.path), Home(home.path / "memory.sqlite")):
        with pytest.raises(InvalidRequestError, match="already"), moving.opened(home, end, "birch"):
            pass
    assert held(to) is None


@pytest.mark.parametrize("direction", ["to-postgresql", "to-files"])
def test_a_home_in_use_is_left_alone(ends, direction):
    home, to = ends(direction)
    begin(home)

    with home.shared(), pytest.raises(StoreUnusableError, match="in use"):
        move(home, to)

    assert held(home) is not None
    assert held(to) is None


def test_between_two_servers_the_home_may_be_in_use(ends):
    home, to = ends("to-postgresql-elsewhere")
    begin(home)

    with home.shared():
        move(home, to)

    assert held(to) is not None


def test_another_home_with_another_key_is_refused(ends):
    home, to = ends("to-another-home")
    begin(home)
    to.make()
    (to.path / "key").write_bytes(bytes(32))

    with pytest.raises(StoreUnusableError, match="another one"):
        move(home, to)

    assert held(to) is None


def test_another_home_with_tenants_and_no_key_is_refused(ends):
    home, to = ends("to-another-home")
    begin(home)
    to.make()
    with closing(Tenants(to, now=Clock())) as tenants:
        tenants.create("acme")
    (to.path / "key").unlink()

    with pytest.raises(StoreUnusableError, match="another one"):
        move(home, to)

    assert not (to.path / "key").exists()


def test_a_tenant_under_another_key_is_refused(ends):
    home, to = ends("to-postgresql")
    begin(home)
    (home.path / "key").write_bytes(bytes(32))

    with pytest.raises(StoreUnusableError, match="another home key"):
        move(home, to)

    assert held(to) is None


def test_a_restore_that_waits_comes_first(ends):
    home, to = ends("to-postgresql")
    begin(home)
    (home.path / "restore.json").write_text("{}")

    with pytest.raises(StoreUnusableError, match="restore"):
        move(home, to)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_until_it_is_confirmed_the_source_is_served_and_nothing_else(ends, direction):
    home, to = ends(direction)
    begin(home)
    before = held(home)

    with moving.opened(home, to, "birch") as found:
        prepared = moving.prepare(found)

    assert prepared.anew
    assert prepared.fingerprint == before == held(home)
    assert held(to) is None
    with closing(Tenants(home, now=Clock())) as tenants:
        assert tenants.get("birch").tenant == "birch"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_there_and_no_longer_here_with_every_row_token_and_checkpoint(ends, direction):
    home, to = ends(direction)
    token = begin(home, "acme")
    before = held(home)

    kept = move(home, to)

    assert kept
    assert held(home) is None
    assert held(to) == before
    assert held(home, "acme") is not None
    with closing(Tenants(to, now=Clock())) as tenants:
        world = World(tenants, Clock(), "birch")
        assert world.sign_in(token).may(Role.OWNER, None)
        report = checkpoints.verify(world.store)
        assert report.sound
        assert report.checkpoints == 1
        world.project("after")


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_place_that_it_left_does_not_make_it_anew(ends, direction):
    home, to = ends(direction)
    begin(home)
    move(home, to)

    with closing(Tenants(home, now=Clock())) as tenants:
        with pytest.raises(NotFoundError):
            tenants.get("birch")
        with pytest.raises(StoreUnusableError, match=r"it is where memory\.moved in the home says"):
            tenants.create("birch")
        assert tenants.slugs() == []


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_done_when_it_is_there_and_not_before_or_after(ends, direction, monkeypatch):
    home, to = ends(direction)
    begin(home, "acme")
    assert moving.find_done(home, to, "birch") is None
    monkeypatch.setattr(moving, "finish", lambda _: None)
    move(home, to)
    monkeypatch.undo()
    assert moving.find_done(home, to, "birch") is None
    move(home, to)

    with closing(of(to)) as databases:
        assert moving.find_done(home, to, "birch") == databases.address
    with closing(of(home)) as databases:
        for kept in databases.earlier():
            databases.discard(kept.name)
    assert moving.find_done(home, to, "birch") is not None
    assert moving.find_done(home, to, "acme") is None
    assert moving.find_done(home, Home(home.path / "elsewhere"), "birch") is None

    move(to, home)
    assert moving.find_done(home, to, "birch") is None


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_there_and_back_again_it_is_the_same(ends, direction):
    home, to = ends(direction)
    token = begin(home)
    before = held(home)

    move(home, to)
    move(to, home)

    assert held(home) == before
    assert held(to) is None
    with closing(Tenants(home, now=Clock())) as tenants:
        assert World(tenants, Clock(), "birch").sign_in(token)
        assert checkpoints.verify(tenants.get("birch")).sound


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_was_written_since_the_copy_is_noticed_and_copied_by_the_next_run(ends, direction):
    home, to = ends(direction)
    begin(home)
    noted = moves.find(home, "birch")
    with moving.opened(home, to, "birch") as found:
        prepared = moving.prepare(found)
        move_the_clock(home)

        assert moving.confirm(found, prepared) is None

    assert held(to) is None
    assert moves.find(home, "birch") == noted
    after = held(home)
    with moving.opened(home, to, "birch") as found:
        assert moving.prepare(found).anew
    move(home, to)
    assert held(to) == after


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_copy_that_is_the_same_still_is_not_made_again(ends, direction):
    home, to = ends(direction)
    begin(home)
    with moving.opened(home, to, "birch") as found:
        first = moving.prepare(found)

    with moving.opened(home, to, "birch") as found:
        second = moving.prepare(found)
        assert moving.confirm(found, second)

    assert (first.anew, second.anew) == (True, False)
    assert held(to) == first.fingerprint


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_copy_that_somebody_changed_is_not_installed(ends, direction, monkeypatch):
    home, to = ends(direction)
    begin(home)
    monkeypatch.setattr(moving, "finish", lambda _: None)
    move(home, to)
    monkeypatch.undo()
    sql = "UPDATE principals SET name = 'eve' WHERE name = 'ann'"
    write(of(to), lambda databases: databases.staged("birch"), sql)

    with pytest.raises(StoreUnusableError, match="not what was confirmed"):
        move(home, to)

    assert held(to) is None


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_that_was_cut_off_waits_for_the_same_command(ends, direction, monkeypatch):
    home, to = ends(direction)
    begin(home)
    before = held(home)
    monkeypatch.setattr(moving, "finish", lambda _: None)
    move(home, to)
    monkeypatch.undo()

    refused = pytest.raises(StoreUnusableError, match="cut off")
    with closing(Tenants(home, now=Clock())) as tenants, refused:
        tenants.create("birch")
    move(home, to)

    assert held(to) == before
    with closing(of(to)) as databases:
        assert [kept for kept in databases.earlier() if not kept.retired] == []


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_that_was_cut_off_when_all_but_the_note_was_done_is_ended_by_the_same_command(
    ends, direction, monkeypatch
):
    home, to = ends(direction)
    begin(home)
    before = held(home)
    whole = moves.write

    def write(at, tenant, moved):
        if moved.done:
            raise KeyboardInterrupt
        whole(at, tenant, moved)

    with monkeypatch.context() as patch:
        patch.setattr(moves, "write", write)
        with pytest.raises(KeyboardInterrupt):
            move(home, to)
    assert (held(home), held(to)) == (None, before)

    move(home, to)

    assert moves.find(home, "birch").done
    assert (held(home), held(to)) == (None, before)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_that_is_done_is_not_done_again(ends, direction):
    home, to = ends(direction)
    begin(home)
    move(home, to)
    before = held(to)

    with pytest.raises(NotFoundError):
        move(home, to)

    assert (held(home), held(to)) == (None, before)


def test_a_tenant_that_was_made_on_a_server_is_not_made_as_a_file_of_the_home(ends):
    home, files = ends("to-files")
    begin(home)

    with closing(Tenants(files, now=Clock())) as tenants:
        with pytest.raises(StoreUnusableError, match=r"memory\.moved in the home says"):
            tenants.create("birch")
        assert tenants.slugs() == []


def test_a_home_remembers_the_server_that_it_used_last_and_no_other(ends):
    home, elsewhere = ends("to-postgresql-elsewhere")
    begin(home)
    moves.keep_place(home, "birch", "postgresql:///another")
    assert moves.find(home, "birch").target == "postgresql:///another"

    with closing(Tenants(elsewhere, now=Clock())) as tenants:
        with pytest.raises(StoreUnusableError, match=r"memory\.moved in the home says"):
            tenants.create("birch")
        assert tenants.slugs() == []


@pytest.fixture
def second(ends, tmp_path):
    """Another server of the same database, which has the tenant open."""
    home, _ = ends("to-files")
    begin(home)
    other = Home(tmp_path / "second", home.server)
    other.make()
    (other.path / "key").write_bytes((home.path / "key").read_bytes())
    tenants = Tenants(other, now=Clock())
    assert World(tenants, Clock(), "birch").owner
    yield tenants
    tenants.close()


def test_a_server_that_has_it_open_can_neither_read_nor_write_it_any_more(ends, second):
    move(*ends("to-files"))

    world = World(second, Clock(), "birch")
    for use in (lambda: world.owner, lambda: write_as(second)):
        with pytest.raises(StoreUnusableError):
            use()
    assert second.slugs() == []


def write_as(tenants):
    with tenants.get("birch").engine.write() as tx:
        tx.execute("UPDATE store SET latest_at = latest_at + 1 WHERE singleton = 1")


def test_who_writes_while_it_is_confirmed_is_refused_and_not_lost(ends, second, monkeypatch):
    """The writer comes when the source is compared, and waits for its end."""
    home, to = ends("to-files")
    whole, outcomes, threads = moving.fingerprint.of_database, [], []

    def writes():
        try:
            write_as(second)
        except CodeflowError as error:
            outcomes.append(type(error))
        else:
            outcomes.append("written")

    def of_database(tx):
        if threads:
            return whole(tx)
        threads.append(Thread(target=writes))
        threads[0].start()
        while not tx.value("SELECT COUNT(*) FROM pg_locks WHERE NOT granted"):
            assert threads[0].is_alive()
        return whole(tx)

    with moving.opened(home, to, "birch") as found:
        prepared = moving.prepare(found)
        monkeypatch.setattr(moving.fingerprint, "of_database", of_database)
        kept = moving.confirm(found, prepared)
        monkeypatch.undo()
    threads[0].join()

    assert kept
    assert outcomes == [StoreUnusableError]
    assert held(to) == prepared.fingerprint


def test_what_was_put_aside_goes_after_seven_days(ends):
    home, to = ends("to-files")
    begin(home, "local")
    kept = move(home, to)
    with closing(of(home)) as databases:
        (earlier,) = databases.earlier()
    assert (earlier.name, earlier.tenant) == (kept, "birch")
    clock = Clock(earlier.at + restoration.KEPT)
    with closing(Tenants(home, now=clock)) as tenants:
        restoration.discard_old(tenants.get("local"))
        with closing(of(home)) as databases:
            assert databases.earlier() == [earlier]
        clock.at += DAY
        restoration.discard_old(tenants.get("local"))

    with closing(of(home)) as databases:
        assert databases.earlier() == []


def test_a_file_that_was_put_aside_lies_in_an_undo_folder(ends):
    home, to = ends("to-postgresql")
    begin(home)
    before = held(home)

    kept = move(home, to)

    file = home.path / kept / "tenants" / "birch" / "memory.sqlite"
    assert file.stat().st_mode & 0o777 == 0o600
    with closing(Files(home).at(file)) as engine:
        assert fingerprint_of(engine) == before


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"target": 1}'])
def test_a_note_that_no_move_wrote_is_refused(ends, text):
    home, to = ends("to-postgresql")
    begin(home)
    (home.path / "tenants" / "birch" / moves.FILE).write_text(text)

    with pytest.raises(StoreUnusableError, match=moves.FILE):
        move(home, to)

    assert held(to) is None


def test_neither_the_note_nor_what_is_told_has_a_password(ends, cluster, urls):
    home, _ = ends("to-postgresql")
    begin(home)
    to = Home(home.path, urls[0].replace("codeflow@", "codeflow:open-sesame@"))

    move(home, to)

    note = (home.path / "tenants" / "birch" / moves.FILE).read_text()
    assert str(cluster.folder) in note
    assert "sesame" not in note
    assert "codeflow" not in note
