"""Databases: made whole or not at all, by one of many makers, on both engines."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError
from codeflow_memory.storage import databases, migrate, principals
from codeflow_memory.storage.engine import APPLICATION_ID

from .conftest import fill

ROOT = Path(__file__).resolve().parents[2]
MAKERS = 4

_KILLED = """
import sys
from pathlib import Path
from codeflow_memory.storage import databases
from codeflow_memory.storage.home import Home

def stuck(tx):
    tx.execute("DELETE FROM store")
    print("made", flush=True)
    sys.stdin.read()

databases.of(Home(Path(sys.argv[1]), sys.argv[2] or None)).create("ash", stuck)
"""


@pytest.fixture
def made(home):
    found = databases.of(home)
    yield found
    found.close()


def owner(made, tenant):
    with made.engine(tenant).read() as tx:
        return principals.find_by_name(tx, "owner").principal_id


@pytest.mark.parametrize("name", ["", "A", "a_b", "a.b", "../a", "a" * 64, '"', "-a", "a;b"])
def test_what_is_no_slug_names_no_database(made, name):
    for ask in (made.exists, made.engine, lambda n: made.create(n, fill)):
        with pytest.raises(InvalidRequestError):
            ask(name)
    assert made.slugs() == []


def test_a_fill_that_fails_leaves_nothing_and_hinders_nobody(made):
    def fail(tx):
        fill(tx)
        raise NotFoundError("memory", "mem_1")

    with pytest.raises(NotFoundError):
        made.create("ash", fail)

    assert (made.exists("ash"), made.slugs()) == (False, [])
    made.create("ash", fill)
    assert owner(made, "ash") == "prn_1"


def test_a_tenant_is_not_made_twice(made):
    made.create("ash", fill)

    with pytest.raises(FileExistsError):
        made.create("ash", lambda tx: tx.execute("DELETE FROM principals"))

    assert owner(made, "ash") == "prn_1"


def test_tenants_are_listed_local_first_and_have_the_newest_schema(made):
    longest = "z" * 63
    for slug in ("birch-2", longest, "local", "0"):
        made.create(slug, fill)

    assert made.slugs() == ["local", "0", "birch-2", longest]
    assert made.engine(longest).versions() == (APPLICATION_ID, migrate.newest_version())
    assert made.exists(longest)
    assert not made.exists(longest[1:])


@pytest.mark.parametrize("has_been", [False, True])
def test_of_makers_at_the_same_moment_one_wins(made, home, engine_name, has_been):
    """Also where the role of a tenant that went is still there."""
    if has_been and engine_name == "postgresql":
        made.create("ash", fill)
        with made.engine("ash").write() as tx:
            tx.execute("DROP SCHEMA cfm_ash CASCADE")
    ready, ends = threading.Barrier(MAKERS), Counter()

    def make():
        own = databases.of(home)
        assert not own.exists("ash")
        ready.wait()
        try:
            own.create("ash", fill)
            ends["made"] += 1
        except FileExistsError:
            ends["exists"] += 1
        finally:
            own.close()

    makers = [threading.Thread(target=make) for _ in range(MAKERS)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()

    assert ends == {"made": 1, "exists": MAKERS - 1}
    assert owner(made, "ash") == "prn_1"


def test_a_maker_that_is_killed_leaves_nothing(made, home):
    with subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", _KILLED, str(home.path), home.server or ""],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as maker:
        assert maker.stdout.readline() == "made\n"
        assert not made.exists("ash")
        maker.kill()

    assert (made.exists("ash"), made.slugs()) == (False, [])
    made.create("ash", fill)
    assert owner(made, "ash") == "prn_1"
