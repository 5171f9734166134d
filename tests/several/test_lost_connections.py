"""What the engine undid or lost is tried again as the same operation: done once, or refused."""

import pytest

from codeflow_memory.domain.errors import BusyError, ContentionError, UnreachableError
from codeflow_memory.services import mutation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import connections

from .proxy import Cut, Proxy

RAISE = """
CREATE SEQUENCE public.fails;
CREATE FUNCTION public.fail() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('public.fails') <= {times} THEN
        {how};
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fail BEFORE INSERT ON {schema}.receipts
   FOR EACH ROW EXECUTE FUNCTION public.fail()
"""
KILL = "PERFORM pg_terminate_backend(pg_backend_pid())"


def raising(code):
    return f"RAISE EXCEPTION 'on purpose' USING ERRCODE = '{code}'"


@pytest.fixture
def failing(cast, cluster, database):
    """Let the next receipts fail, *times* of them; a sequence counts, which no rollback undoes."""

    def fail(how, times):
        assert cast.ann
        cluster.sql(RAISE.format(times=times, how=how, schema="cfm_local"), database)
        return lambda: cluster.sql("SELECT last_value FROM public.fails", database)[0][0]

    return fail


@pytest.fixture
def proxy(cluster):
    made = Proxy(cluster.folder)
    yield made
    made.close()


@pytest.fixture
def through(world, new_home, proxy, cluster):
    """The world as a process sees it whose connections go through the proxy."""
    home = new_home()
    home.server = home.server.replace(str(cluster.folder), str(proxy.folder))
    world.tenants.close()
    world.tenants = Tenants(home, now=world.clock)
    yield world
    world.tenants.close()


def entries(world):
    with world.store.engine.read() as tx:
        return tx.value("SELECT COUNT(*) FROM memories"), tx.value("SELECT COUNT(*) FROM receipts")


@pytest.mark.parametrize(
    "how", [raising("40001"), raising("40P01"), KILL], ids=["40001", "40P01", "kill"]
)
def test_what_the_engine_undid_twice_is_done_at_the_third_try_and_once(
    world, cast, project, failing, how
):
    ann = cast.ann
    before = entries(world)
    tries = failing(how, 2)

    made = world.write(ann, project, op="k").memory

    assert tries() == 3
    assert entries(world) == (before[0] + 1, before[1] + 1)
    assert world.get(ann, made).memory.revision == 1


@pytest.mark.parametrize(
    ("how", "error"), [(raising("40001"), ContentionError), (KILL, UnreachableError)]
)
def test_tries_have_an_end_and_leave_nothing(world, cast, project, failing, how, error):
    ann = cast.ann
    before = entries(world)
    tries = failing(how, 99)

    with pytest.raises(error) as refused:
        world.write(ann, project)

    assert (refused.value.code, refused.value.retry_after_seconds) == ("busy", 1)
    assert tries() == mutation.TRIES
    assert entries(world) == before


def test_without_tries_it_is_refused(world, cast, project, failing, monkeypatch):
    """Control: it is the tries that make the difference."""
    ann = cast.ann
    failing(raising("40001"), 1)
    monkeypatch.setattr(mutation, "TRIES", 1)

    with pytest.raises(ContentionError):
        world.write(ann, project)


@pytest.mark.parametrize("key", ["k", None], ids=["key", "no-key"])
@pytest.mark.parametrize("where", list(Cut))
def test_a_connection_lost_around_the_commit_leaves_one_entry(
    through, cast, project, proxy, where, key
):
    """Also where only the server names the operation: each try is of the same one."""
    ann = cast.ann
    before = entries(through)
    proxy.arm(where)

    made = through.write(ann, project, op=key, title="Title", body="Body").memory

    assert proxy.cuts == 1
    assert entries(through) == (before[0] + 1, before[1] + 1)
    assert through.get(ann, made).memory.revision == 1


def test_the_client_s_own_repetition_of_what_was_lost_changes_nothing(
    through, cast, project, proxy
):
    ann = cast.ann
    proxy.arm(Cut.AFTER)
    made = through.write(ann, project, op="k", title="Title", body="Body").memory
    before = entries(through)

    again = through.write(ann, project, op="k", title="Title", body="Body").memory

    assert again.memory_id == made.memory_id
    assert entries(through) == before


def test_without_tries_a_commit_that_was_done_is_told_as_busy(
    through, cast, project, proxy, monkeypatch
):
    """Control: the answer was lost and the entry is there; the client's own repetition finds it."""
    ann = cast.ann
    before = entries(through)
    proxy.arm(Cut.AFTER)
    monkeypatch.setattr(mutation, "TRIES", 1)

    with pytest.raises(BusyError):
        through.write(ann, project, op="k", title="Title", body="Body")

    through.write(ann, project, op="k", title="Title", body="Body")
    assert entries(through) == (before[0] + 1, before[1] + 1)


def test_who_hangs_in_a_transaction_loses_it_and_the_others_write(
    world, cast, project, new_home, monkeypatch
):
    """With one second, where the product has `IN_TRANSACTION_SECONDS`."""
    ann = cast.ann
    monkeypatch.setattr(connections, "IN_TRANSACTION_SECONDS", 1)
    other = Tenants(new_home(), now=world.clock)
    hanging = other.get("local")

    def hang():
        with hanging.engine.write() as tx:
            # Waits for the lock, and gets it when the one who holds it is thrown out.
            assert world.write(ann, project)
            tx.value("SELECT 1")

    with pytest.raises(UnreachableError):
        hang()

    other.close()
